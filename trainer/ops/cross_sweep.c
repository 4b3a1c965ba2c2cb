/*
 * The sweeps of the folded cross attention: a task owns a block of latents (one panel wide) and
 * walks over all tokens, a row of the grid at a time, in tiles that stay in the first cache. Per
 * tile: the product with the data channels, then one pass that adds the tables, normalises,
 * exponentiates and sums, then the reverse product. The softmax's maximum is raised, and what has
 * been summed so far scaled down, only when a score exceeds it by more than SLACK: exp(SLACK) is
 * far from overflow, and after the first tiles it hardly ever happens.
 */
#include <math.h>
#include <string.h>

#include "trainer/ops/cross_folded.h"

#define SLACK 8.0f

/* The grid of a modality's tokens: (t, y, x), leading dimensions 1 where there are fewer. */
struct grid {
	size_t dim[GRID_DIMS];
	size_t missing; /* dimensions that have no table */
};

static struct grid grid_of(const struct op_tokens *g)
{
	struct grid grid = {{1, 1, 1}, GRID_DIMS - g->ndim};

	for (size_t d = 0; d < g->ndim; d++)
		grid.dim[grid.missing + d] = g->dim[d];
	return grid;
}

/* Sums over tokens for one modality: weights by data channel and by grid line; [rows][nr] each. */
struct sums {
	float *data;            /* [n_data] */
	float *line[GRID_DIMS]; /* [dim] */
	float *total, *mean;    /* of weights; of weights times the token's mean */
	size_t rows;            /* of all these together, which lie one after another */
};

/* What the tokens' constant channels give: one value per grid line, and one for the padding. */
struct tables {
	float *line[GRID_DIMS], *pad, *csum;
};

/* A worker's memory; take() hands it out row by row. */
struct arena {
	float *at;
	size_t nr;
};

static float *take(struct arena *a, size_t rows)
{
	float *block = a->at;

	a->at += rows * a->nr;
	return block;
}

static struct sums take_sums(struct arena *a, const struct op_tokens *g)
{
	struct grid grid = grid_of(g);
	struct sums s = {.data = take(a, g->n_data), .rows = g->n_data + 2};

	for (size_t d = 0; d < GRID_DIMS; d++) {
		s.line[d] = take(a, grid.dim[d]);
		s.rows += grid.dim[d];
	}
	s.total = take(a, 1);
	s.mean = take(a, 1);
	return s;
}

static struct tables take_tables(struct arena *a, size_t lines)
{
	struct tables t;

	t.pad = take(a, 1);
	t.csum = take(a, 1);
	t.line[0] = take(a, lines);
	return t;
}

static size_t lines_of(const struct op_tokens *g)
{
	struct grid grid = grid_of(g);

	return grid.dim[0] + grid.dim[1] + grid.dim[2];
}

/* Sizes of the largest modality. */
struct extent {
	size_t lines, columns, sums; /* sums: of all modalities together */
};

static struct extent extent_of(const struct op_cross *p)
{
	struct extent e = {0};

	for (size_t i = 0; i < OP_TOKEN_GROUPS; i++) {
		const struct op_tokens *g = &p->groups[i];
		size_t columns = 1 + 2 * g->bands;

		if (g->ndim == 0)
			continue;
		e.lines = lines_of(g) > e.lines ? lines_of(g) : e.lines;
		e.columns = columns > e.columns ? columns : e.columns;
		e.sums += g->n_data + lines_of(g) + 2;
	}
	return e;
}

static void add(const struct kernels *k, float *to, const float *from)
{
	k->add(to, from, k->nr);
}

/* rows[columns][nr]: the panel's rows of the position channels of dimension d. */
static void gather(const struct op_tokens *g, size_t d, const float *panel, size_t nr, float *rows)
{
	for (size_t c = 0; c < 1 + 2 * g->bands; c++)
		memcpy(rows + c * nr, panel + (g->n_data + op_position_channel(g, d, c)) * nr,
		       nr * sizeof(float));
}

