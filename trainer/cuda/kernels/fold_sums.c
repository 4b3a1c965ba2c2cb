/* The folded cross attention, after its sweeps: sums of the parts, and what becomes of them. */
#include "trainer/cuda/kernels/block_sum.h"
#include "trainer/cuda/kernels/entries.h"
#include "trainer/cuda/kernels/fold.h"

/* ---- the parts' sums ---- */

/* Sums of entry e for `row`, of `rows`. */
INLINE const float *part_row(const struct fold_parts *p, uint32_t e, uint32_t row, uint32_t rows)
{
	return p->sums + ((size_t)e * rows + row) * p->grid.width;
}

/* What an entry's sums are to be taken times; lse NULL: what they are. */
INLINE float part_factor(const struct fold_parts *p, const float *sums, const float *lse)
{
	return lse == NULL ? 1.0f : exponential(sums[fold_stats(&p->grid) + FOLD_LARGEST] - *lse);
}

/* The sum over a group's entries of one stat, by a warp. */
INLINE float sum_stat(const struct fold_parts *p, uint32_t row, uint32_t rows, const float *lse,
                      enum fold_stat which)
{
	float sum = 0;

	for (uint32_t e = lane_index(); e < p->entries; e += WARP) {
		const float *sums = part_row(p, e, row, rows);

		sum = fused(part_factor(p, sums, lse), sums[fold_stats(&p->grid) + which], sum);
	}
	return warp_sum(sum);
}

/* log(sum of exp(score)) of a row over all groups. */
INLINE float log_sum(const struct fold_totals_launch *p, uint32_t row)
{
	float largest = -__builtin_inff(), sum = 0;

	UNROLL
	for (unsigned g = 0; g < FOLD_GROUPS; g++) {
		const struct fold_parts *of = &p->group[g];

		for (uint32_t e = lane_index(); e < of->entries; e += WARP)
			largest = larger(largest,
			                 part_row(of, e, row,
			                          p->rows)[fold_stats(&of->grid) + FOLD_LARGEST]);
	}
	for (unsigned mask = WARP / 2; mask > 0; mask /= 2)
		largest = larger(largest, warp_xor(largest, mask));
	UNROLL
	for (unsigned g = 0; g < FOLD_GROUPS; g++)
		sum += sum_stat(&p->group[g], row, p->rows, &largest, FOLD_SUM);
	return fused(log2_fast(sum), 0.693147182f, largest);
}

void fold_totals(struct fold_totals_launch p)
{
	uint32_t row = block_x() * ROW_WARPS + warp_index();
	float *totals = p.totals + (size_t)row * FOLD_GROUPS * FOLD_TOTALS, lse = 0, kept = 0;
	const float *relative = p.lse != NULL ? &lse : NULL;

	if (row >= p.rows)
		return;
	if (p.lse != NULL)
		lse = log_sum(&p, row);
	UNROLL
	for (unsigned g = 0; g < FOLD_GROUPS; g++) {
		UNROLL_BY(1)
		for (unsigned i = 0; i < FOLD_TOTALS; i++) {
			float sum = sum_stat(&p.group[g], row, p.rows, relative, (enum fold_stat)i);

			kept += i == FOLD_KEPT ? sum : 0.0f;
			if (lane_index() == 0)
				totals[g * FOLD_TOTALS + i] = sum;
		}
	}
	if (lane_index() > 0 || p.lse == NULL)
		return;
	p.lse[row] = lse;
	if (p.kept != NULL)
		p.kept[row] = kept;
}

/* The sum over entries of value `at` of their rows. */
INLINE float sum_value(const struct fold_parts *p, uint32_t row, uint32_t rows, const float *lse,
                       uint32_t first, uint32_t step, uint32_t at)
{
	float sum = 0;

	for (uint32_t e = first; e < p->entries; e += step) {
		const float *sums = part_row(p, e, row, rows);

		sum = fused(part_factor(p, sums, lse), sums[at], sum);
	}
	return sum;
}

/* Entries of a part are each * part on; a part is chunk of rows * tiles + tile. */
INLINE float sum_of_place(const struct fold_parts *p, uint32_t row, uint32_t rows, const float *lse,
                          uint32_t place)
{
	uint32_t first = place / FOLD_TOKENS * p->each, at = fold_places(&p->grid);
	float sum = 0;

	for (uint32_t clip = 0; clip < p->each; clip++)
		sum += sum_value(p, row, rows, lse, first + clip, p->grid.tiles * p->each,
		                 at + place % FOLD_TOKENS);
	return sum;
}

/* The sum of a row of the grid. */
INLINE float sum_of_row(const struct fold_parts *p, uint32_t row, uint32_t rows, const float *lse,
                        uint32_t of)
{
	uint32_t each = p->grid.tiles * p->each, first = of / p->grid.rows_each * each;
	uint32_t at = fold_row_sums(&p->grid) + of % p->grid.rows_each;
	float sum = 0;

	for (uint32_t e = first; e < first + each; e++) {
		const float *sums = part_row(p, e, row, rows);

		sum = fused(part_factor(p, sums, lse), sums[at], sum);
	}
	return sum;
}

