/* The folded cross attention, before its sweeps: what is known of tokens, and the folded rows. */
#include "trainer/cuda/kernels/entries.h"
#include "trainer/cuda/kernels/fold.h"

INLINE uint32_t row_of_warp(void)
{
	return block_x() * ROW_WARPS + warp_index();
}

/* ---- tokens ---- */

/* Channel `channel` of a line of dimension d, whose values are at `line`. */
INLINE float line_value(const struct fold_lines_launch *p, uint32_t d, const float *line,
                        uint32_t channel)
{
	uint32_t of = channel, column = 0;

	if (channel >= p->ndim) {
		uint32_t wave = channel - p->ndim, half = wave / (p->ndim * p->bands);

		of = wave % (p->ndim * p->bands) / p->bands;
		column = 1 + half * p->bands + wave % p->bands;
	}
	return of == d ? line[column] : 0.0f;
}

/* Every lane's share to the warp's sums. */
INLINE void write_moments(double *to, double sum, double square)
{
	sum = warp_sum_double(sum);
	square = warp_sum_double(square);
	if (lane_index() == 0) {
		to[0] = sum;
		to[1] = square;
	}
}

INLINE void form_line(const struct fold_lines_launch *p, uint32_t line)
{
	uint32_t d = 0, i = line, n = p->ndim * (1 + 2 * p->bands);
	const float *table = p->position[0];
	double sum = 0, square = 0;

	/* Not indexed by d: kernel parameters that are would be copied to local memory. */
	if (p->ndim > 1 && i >= p->dim[0]) {
		i -= p->dim[0];
		d = 1;
		table = p->position[1];
		if (p->ndim > 2 && i >= p->dim[1]) {
			i -= p->dim[1];
			d = 2;
			table = p->position[2];
		}
	}
	table += (size_t)i * (1 + 2 * p->bands);
	for (uint32_t channel = lane_index(); channel < n; channel += WARP) {
		float value = line_value(p, d, table, channel);

		p->matrix[(size_t)line * p->pitch + channel] = value;
		sum += value;
		square += (double)value * value;
	}
	write_moments(p->moments + 2 * (size_t)line, sum, square);
}

INLINE void sum_padding(const struct fold_lines_launch *p)
{
	double sum = 0, square = 0;

	for (uint32_t i = lane_index(); i < p->n_pad; i += WARP) {
		sum += p->pad[i];
		square += (double)p->pad[i] * p->pad[i];
	}
	write_moments(p->moments + 2 * (size_t)p->lines, sum, square);
}

/* 1 / deviation of n values whose mean and mean square are known. */
INLINE float inverse_deviation(double mean, double square)
{
	double variance = square - mean * mean;

	return 1.0f / root((float)((variance > 0 ? variance : 0.0) + 1e-5));
}

INLINE void normalise_mask(const struct fold_lines_launch *p)
{
	double sum = 0, square = 0;
	bool is_there = p->mask_token != NULL;

	for (uint32_t i = lane_index(); is_there && i < p->channels; i += WARP) {
		sum += p->mask_token[i];
		square += (double)p->mask_token[i] * p->mask_token[i];
	}
	double mean = warp_sum_double(sum) * p->part;
	float rstd = inverse_deviation(mean, warp_sum_double(square) * p->part);

	for (uint32_t i = lane_index(); i < p->channels; i += WARP)
		p->masked[i] = is_there ? (p->mask_token[i] - (float)mean) * rstd : 0.0f;
	if (lane_index() == 0)
		p->masked[p->channels] = rstd;
}

void fold_lines(struct fold_lines_launch p)
{
	uint32_t row = row_of_warp();

	if (row < p.lines)
		form_line(&p, row);
	else if (row == p.lines)
		sum_padding(&p);
	else if (row == p.lines + 1)
		normalise_mask(&p);
}