static void sum_channels(const struct kernels *k, const float *panel, size_t channels, float *csum)
{
	memset(csum, 0, k->nr * sizeof(float));
	for (size_t c = 0; c < channels; c++)
		add(k, csum, panel + c * k->nr);
}

/* Fills the tables of a modality for one panel; rows: room for a gathered dimension. */
static void fill_tables(const struct kernels *k, const struct op_cross *p,
                        const struct op_tokens *g, const float *panel, struct tables *t,
                        float *rows)
{
	struct grid grid = grid_of(g);
	size_t columns = 1 + 2 * g->bands;
	struct gemm_block product = {.m = 1,
	                             .n = k->nr,
	                             .k = g->n_pad,
	                             .a = g->pad,
	                             .a_col = 1,
	                             .b = panel + (p->channels - g->n_pad) * k->nr,
	                             .c = t->pad,
	                             .c_row = k->nr};

	k->gemm(&product);
	for (size_t d = 0; d < GRID_DIMS; d++) {
		if (d > 0)
			t->line[d] = t->line[d - 1] + grid.dim[d - 1] * k->nr;
		if (d < grid.missing) {
			memset(t->line[d], 0, grid.dim[d] * k->nr * sizeof(float));
			continue;
		}
		gather(g, d - grid.missing, panel, k->nr, rows);
		product = (struct gemm_block){.m = grid.dim[d],
		                              .n = k->nr,
		                              .k = columns,
		                              .a = g->position[d - grid.missing],
		                              .a_row = columns,
		                              .a_col = 1,
		                              .b = rows,
		                              .c = t->line[d],
		                              .c_row = k->nr};
		k->gemm(&product);
	}
}

/* panel[channels] += sums over tokens of weight * xh: the reverse of the scores. rows as above. */
static void spread_sums(const struct kernels *k, const struct op_cross *p,
                        const struct op_tokens *g, const struct sums *s, float *panel, float *rows)
{
	struct grid grid = grid_of(g);
	size_t columns = 1 + 2 * g->bands, nr = k->nr;

	k->add(panel, s->data, g->n_data * nr);
	for (size_t d = grid.missing; d < GRID_DIMS; d++) {
		struct gemm_block product = {.m = columns,
		                             .n = nr,
		                             .k = grid.dim[d],
		                             .a = g->position[d - grid.missing],
		                             .a_row = 1,
		                             .a_col = columns,
		                             .b = s->line[d],
		                             .c = rows,
		                             .c_row = nr};

		k->gemm(&product);
		for (size_t c = 0; c < columns; c++)
			add(k,
			    panel + (g->n_data + op_position_channel(g, d - grid.missing, c)) * nr,
			    rows + c * nr);
	}
	for (size_t c = 0; c < g->n_pad; c++)
		k->add_scaled(panel + (p->channels - g->n_pad + c) * nr, s->total, g->pad[c], nr);
	for (size_t c = 0; c < p->channels; c++)
		k->add_scaled(panel + c * nr, s->mean, -1, nr);
}

/* One tile: tokens [j, j + n) of clip b in row (t, y). */
struct place {
	size_t b, group, block, t, y, x, j, n;
};

/* Products of the tile's data channels with a panel. */
static void data_products(const struct kernels *k, const struct op_tokens *g,
                          const struct place *at, const float *panel, float *s)
{
	struct gemm_block product = {.m = at->n,
	                             .n = k->nr,
	                             .k = g->n_data,
	                             .a = g->data + (at->b * g->n + at->j) * g->n_data,
	                             .a_row = g->n_data,
	                             .a_col = 1,
	                             .b = panel,
	                             .c = s,
	                             .c_row = k->nr};

	k->gemm(&product);
}

/* data[n_data][nr] += the tile's data^T weights */
static void data_sums(const struct kernels *k, const struct op_tokens *g, const struct place *at,
                      const float *weights, float *data)
{
	struct gemm_block product = {.m = g->n_data,
	                             .n = k->nr,
	                             .k = at->n,
	                             .a = g->data + (at->b * g->n + at->j) * g->n_data,
	                             .a_row = 1,
	                             .a_col = g->n_data,
	                             .b = weights,
	                             .c = data,
	                             .c_row = k->nr,
	                             .accumulate = true};

	k->gemm(&product);
}

