/*
 * The forward sweep of the folded cross attention: a task owns a block of latents (one panel wide)
 * and walks over all tokens, a row of the grid at a time, in tiles that stay in the first cache.
 * Per tile: the product with the data channels, then one pass that adds the tables, normalises,
 * exponentiates and sums, then the reverse product. The softmax's maximum is raised, and what has
 * been summed so far scaled down, only when a score exceeds it by more than SOFTMAX_SLACK, which
 * after the first tiles hardly ever happens: so the pass need not know the tile's maximum before.
 */
#include <math.h>
#include <string.h>

#include "trainer/ops/cross_tiles.h"

/* ---- forward --------------------------------------------------------------------------------- */

struct forward {
	const struct sweep *w;
	const struct kernels *k;
	const float *panel; /* q'' of this block */
	const float *data;  /* its data channels, in places */
	struct cross_tables tables;
	struct sums sums[OP_TOKEN_GROUPS];
	float *all_sums; /* where they begin */
	size_t all_rows;
	float *copy, *rows, *row, *tile, *keep, *max, *peak, *denominator, *kept, *line, *u;
};

size_t sweep_forward_work(const struct op_cross *p, const struct kernels *kernels)
{
	struct extent e = tiles_extent(p);

	return (e.lines + 2 + e.columns + e.data + e.sums + 2 * TILE + 6 + PLAIN_MAX +
	        p->channels) *
	       kernels->nr;
}

/* Raises the maximum to peak where that is far above it. */
static void raise_max(struct forward *f)
{
	size_t nr = f->k->nr;
	float factor[KERNEL_NR_MAX];
	bool raise = false;

	for (size_t i = 0; i < nr; i++) {
		bool far = f->peak[i] > f->max[i] + SOFTMAX_SLACK;

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
	struct sums *s = &f->sums[at->group];
	size_t nr = f->k->nr;
	struct cross_tile tile = tiles_describe(f->w, at, &f->tables, f->row);
	struct cross_sums sums = {.all = f->all_sums,
	                          .rows = f->all_rows,
	                          .sum = f->denominator,
	                          .kept = f->kept,
	                          .wmean = s->mean,
	                          .column = s->line[2] + at->x * nr,
	                          .wsum = f->line};

	tiles_row_constant(f->k, &f->tables, at, f->row);
	tiles_data_products(f->w, at, f->data, f->tile);
	tiles_fetch_next(f->w, at, 0);
	tile.s = f->tile;
	tile.max = f->max;
	tile.keep = tiles_keep(f->w, at->b, at->block, f->w->f->first[at->group] + at->j, at->n,
	                       f->keep);
	tiles_fetch_next(f->w, at, 1);
	f->k->cross_weights(&tile, &sums);
	tiles_fetch_next(f->w, at, 2);
	tiles_add(f->k, s->line[0] + at->t * nr, f->line);
	tiles_add(f->k, s->line[1] + at->y * nr, f->line);
	tiles_add(f->k, s->total, f->line);
	tiles_data_sums(f->w, at, f->tile, s->data);
	tiles_fetch_next(f->w, at, 3);
}

/* Adds the plain tokens to the denominator; their weights go to weights[PLAIN_MAX][nr]. */
static void forward_plain(struct forward *f, size_t b, size_t block, float *weights)
{
	const struct folded *state = f->w->f;
	size_t nr = f->k->nr;

	for (size_t v = 0; v < state->n_plain[b]; v++) {
		tiles_plain_scores(f->k, f->w->p, &state->plain[b][v], f->panel, weights + v * nr);
		memcpy(f->peak, weights + v * nr, nr * sizeof(float));
		raise_max(f);
	}
	for (size_t v = 0; v < state->n_plain[b]; v++) {
		const struct plain_token *t = &state->plain[b][v];
		float kept[KERNEL_NR_MAX];

		tiles_plain_keep(f->w, b, block, t, f->keep, kept);
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
			tiles_spread_sums(f->w, &(struct place){.group = g, .block = block},
			                  &f->sums[g], f->u, f->rows);
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
	struct tile_memory a = {w->work + worker * w->work_each, k->nr};
	struct extent e = tiles_extent(w->p);
	struct forward f = {.w = w, .k = k, .panel = w->f->q + block * w->p->channels * k->nr};

	f.tables = tiles_take_tables(&a, e.lines);
	f.rows = tiles_take(&a, e.columns);
	f.copy = tiles_take(&a, e.data);
	f.tile = tiles_take(&a, TILE);
	f.keep = tiles_take(&a, TILE);
	f.row = tiles_take(&a, 1);
	f.max = tiles_take(&a, 1);
	f.peak = tiles_take(&a, 1);
	f.line = tiles_take(&a, 1);
	f.u = tiles_take(&a, w->p->channels);
	f.all_sums = a.at;
	f.denominator = tiles_take(&a, 1);
	f.kept = tiles_take(&a, 1);
	f.all_rows = 2;
	for (size_t g = 0; g < OP_TOKEN_GROUPS; g++) {
		if (w->p->groups[g].ndim == 0)
			continue;
		f.sums[g] = tiles_take_sums(&a, &w->p->groups[g]);
		f.all_rows += f.sums[g].rows;
	}
	memset(f.all_sums, 0, f.all_rows * k->nr * sizeof(float));
	memset(f.line, 0, k->nr * sizeof(float));
	for (size_t i = 0; i < k->nr; i++) {
		bool swept = i < tiles_lanes(w, block);

		/* what no sweep touches stays finite: sums over the lanes take it times 0 */
		f.max[i] = swept ? -INFINITY : 0;
		f.denominator[i] = swept ? 0 : 1;
	}
	return f;
}

void sweep_forward(void *ctx, size_t i, unsigned worker)
{
	const struct sweep *w = ctx;
	const struct op_cross *p = w->p;
	struct place at = {.b = i / w->f->blocks, .block = i % w->f->blocks};
	struct forward f = forward_start(w, at.block, worker);
	float weights[PLAIN_MAX * KERNEL_NR_MAX] = {0};

	tiles_sum_channels(f.k, f.panel, p->channels, f.tables.csum);
	for (at.group = 0; at.group < OP_TOKEN_GROUPS; at.group++) {
		const struct op_tokens *g = &p->groups[at.group];

		if (g->ndim == 0)
			continue;
		f.data = tiles_data_panel(w, at.group, f.panel, f.copy);
		tiles_fill_tables(w, &at, f.panel, &f.tables, f.rows);
		tiles_each(g, &at, forward_tile, &f);
	}
	forward_plain(&f, at.b, at.block, weights);
	forward_finish(&f, at.b, at.block, weights);
}