INLINE void add_line(const double *moments, uint32_t line, double *sum, double *square)
{
	*sum += moments[2 * (size_t)line];
	*square += moments[2 * (size_t)line + 1];
}

void fold_tokens(struct fold_tokens_launch p)
{
	uint32_t token = row_of_warp(), row, place;
	const float *data = p.data + (size_t)token * p.grid.n_data;
	double sum = 0, square = 0;

	if (token >= p.clips * p.grid.n)
		return;
	for (uint32_t i = lane_index(); i < p.grid.n_data; i += WARP) {
		sum += data[i];
		square += (double)data[i] * data[i];
	}
	sum = warp_sum_double(sum);
	square = warp_sum_double(square);
	row = token % p.grid.n / p.grid.length;
	place = token % p.grid.length;
	if (p.grid.outer > 0)
		add_line(p.moments, row / p.grid.inner, &sum, &square);
	if (p.grid.inner > 0)
		add_line(p.moments, p.grid.outer + row % p.grid.inner, &sum, &square);
	if (p.grid.lines > 0)
		add_line(p.moments, p.grid.lines - p.grid.length + place, &sum, &square);
	add_line(p.moments, p.grid.lines, &sum, &square);
	if (lane_index() > 0)
		return;
	bool masked = p.mask != NULL && p.mask[token] != 0;

	p.mean[token] = masked ? 0.0f : (float)(sum * p.part);
	p.rstd[token] = masked ? 0.0f : inverse_deviation(sum * p.part, square * p.part);
}

/* ---- rows ---- */

/* The sum over the warp of a[i] b[i]. */
INLINE float warp_dot(const float *a, const float *b, uint32_t n)
{
	float sum = 0;

	for (uint32_t i = lane_index(); i < n; i += WARP)
		sum = fused(a[i], b[i], sum);
	return warp_sum(sum);
}

/* d_kept is by x, before it is folded: x may be folded. */
INLINE float kept_gradient(const struct fold_rows_launch *p, uint32_t row, const float *x)
{
	float ret = 0;

	if (p->kept == NULL)
		return 0;
	ret = warp_dot(x, p->shift, p->channels);
	return ret + warp_dot(p->d_context + (size_t)row * p->v, p->bias, p->v);
}

INLINE void end_backward(const struct fold_rows_launch *p, uint32_t row, const float *folded,
                         float d_kept)
{
	float delta = warp_dot(folded, p->u + (size_t)row * p->channels, p->channels);

	if (lane_index() > 0)
		return;
	if (p->kept != NULL)
		delta = fused(p->kept[row], d_kept, delta);
	p->delta[row] = delta;
	p->d_kept[row] = d_kept;
}

void fold_rows(struct fold_rows_launch p)
{
	uint32_t row = row_of_warp();
	float *x = p.x + (size_t)row * p.channels, *folded = p.folded + (size_t)row * p.channels;
	float *constants = p.constants + (size_t)row * FOLD_CONSTANTS, sum = 0, d_kept = 0;

	if (row >= p.rows)
		return;
	if (p.u != NULL)
		d_kept = kept_gradient(&p, row, x);
	for (uint32_t i = lane_index(); i < p.channels; i += WARP) {
		float value = p.scale * x[i], times = value * p.gain[i];

		x[i] = value;
		folded[i] = times;
		sum += times;
	}
	sum = warp_sum(sum);
	warp_sync();
	if (lane_index() == 0)
		constants[0] = sum;
	UNROLL
	for (unsigned g = 0; g < FOLD_GROUPS; g++) {
		float pad = warp_dot(folded + p.channels - p.n_pad[g], p.pad[g], p.n_pad[g]);
		float masked =
			warp_dot(folded, p.masked + (size_t)g * (p.channels + 1), p.channels);

		if (lane_index() == 0) {
			constants[1 + g] = pad;
			constants[1 + FOLD_GROUPS + g] = masked;
		}
	}
	if (p.u != NULL)
		end_backward(&p, row, folded, d_kept);
}