static uint64_t sample_of(const struct op_cross *p, size_t b)
{
	return p->dropout.sample != NULL ? p->dropout.sample[b] : b;
}

/* Dropout factors of n tokens from the clip's token `column` on; NULL when there is no dropout. */
static const float *keep_tile(const struct sweep *w, size_t b, size_t block, size_t column,
                              size_t n, float *keep)
{
	const struct kernels *k = w->f->kernels;

	if (w->p->dropout.p == 0)
		return NULL;
	k->cross_keep(&w->p->dropout, sample_of(w->p, b), (uint32_t)(block * k->nr),
	              (uint32_t)((w->f->n_tokens + 3) / 4), column, n, keep);
	return keep;
}

/* The tile's description for the kernels; s and max are the caller's. */
static struct cross_tile describe(const struct sweep *w, const struct place *at,
                                  const struct tables *t, const float *row)
{
	size_t nr = w->f->kernels->nr;
	size_t token = at->b * w->f->n_tokens + w->f->first[at->group] + at->j;

	return (struct cross_tile){.n = at->n,
	                           .row = row,
	                           .column = t->line[2] + at->x * nr,
	                           .mean = w->f->mean + token,
	                           .rstd = w->f->rstd + token,
	                           .bias = w->f->bias + token,
	                           .csum = t->csum};
}

/* What all tokens of grid row (t, y) add to their scores. */
static void row_constant(const struct kernels *k, const struct tables *t, const struct place *at,
                         float *row)
{
	memcpy(row, t->pad, k->nr * sizeof(float));
	add(k, row, t->line[0] + at->t * k->nr);
	add(k, row, t->line[1] + at->y * k->nr);
}

/* Calls visit for every tile of a modality, in the tokens' order. */
static void each_tile(const struct op_tokens *g, struct place *at,
                      void (*visit)(void *ctx, const struct place *at), void *ctx)
{
	struct grid grid = grid_of(g);

	at->j = 0;
	for (at->t = 0; at->t < grid.dim[0]; at->t++) {
		for (at->y = 0; at->y < grid.dim[1]; at->y++) {
			for (at->x = 0; at->x < grid.dim[2]; at->x += at->n, at->j += at->n) {
				size_t left = grid.dim[2] - at->x;

				at->n = left < TILE ? left : TILE;
				visit(ctx, at);
			}
		}
	}
}

/* ---- forward -----------------------------------------------------------------------------------
 */

struct forward {
	const struct sweep *w;
	const struct kernels *k;
	const float *panel; /* q'' of this block */
	struct tables tables;
	struct sums sums[OP_TOKEN_GROUPS];
	float *all_sums; /* where they begin */
	size_t all_rows;
	float *rows, *row, *tile, *keep, *max, *peak, *denominator, *kept, *line, *u;
};

size_t sweep_forward_work(const struct op_cross *p, const struct kernels *kernels)
{
	struct extent e = extent_of(p);

	return (e.lines + 2 + e.columns + e.sums + 2 * TILE + 6 + PLAIN_MAX + p->channels) *
	       kernels->nr;
}

/* Raises the maximum to peak where that is far above it. */
static void raise_max(struct forward *f)
{
	size_t nr = f->k->nr;
	float factor[KERNEL_NR_MAX];
	bool raise = false;

	for (size_t i = 0; i < nr; i++) {
		bool far = f->peak[i] > f->max[i] + SLACK;

		factor[i] = far ? expf(f->max[i] - f->peak[i]) : 1;
		f->max[i] = far ? f->peak[i] : f->max[i];
		raise |= far;
	}
	if (!raise)
		return;
	for (size_t r = 0; r < f->all_rows; r++)
		for (size_t i = 0; i < nr; i++)
			f->all_sums[r * nr + i] *= factor[i];
}

