/*
 * The backward sweep of the folded cross attention: a task owns a block of latents (one panel wide)
 * and walks over all tokens, a row of the grid at a time, in tiles that stay in the first cache.
 * Per tile: the scores again, dP by the same means, one pass for dS, then the reverse product.
 */
#include <math.h>
#include <string.h>

#include "trainer/ops/cross_tiles.h"

/* ---- backward -------------------------------------------------------------------------------- */

struct backward {
	const struct sweep *w;
	const struct kernels *k;
	const float *panel;        /* q'' of this block */
	float *du, *dq;            /* panels: dU of the clip; dq'' summed over clips */
	const float *data, *ddata; /* data channels of panel and du, in places */
	struct cross_tables tables, dtables;
	struct sums sums;
	const float *lse, *delta, *dkept;
	float *copy, *dcopy, *rows, *row, *drow, *tile, *dtile, *keep, *line, *f1, *f2;
};

size_t sweep_backward_work(const struct op_cross *p, const struct kernels *kernels)
{
	struct extent e = tiles_extent(p);

	return (2 * (e.lines + 2) + e.columns + 2 * e.data + e.sums + 3 * TILE + 5 +
	        2 * p->channels) *
	       kernels->nr;
}

static void backward_tile(void *ctx, const struct place *at)
{
	struct backward *f = ctx;
	struct sums *s = &f->sums;
	size_t nr = f->k->nr;
	struct cross_tile tile = tiles_describe(f->w, at, &f->tables, f->row);
	struct cross_tile dtile = tiles_describe(f->w, at, &f->dtables, f->drow);
	float lse[KERNEL_NR_MAX];
	struct cross_gradient gradient = {.delta = f->delta,
	                                  .dkept = f->dkept,
	                                  .sum = f->line,
	                                  .mean = s->mean,
	                                  .f1 = f->f1,
	                                  .f2 = f->f2,
	                                  .column_sum = s->line[2] + at->x * nr};

	tiles_row_constant(f->k, &f->tables, at, f->row);
	tiles_row_constant(f->k, &f->dtables, at, f->drow);
	tiles_data_products(f->w, at, f->data, f->tile);
	tiles_fetch_next(f->w, at, 0);
	tiles_data_products(f->w, at, f->ddata, f->dtile);
	tiles_fetch_next(f->w, at, 1);
	memcpy(lse, f->lse, nr * sizeof(float));
	tile.s = f->tile;
	tile.max = lse;
	tile.keep = tiles_keep(f->w, at->b, at->block, f->w->f->first[at->group] + at->j, at->n,
	                       f->keep);
	dtile.s = f->dtile;
	memset(f->line, 0, nr * sizeof(float));
	f->k->cross_backward(&tile, &dtile, &gradient);
	tiles_fetch_next(f->w, at, 2);
	tiles_add(f->k, s->line[0] + at->t * nr, f->line);
	tiles_add(f->k, s->line[1] + at->y * nr, f->line);
	tiles_add(f->k, s->total, f->line);
	tiles_data_sums(f->w, at, f->dtile, s->data);
	tiles_fetch_next(f->w, at, 3);
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

		tiles_plain_scores(f->k, p, t, f->panel, s);
		tiles_plain_scores(f->k, p, t, f->du, ds);
		tiles_plain_keep(f->w, at->b, at->block, t, f->keep, kept);
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

static void backward_group(struct backward *f, struct place *at, const struct tile_memory *a)
{
	const struct op_cross *p = f->w->p;
	const struct op_tokens *g = &p->groups[at->group];
	struct tile_memory sums = *a;

	f->sums = tiles_take_sums(&sums, g);
	memset(a->at, 0, f->sums.rows * f->k->nr * sizeof(float));
	memset(f->f1, 0, f->k->nr * sizeof(float));
	memset(f->f2, 0, f->k->nr * sizeof(float));
	f->data = tiles_data_panel(f->w, at->group, f->panel, f->copy);
	f->ddata = tiles_data_panel(f->w, at->group, f->du, f->dcopy);
	tiles_fill_tables(f->w, at, f->panel, &f->tables, f->rows);
	tiles_fill_tables(f->w, at, f->du, &f->dtables, f->rows);
	tiles_each(g, at, backward_tile, f);
	tiles_spread_sums(f->w, at, &f->sums, f->dq, f->rows);
	pad_gradient(f, at);
}

static struct backward backward_start(const struct sweep *w, size_t block, unsigned worker,
                                      struct tile_memory *a)
{
	const struct kernels *k = w->f->kernels;
	struct extent e = tiles_extent(w->p);
	struct backward f = {.w = w, .k = k, .panel = w->f->q + block * w->p->channels * k->nr};

	*a = (struct tile_memory){w->work + worker * w->work_each, k->nr};
	f.tables = tiles_take_tables(a, e.lines);
	f.dtables = tiles_take_tables(a, e.lines);
	f.rows = tiles_take(a, e.columns);
	f.copy = tiles_take(a, e.data);
	f.dcopy = tiles_take(a, e.data);
	f.tile = tiles_take(a, TILE);
	f.dtile = tiles_take(a, TILE);
	f.keep = tiles_take(a, TILE);
	f.row = tiles_take(a, 1);
	f.drow = tiles_take(a, 1);
	f.line = tiles_take(a, 1);
	f.f1 = tiles_take(a, 1);
	f.f2 = tiles_take(a, 1);
	f.du = tiles_take(a, w->p->channels);
	f.dq = tiles_take(a, w->p->channels);
	memset(f.dq, 0, w->p->channels * k->nr * sizeof(float));
	return f;
}

void sweep_backward(void *ctx, size_t i, unsigned worker)
{
	const struct sweep *w = ctx;
	const struct op_cross *p = w->p;
	struct folded *state = w->f;
	struct tile_memory a;
	struct backward f = backward_start(w, i, worker, &a);
	struct place at = {.block = i};
	size_t nr = f.k->nr, c = p->channels, first = i * nr;
	size_t valid = p->nq - first < nr ? p->nq - first : nr;

	memset(state->pad_part + i * OP_TOKEN_GROUPS * c, 0, OP_TOKEN_GROUPS * c * sizeof(float));
	tiles_sum_channels(f.k, f.panel, c, f.tables.csum);
	for (at.b = 0; at.b < p->batch; at.b++) {
		f.k->f32.pack(c, valid, state->z + (at.b * p->nq + first) * c, 1, c, f.du);
		tiles_sum_channels(f.k, f.du, c, f.dtables.csum);
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