INLINE float sum_of_line(const struct fold_parts *p, uint32_t row, uint32_t rows, const float *lse,
                         uint32_t line)
{
	const struct fold_grid *g = &p->grid;
	float sum = 0;

	if (line >= g->outer + g->inner)
		return sum_of_place(p, row, rows, lse, line - g->outer - g->inner);
	if (line < g->outer) {
		for (uint32_t i = 0; i < g->inner; i++)
			sum += sum_of_row(p, row, rows, lse, line * g->inner + i);
		return sum;
	}
	for (uint32_t r = line - g->outer; r < g->rows; r += g->inner)
		sum += sum_of_row(p, row, rows, lse, r);
	return sum;
}

void fold_spread(struct fold_spread_launch p)
{
	uint32_t row = block_x();
	const float *totals = p.totals + (size_t)row * FOLD_GROUPS * FOLD_TOTALS;
	const float *lse = p.lse != NULL ? p.lse + row : NULL;

	for (uint32_t k = thread_index(); k < p.channels; k += ATTENTION_THREADS) {
		float sum = 0;

		UNROLL
		for (unsigned g = 0; g < FOLD_GROUPS; g++) {
			const struct fold_grid *grid = &p.group[g].grid;
			const float *of = totals + g * FOLD_TOTALS;
			uint32_t pad = p.channels - grid->n_pad;

			if (grid->n == 0)
				continue;
			sum = fused(of[FOLD_MASKED], p.masked[(size_t)g * (p.channels + 1) + k],
			            sum - of[FOLD_MEAN]);
			if (k < grid->n_data)
				sum += sum_value(&p.group[g], row, p.rows, lse, 0, 1, k);
			else if (k >= pad)
				sum = fused(of[FOLD_TOTAL], p.pad[g][k - pad], sum);
		}
		p.out[(size_t)row * p.channels + k] = sum;
	}
	UNROLL
	for (unsigned g = 0; g < FOLD_GROUPS; g++)
		for (uint32_t line = thread_index(); line < p.group[g].grid.lines;
		     line += ATTENTION_THREADS)
			p.lines[g][(size_t)row * p.group[g].grid.lines + line] =
				sum_of_line(&p.group[g], row, p.rows, lse, line);
}

/* ---- rows and columns ---- */

void fold_scale(struct fold_scale_launch p)
{
	uint64_t stride = (uint64_t)grid_x() * EACH_THREADS;

	for (uint64_t i = (uint64_t)block_x() * EACH_THREADS + thread_index(); i < p.n;
	     i += stride) {
		uint32_t column = (uint32_t)(i % p.width);
		float value = p.factor * p.gain[column] * p.x[i];

		if (p.shift != NULL)
			value = fused(p.kept != NULL ? p.kept[i / p.width] : 1.0f, p.shift[column],
			              value);
		p.out[i] = value;
	}
}

void fold_columns(struct fold_columns_launch p)
{
	SHARED struct column_shared *s = SHARED_AS(struct column_shared);
	uint32_t column = block_x() * WARP + lane_index(), first = block_y() * COLUMN_ROWS;
	uint32_t end = first + COLUMN_ROWS < p.rows ? first + COLUMN_ROWS : p.rows;
	float both = 0, weighted = 0;

	for (uint32_t r = first + warp_index(); column < p.width && r < end; r += COLUMN_WARPS) {
		float y = p.y[(size_t)r * p.width + column];

		if (p.x != NULL)
			both = fused(p.x[(size_t)r * p.width + column], y, both);
		weighted = fused(p.weight != NULL ? p.weight[r] : 1.0f, y, weighted);
	}
	s->sum[0][warp_index()][lane_index()] = both;
	s->sum[1][warp_index()][lane_index()] = weighted;
	block_sync();
	if (warp_index() > 1 || column >= p.width)
		return;
	float sum = 0;

	for (uint32_t w = 0; w < COLUMN_WARPS; w++)
		sum += s->sum[warp_index()][w][lane_index()];
	p.partial[((size_t)block_y() * 2 + warp_index()) * p.width + column] = sum;
}

/* ---- derivatives by tokens ---- */

/* Of a row: what group `which` / 2 weighs, its unmasked tokens or its masked ones. */
INLINE float total_of(const float *totals, uint32_t row, unsigned which)
{
	return totals[((size_t)row * FOLD_GROUPS + which / 2) * FOLD_TOTALS +
	              (which % 2 == 0 ? FOLD_TOTAL : FOLD_MASKED)];
}