static void forward_tile(void *ctx, const struct place *at)
{
	struct forward *f = ctx;
	const struct op_tokens *g = &f->w->p->groups[at->group];
	struct sums *s = &f->sums[at->group];
	size_t nr = f->k->nr;
	struct cross_tile tile = describe(f->w, at, &f->tables, f->row);

	row_constant(f->k, &f->tables, at, f->row);
	data_products(f->k, g, at, f->panel, f->tile);
	memcpy(f->peak, f->max, nr * sizeof(float));
	tile.s = f->tile;
	tile.max = f->peak;
	f->k->cross_scores(&tile);
	raise_max(f);
	tile.max = f->max;
	tile.keep = keep_tile(f->w, at->b, at->block, f->w->f->first[at->group] + at->j, at->n,
	                      f->keep);
	memset(f->line, 0, nr * sizeof(float));
	f->k->cross_weights(&tile, f->denominator, f->kept, f->line, s->mean,
	                    s->line[2] + at->x * nr);
	add(f->k, s->line[0] + at->t * nr, f->line);
	add(f->k, s->line[1] + at->y * nr, f->line);
	add(f->k, s->total, f->line);
	data_sums(f->k, g, at, f->tile, s->data);
}

/* Scores of a plain token, [nr]. */
static void plain_scores(const struct kernels *k, const struct op_cross *p,
                         const struct plain_token *t, const float *panel, float *s)
{
	struct gemm_block product = {.m = 1,
	                             .n = k->nr,
	                             .k = p->channels,
	                             .a = t->xh,
	                             .a_col = 1,
	                             .b = panel,
	                             .c = s,
	                             .c_row = k->nr};

	k->gemm(&product);
}

/* Sum of the dropout factors over the tokens that are this one; its count without dropout. */
static void plain_keep(const struct sweep *w, size_t b, size_t block, const struct plain_token *t,
                       float *one, float *sum)
{
	const struct op_tokens *g = &w->p->groups[t->group];
	size_t nr = w->f->kernels->nr;

	for (size_t i = 0; i < nr; i++)
		sum[i] = w->p->dropout.p == 0 ? (float)t->count : 0;
	for (size_t j = 0; w->p->dropout.p != 0 && j < g->n; j++) {
		if (t->masked && g->mask[b * g->n + j] == 0)
			continue;
		keep_tile(w, b, block, w->f->first[t->group] + j, 1, one);
		add(w->f->kernels, sum, one);
	}
}

/* Adds the plain tokens to the denominator; their weights go to weights[PLAIN_MAX][nr]. */
static void forward_plain(struct forward *f, size_t b, size_t block, float *weights)
{
	const struct folded *state = f->w->f;
	size_t nr = f->k->nr;

	for (size_t v = 0; v < state->n_plain[b]; v++) {
		plain_scores(f->k, f->w->p, &state->plain[b][v], f->panel, weights + v * nr);
		memcpy(f->peak, weights + v * nr, nr * sizeof(float));
		raise_max(f);
	}
	for (size_t v = 0; v < state->n_plain[b]; v++) {
		const struct plain_token *t = &state->plain[b][v];
		float kept[KERNEL_NR_MAX];

		plain_keep(f->w, b, block, t, f->keep, kept);
		for (size_t i = 0; i < nr; i++) {
			float e = expf(weights[v * nr + i] - f->max[i]);

			f->denominator[i] += e * (float)t->count;
			weights[v * nr + i] = e * kept[i];
			f->kept[i] += weights[v * nr + i];
		}
	}
}

/* u = sums / denominator, turned to [latent][channel]; statistics for backward. */
static void forward_finish(struct forward *f, size_t b, size_t block, const float *weights)
{
	const struct op_cross *p = f->w->p;
	struct folded *state = f->w->f;
	size_t nr = f->k->nr, lanes = state->blocks * nr, c = p->channels;
	float scale[KERNEL_NR_MAX];

	memset(f->u, 0, c * nr * sizeof(float));
	for (size_t g = 0; g < OP_TOKEN_GROUPS; g++)
		if (p->groups[g].ndim > 0)
			spread_sums(f->k, p, &p->groups[g], &f->sums[g], f->u, f->rows);
	for (size_t v = 0; v < state->n_plain[b]; v++)
		for (size_t k = 0; k < c; k++)
			f->k->add_scaled(f->u + k * nr, weights + v * nr, state->plain[b][v].xh[k],
			                 nr);
	for (size_t i = 0; i < nr; i++) {
		scale[i] = 1 / f->denominator[i];
		state->lse[b * lanes + block * nr + i] = f->max[i] + logf(f->denominator[i]);
		state->kept[b * lanes + block * nr + i] = f->kept[i] * scale[i];
	}
	for (size_t g = 0; g < OP_TOKEN_GROUPS; g++)
		for (size_t i = 0; p->groups[g].ndim > 0 && i < nr; i++)
			state->wtot[(b * OP_TOKEN_GROUPS + g) * lanes + block * nr + i] =
				f->sums[g].total[i] * scale[i];
	for (size_t i = 0; i < nr && block * nr + i < p->nq; i++) {
		float *u = state->u + (b * p->nq + block * nr + i) * c;

		for (size_t k = 0; k < c; k++)
			u[k] = f->u[k * nr + i] * scale[i];
	}
}

static struct forward forward_start(const struct sweep *w, size_t block, unsigned worker)
{
	const struct kernels *k = w->f->kernels;
	struct arena a = {w->work + worker * w->work_each, k->nr};
	struct extent e = extent_of(w->p);
	struct forward f = {.w = w, .k = k, .panel = w->f->q + block * w->p->channels * k->nr};

	f.tables = take_tables(&a, e.lines);
	f.rows = take(&a, e.columns);
	f.tile = take(&a, TILE);
	f.keep = take(&a, TILE);
	f.row = take(&a, 1);
	f.max = take(&a, 1);
	f.peak = take(&a, 1);
	f.line = take(&a, 1);
	f.u = take(&a, w->p->channels);
	f.all_sums = a.at;
	f.denominator = take(&a, 1);
	f.kept = take(&a, 1);
	f.all_rows = 2;
	for (size_t g = 0; g < OP_TOKEN_GROUPS; g++) {
		if (w->p->groups[g].ndim == 0)
			continue;
		f.sums[g] = take_sums(&a, &w->p->groups[g]);
		f.all_rows += f.sums[g].rows;
	}
	memset(f.all_sums, 0, f.all_rows * k->nr * sizeof(float));
	for (size_t i = 0; i < k->nr; i++)
		f.max[i] = -INFINITY;
	return f;
}

void sweep_forward(void *ctx, size_t i, unsigned worker)
{
	const struct sweep *w = ctx;
	const struct op_cross *p = w->p;
	struct place at = {.b = i / w->f->blocks, .block = i % w->f->blocks};
	struct forward f = forward_start(w, at.block, worker);
	float weights[PLAIN_MAX * KERNEL_NR_MAX];

	sum_channels(f.k, f.panel, p->channels, f.tables.csum);
	for (at.group = 0; at.group < OP_TOKEN_GROUPS; at.group++) {
		const struct op_tokens *g = &p->groups[at.group];

		if (g->ndim == 0)
			continue;
		fill_tables(f.k, p, g, f.panel, &f.tables, f.rows);
		each_tile(g, &at, forward_tile, &f);
	}
	forward_plain(&f, at.b, at.block, weights);
	forward_finish(&f, at.b, at.block, weights);
}

/* ---- backward ----------------------------------------------------------------------------------
 */

struct backward {
	const struct sweep *w;
	const struct kernels *k;
	const float *panel; /* q'' of this block */
	float *du, *dq;     /* panels: dU of the clip; dq'' summed over clips */
	struct tables tables, dtables;
	struct sums sums;
	const float *lse, *delta, *dkept;
	float *rows, *row, *drow, *tile, *dtile, *keep, *line, *f1, *f2;
};

size_t sweep_backward_work(const struct op_cross *p, const struct kernels *kernels)
{
	struct extent e = extent_of(p);

	return (2 * (e.lines + 2) + e.columns + e.sums + 3 * TILE + 5 + 2 * p->channels) *
	       kernels->nr;
}