void fold_slopes(struct fold_slopes_launch p)
{
	SHARED struct column_shared *s = SHARED_AS(struct column_shared);
	uint32_t column = block_x() * WARP + lane_index(), first = block_y() * COLUMN_ROWS;
	uint32_t end = first + COLUMN_ROWS < p.rows ? first + COLUMN_ROWS : p.rows;

	UNROLL_BY(1)
	for (unsigned which = 0; which < 2 * FOLD_GROUPS; which++) {
		float sum = 0;

		for (uint32_t r = first + warp_index(); column < p.channels && r < end;
		     r += COLUMN_WARPS) {
			size_t at = (size_t)r * p.channels + column;

			sum = fused(total_of(p.weights, r, which), p.d[at], sum);
			if (r < p.nq)
				sum = fused(total_of(p.slopes, r, which), p.q[at], sum);
		}
		s->sum[0][warp_index()][lane_index()] = sum;
		block_sync();
		sum = 0;
		for (uint32_t w = 0; w < COLUMN_WARPS; w++)
			sum += s->sum[0][w][lane_index()];
		block_sync();
		if (warp_index() == 0 && column < p.channels)
			p.partial[((size_t)block_y() * 2 * FOLD_GROUPS + which) * p.channels +
			          column] = sum;
	}
}

/* The parts' sums of a column, left in the first part. */
INLINE float gather_column(const struct fold_gradients_launch *p, unsigned which, uint32_t column)
{
	float *at = p->partial + (size_t)which * p->channels + column, sum = 0;

	for (uint32_t part = 0; part < p->parts; part++)
		sum += at[(size_t)part * 2 * FOLD_GROUPS * p->channels];
	*at = sum;
	return sum;
}

/*
 * With x = (token - mean) rstd and g its derivative, that of the token is rstd (g - mean(g) - x
 * mean(g x)). Summed over a group's unmasked tokens the two means are those of `slope`: their
 * second needs the sums over tokens and rows of enum fold_stat.
 */
INLINE void padding_gradient(const struct fold_gradients_launch *p, SHARED struct loss_shared *s,
                             unsigned group, const float *pad, uint32_t n_pad, float *to)
{
	const float *g = p->partial + (size_t)2 * group * p->channels;
	double all = 0, slope = 0, slope_mean = 0;

	for (uint32_t k = thread_index(); k < p->channels; k += EACH_THREADS)
		all += gather_column(p, 2 * group, k);
	for (uint32_t r = thread_index(); r < p->nq; r += EACH_THREADS) {
		const float *of = p->slopes + ((size_t)r * FOLD_GROUPS + group) * FOLD_TOTALS;

		slope += of[FOLD_SLOPE];
		slope_mean += of[FOLD_SLOPE_MEAN];
	}
	block_sum_begin(s, 0, all);
	block_sum_begin(s, 1, slope);
	block_sum_begin(s, 2, slope_mean);
	block_sync();
	float part = 1.0f / (float)p->channels, mean = (float)block_sum_end(s, 0) * part;
	float f1 = (float)block_sum_end(s, 1) * part, f2 = (float)block_sum_end(s, 2) * part;

	for (uint32_t k = thread_index(); k < n_pad; k += EACH_THREADS)
		to[k] += fused(-pad[k], f1, g[p->channels - n_pad + k] - mean + f2);
	block_sync();
}

/* All masked tokens of a group are one vector. */
INLINE void mask_gradient(const struct fold_gradients_launch *p, SHARED struct loss_shared *s,
                          unsigned group, float *to)
{
	const float *x = p->masked + (size_t)group * (p->channels + 1);
	const float *g = p->partial + (size_t)(2 * group + 1) * p->channels;
	double all = 0, dot = 0;

	for (uint32_t k = thread_index(); k < p->channels; k += EACH_THREADS) {
		float value = gather_column(p, 2 * group + 1, k);

		all += value;
		dot += (double)value * x[k];
	}
	block_sum_begin(s, 0, all);
	block_sum_begin(s, 1, dot);
	block_sync();
	float part = 1.0f / (float)p->channels, mean = (float)block_sum_end(s, 0) * part;
	float along = (float)block_sum_end(s, 1) * part, rstd = x[p->channels];

	for (uint32_t k = thread_index(); k < p->channels; k += EACH_THREADS)
		to[k] = fused(rstd, g[k] - mean - x[k] * along, to[k]);
	block_sync();
}

void fold_gradients(struct fold_gradients_launch p)
{
	SHARED struct loss_shared *s = SHARED_AS(struct loss_shared);

	UNROLL
	for (unsigned g = 0; g < FOLD_GROUPS; g++) {
		if (block_x() != g)
			continue;
		if (p.dpad[g] != NULL)
			padding_gradient(&p, s, g, p.pad[g], p.n_pad[g], p.dpad[g]);
		if (p.dmask[g] != NULL)
			mask_gradient(&p, s, g, p.dmask[g]);
	}
}