static void backward_tile(void *ctx, const struct place *at)
{
	struct backward *f = ctx;
	const struct op_tokens *g = &f->w->p->groups[at->group];
	struct sums *s = &f->sums;
	size_t nr = f->k->nr;
	struct cross_tile tile = describe(f->w, at, &f->tables, f->row);
	struct cross_tile dtile = describe(f->w, at, &f->dtables, f->drow);
	float lse[KERNEL_NR_MAX];

	row_constant(f->k, &f->tables, at, f->row);
	row_constant(f->k, &f->dtables, at, f->drow);
	data_products(f->k, g, at, f->panel, f->tile);
	data_products(f->k, g, at, f->du, f->dtile);
	memcpy(lse, f->lse, nr * sizeof(float));
	tile.s = f->tile;
	tile.max = lse;
	tile.keep = keep_tile(f->w, at->b, at->block, f->w->f->first[at->group] + at->j, at->n,
	                      f->keep);
	dtile.s = f->dtile;
	memset(f->line, 0, nr * sizeof(float));
	f->k->cross_backward(&tile, &dtile, f->delta, f->dkept, f->line, s->mean,
	                     s->line[2] + at->x * nr, f->f1, f->f2);
	add(f->k, s->line[0] + at->t * nr, f->line);
	add(f->k, s->line[1] + at->y * nr, f->line);
	add(f->k, s->total, f->line);
	data_sums(f->k, g, at, f->dtile, s->data);
}

static float sum_lanes(const float *a, const float *b, size_t nr)
{
	float sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += a[i] * (b != NULL ? b[i] : 1);
	return sum;
}

/*
 * This block's share of d pad. Through the normalisation, with sums over the modality's tokens,
 *   d pad_k = sum_i (W_i dU_ik + E_i q''_ik) - A - pad_k F1 + F2
 * where W, E are the totals of P * rstd and dS * rstd, A = sum of rstd * mean(d xh), and F1, F2 the
 * sums of rstd^2 * mean(d xh * xh), without and with the token's mean.
 */
static void pad_gradient(const struct backward *f, const struct place *at)
{
	const struct op_cross *p = f->w->p;
	struct folded *state = f->w->f;
	const struct op_tokens *g = &p->groups[at->group];
	size_t nr = f->k->nr, c = p->channels;
	const float *w = state->wtot +
	                 ((at->b * OP_TOKEN_GROUPS + at->group) * state->blocks + at->block) * nr;
	float *part = state->pad_part + (at->block * OP_TOKEN_GROUPS + at->group) * c;
	float channels = (float)c;
	float a =
		(sum_lanes(w, f->dtables.csum, nr) + sum_lanes(f->sums.total, f->tables.csum, nr)) /
		channels;
	float f1 = sum_lanes(f->f1, NULL, nr) / channels;
	float f2 = sum_lanes(f->f2, NULL, nr) / channels;

	for (size_t k = 0; k < g->n_pad; k++) {
		size_t row = (c - g->n_pad + k) * nr;

		part[k] += sum_lanes(w, f->du + row, nr) +
		           sum_lanes(f->sums.total, f->panel + row, nr) - a - g->pad[k] * f1 + f2;
	}
}

static void backward_plain(struct backward *f, const struct place *at)
{
	const struct op_cross *p = f->w->p;
	struct folded *state = f->w->f;
	size_t nr = f->k->nr, c = p->channels;

	for (size_t v = 0; v < state->n_plain[at->b]; v++) {
		const struct plain_token *t = &state->plain[at->b][v];
		float s[KERNEL_NR_MAX], ds[KERNEL_NR_MAX], weight[KERNEL_NR_MAX];
		float kept[KERNEL_NR_MAX];
		float *part =
			state->plain_part + ((at->block * p->batch + at->b) * PLAIN_MAX + v) * c;

		plain_scores(f->k, p, t, f->panel, s);
		plain_scores(f->k, p, t, f->du, ds);
		plain_keep(f->w, at->b, at->block, t, f->keep, kept);
		for (size_t i = 0; i < nr; i++) {
			float prob = expf(s[i] - f->lse[i]);

			weight[i] = prob * kept[i];
			ds[i] = prob *
			        (kept[i] * (ds[i] + f->dkept[i]) - (float)t->count * f->delta[i]);
		}
		for (size_t k = 0; k < c; k++) {
			f->k->add_scaled(f->dq + k * nr, ds, t->xh[k], nr);
			part[k] = sum_lanes(weight, f->du + k * nr, nr) +
			          sum_lanes(ds, f->panel + k * nr, nr);
		}
	}
}

static void backward_group(struct backward *f, struct place *at, const struct arena *a)
{
	const struct op_cross *p = f->w->p;
	const struct op_tokens *g = &p->groups[at->group];
	struct arena sums = *a;

	f->sums = take_sums(&sums, g);
	memset(f->sums.data, 0, f->sums.rows * f->k->nr * sizeof(float));
	memset(f->f1, 0, f->k->nr * sizeof(float));
	memset(f->f2, 0, f->k->nr * sizeof(float));
	fill_tables(f->k, p, g, f->panel, &f->tables, f->rows);
	fill_tables(f->k, p, g, f->du, &f->dtables, f->rows);
	each_tile(g, at, backward_tile, f);
	spread_sums(f->k, p, g, &f->sums, f->dq, f->rows);
	pad_gradient(f, at);
}

static struct backward backward_start(const struct sweep *w, size_t block, unsigned worker,
                                      struct arena *a)
{
	const struct kernels *k = w->f->kernels;
	struct extent e = extent_of(w->p);
	struct backward f = {.w = w, .k = k, .panel = w->f->q + block * w->p->channels * k->nr};

	*a = (struct arena){w->work + worker * w->work_each, k->nr};
	f.tables = take_tables(a, e.lines);
	f.dtables = take_tables(a, e.lines);
	f.rows = take(a, e.columns);
	f.tile = take(a, TILE);
	f.dtile = take(a, TILE);
	f.keep = take(a, TILE);
	f.row = take(a, 1);
	f.drow = take(a, 1);
	f.line = take(a, 1);
	f.f1 = take(a, 1);
	f.f2 = take(a, 1);
	f.du = take(a, w->p->channels);
	f.dq = take(a, w->p->channels);
	memset(f.dq, 0, w->p->channels * k->nr * sizeof(float));
	return f;
}

void sweep_backward(void *ctx, size_t i, unsigned worker)
{
	const struct sweep *w = ctx;
	const struct op_cross *p = w->p;
	struct folded *state = w->f;
	struct arena a;
	struct backward f = backward_start(w, i, worker, &a);
	struct place at = {.block = i};
	size_t nr = f.k->nr, c = p->channels, first = i * nr;
	size_t valid = p->nq - first < nr ? p->nq - first : nr;

	memset(state->pad_part + i * OP_TOKEN_GROUPS * c, 0, OP_TOKEN_GROUPS * c * sizeof(float));
	sum_channels(f.k, f.panel, c, f.tables.csum);
	for (at.b = 0; at.b < p->batch; at.b++) {
		f.k->pack(c, valid, state->z + (at.b * p->nq + first) * c, 1, c, f.du);
		sum_channels(f.k, f.du, c, f.dtables.csum);
		f.lse = state->lse + (at.b * state->blocks + i) * nr;
		f.delta = state->delta + (at.b * state->blocks + i) * nr;
		f.dkept = state->dkept + (at.b * state->blocks + i) * nr;
		for (at.group = 0; at.group < OP_TOKEN_GROUPS; at.group++)
			if (p->groups[at.group].ndim > 0)
				backward_group(&f, &at, &a);
		backward_plain(&f, &at);
	}
	for (size_t lane = 0; lane < valid; lane++)
		for (size_t k = 0; k < c; k++)
			state->dq[(first + lane) * c + k] = f.dq[k * nr + lane];
}
