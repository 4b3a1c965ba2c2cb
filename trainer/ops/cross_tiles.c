#include "trainer/ops/cross_tiles.h"

#include <stdlib.h>
#include <string.h>

#include "trainer/ops/floats.h"
#include "trainer/ops/gemm.h"
#include "trainer/ops/threads.h"

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

float *tiles_take(struct tile_memory *a, size_t rows)
{
	float *block = a->at;

	a->at += rows * a->nr;
	return block;
}

struct sums tiles_take_sums(struct tile_memory *a, const struct op_tokens *g)
{
	struct grid grid = grid_of(g);
	struct sums s = {.data = tiles_take(a, g->n_data), .rows = g->n_data + 2};

	for (size_t d = 0; d < GRID_DIMS; d++) {
		s.line[d] = tiles_take(a, grid.dim[d]);
		s.rows += grid.dim[d];
	}
	s.total = tiles_take(a, 1);
	s.mean = tiles_take(a, 1);
	return s;
}

struct cross_tables tiles_take_tables(struct tile_memory *a, size_t lines)
{
	struct cross_tables t;

	t.pad = tiles_take(a, 1);
	t.csum = tiles_take(a, 1);
	t.line[0] = tiles_take(a, lines);
	return t;
}

static size_t lines_of(const struct op_tokens *g)
{
	struct grid grid = grid_of(g);

	return grid.dim[0] + grid.dim[1] + grid.dim[2];
}

struct extent tiles_extent(const struct op_cross *p)
{
	struct extent e = {0};

	for (size_t i = 0; i < OP_TOKEN_GROUPS; i++) {
		const struct op_tokens *g = &p->groups[i];
		size_t columns = 1 + 2 * g->bands;

		if (g->ndim == 0)
			continue;
		e.lines = lines_of(g) > e.lines ? lines_of(g) : e.lines;
		e.columns = columns > e.columns ? columns : e.columns;
		e.data = g->n_data > e.data ? g->n_data : e.data;
		e.sums += g->n_data + lines_of(g) + 2;
	}
	return e;
}

void tiles_add(const struct kernels *k, float *to, const float *from)
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

void tiles_sum_channels(const struct kernels *k, const float *panel, size_t channels, float *csum)
{
	memset(csum, 0, k->nr * sizeof(float));
	for (size_t c = 0; c < channels; c++)
		tiles_add(k, csum, panel + c * k->nr);
}

/* ---- left matrices in places ----------------------------------------------------------------- */

/* x[groups of `depth` rows][width] on its way into places. */
struct token_placing {
	const struct product_kernels *products;
	struct places *to;
	const float *x;
	size_t depth, width;
	float *rows, *columns;
};

static void place_group(void *ctx, size_t i, unsigned worker)
{
	const struct token_placing *p = ctx;
	const float *x = p->x + i * p->depth * p->width;
	size_t deep = gemm_places(p->products, p->depth);

	(void)worker;
	for (size_t r = 0; r < p->depth; r++)
		p->products->pack_row(p->width, x + r * p->width,
		                      p->rows + (i * p->depth + r) * p->to->row);
	p->products->pack_columns(p->depth, p->width, x, p->width,
	                          p->columns + i * deep * p->width);
}

/* At float32 x as it is; else packed, by rows, and by columns of each group. */
static void place_matrix(struct cpu *ops, struct places *to, const float *x, size_t groups,
                         size_t depth, size_t width)
{
	size_t rows = groups * depth, deep = gemm_places(ops->products, depth);
	struct token_placing p = {ops->products, to, x, depth, width, NULL, NULL};

	to->row = gemm_places(ops->products, width);
	to->step = width;
	to->rows = to->columns = x;
	if (!ops->products->rounds)
		return;
	if (to->memory_n < rows * to->row + groups * deep * width) {
		free(to->memory);
		to->memory_n = rows * to->row + groups * deep * width;
		to->memory = floats_new(to->memory_n);
	}
	to->rows = p.rows = to->memory;
	to->columns = p.columns = to->memory + rows * to->row;
	threads_run(ops->threads, groups, place_group, &p);
}

void tiles_place(struct cpu *ops, const struct op_cross *p, size_t group)
{
	const struct op_tokens *g = &p->groups[group];
	struct folded *f = p->state;
	struct token_places *to = &f->places[group];
	size_t x = g->dim[g->ndim - 1];

	place_matrix(ops, &to->data, g->data, p->batch * g->n / x, x, g->n_data);
	for (size_t d = 0; d < g->ndim; d++)
		place_matrix(ops, &to->position[d], g->position[d], 1, g->dim[d], 1 + 2 * g->bands);
}

/* x[rows][nr], a right matrix, to places where it lies. */
static void place_rows(const struct sweep *w, size_t rows, float *x)
{
	if (w->f->products->rounds)
		w->f->products->pack(rows, w->f->kernels->nr, x, w->f->kernels->nr, 1, x);
}

const float *tiles_data_panel(const struct sweep *w, size_t group, const float *panel, float *copy)
{
	size_t nr = w->f->kernels->nr;

	if (!w->f->products->rounds)
		return panel;
	w->f->products->pack(w->p->groups[group].n_data, nr, panel, nr, 1, copy);
	return copy;
}

/* ---- products -------------------------------------------------------------------------------- */

size_t tiles_lanes(const struct sweep *w, size_t block)
{
	size_t nr = w->f->kernels->nr, left = w->p->nq - block * nr;

	return left > nr / 2 ? nr : nr / 2;
}

void tiles_fill_tables(const struct sweep *w, const struct place *at, const float *panel,
                       struct cross_tables *t, float *rows)
{
	const struct op_tokens *g = &w->p->groups[at->group];
	const struct kernels *k = w->f->kernels;
	struct grid grid = grid_of(g);
	size_t columns = 1 + 2 * g->bands, lanes = tiles_lanes(w, at->block);
	struct gemm_block product = {.m = 1,
	                             .n = lanes,
	                             .k = g->n_pad,
	                             .a = g->pad,
	                             .a_col = 1,
	                             .b = panel + (w->p->channels - g->n_pad) * k->nr,
	                             .c = t->pad,
	                             .c_row = k->nr};

	k->f32.gemm(&product);
	for (size_t d = 0; d < GRID_DIMS; d++) {
		const struct places *left;

		if (d > 0)
			t->line[d] = t->line[d - 1] + grid.dim[d - 1] * k->nr;
		if (d < grid.missing) {
			memset(t->line[d], 0, grid.dim[d] * k->nr * sizeof(float));
			continue;
		}
		left = &w->f->places[at->group].position[d - grid.missing];
		gather(g, d - grid.missing, panel, k->nr, rows);
		place_rows(w, columns, rows);
		product = (struct gemm_block){.m = grid.dim[d],
		                              .n = lanes,
		                              .k = left->row,
		                              .a = left->rows,
		                              .a_row = left->row,
		                              .a_col = 1,
		                              .b = rows,
		                              .c = t->line[d],
		                              .c_row = k->nr};
		w->f->products->gemm(&product);
	}
}

/* rows[columns][nr] = a table's columns times the sums of its lines, by some lines at a time: they
 * stay in the second cache while all columns walk down them. */
static void sum_lines(const struct sweep *w, const struct places *left, size_t lines,
                      size_t columns, size_t lanes, const float *sums, float *rows)
{
	enum { LINES = 64 };
	size_t nr = w->f->kernels->nr, places = gemm_places(w->f->products, lines);

	for (size_t i = 0; i < places; i += LINES) {
		struct gemm_block product = {.m = columns,
		                             .n = lanes,
		                             .k = places - i < LINES ? places - i : LINES,
		                             .a = left->columns + i * left->step,
		                             .a_row = 1,
		                             .a_col = left->step,
		                             .b = sums + i * nr,
		                             .c = rows,
		                             .c_row = nr,
		                             .accumulate = i > 0};

		w->f->products->gemm(&product);
	}
}

void tiles_spread_sums(const struct sweep *w, const struct place *at, const struct sums *s,
                       float *panel, float *rows)
{
	const struct op_tokens *g = &w->p->groups[at->group];
	const struct kernels *k = w->f->kernels;
	struct grid grid = grid_of(g);
	size_t columns = 1 + 2 * g->bands, nr = k->nr, channels = w->p->channels;

	k->add(panel, s->data, g->n_data * nr);
	for (size_t d = grid.missing; d < GRID_DIMS; d++) {
		const struct places *left = &w->f->places[at->group].position[d - grid.missing];

		place_rows(w, grid.dim[d], s->line[d]);
		sum_lines(w, left, grid.dim[d], columns, tiles_lanes(w, at->block), s->line[d],
		          rows);
		for (size_t c = 0; c < columns; c++)
			tiles_add(
				k,
				panel + (g->n_data + op_position_channel(g, d - grid.missing, c)) *
						nr,
				rows + c * nr);
	}
	for (size_t c = 0; c < g->n_pad; c++)
		k->add_scaled(panel + (channels - g->n_pad + c) * nr, s->total, g->pad[c], nr);
	for (size_t c = 0; c < channels; c++)
		k->add_scaled(panel + c * nr, s->mean, -1, nr);
}

void tiles_fetch_next(const struct sweep *w, const struct place *at, size_t part)
{
	const struct places *left = &w->f->places[at->group].data;
	size_t tokens = w->p->groups[at->group].n, next = at->j + at->n;
	size_t n = (tokens - next < at->n ? tokens - next : at->n) * left->row;
	const float *from = left->rows + (at->b * tokens + next) * left->row;

	for (size_t i = n * part / FETCHES; i < n * (part + 1) / FETCHES; i += 16)
		__builtin_prefetch(from + i);
}

void tiles_data_products(const struct sweep *w, const struct place *at, const float *panel,
                         float *s)
{
	const struct places *left = &w->f->places[at->group].data;
	size_t nr = w->f->kernels->nr;
	size_t token = at->b * w->p->groups[at->group].n + at->j;
	struct gemm_block product = {.m = at->n,
	                             .n = tiles_lanes(w, at->block),
	                             .k = left->row,
	                             .a = left->rows + token * left->row,
	                             .a_row = left->row,
	                             .a_col = 1,
	                             .b = panel,
	                             .c = s,
	                             .c_row = nr,
	                             .near = true};

	w->f->products->gemm(&product);
}

void tiles_data_sums(const struct sweep *w, const struct place *at, float *weights, float *data)
{
	const struct op_tokens *g = &w->p->groups[at->group];
	const struct places *left = &w->f->places[at->group].data;
	size_t nr = w->f->kernels->nr, x = g->dim[g->ndim - 1];
	size_t grid_row = (at->b * g->n + at->j - at->x) / x;
	size_t from = grid_row * gemm_places(w->f->products, x) + at->x / w->f->products->per;
	struct gemm_block product = {.m = g->n_data,
	                             .n = tiles_lanes(w, at->block),
	                             .k = gemm_places(w->f->products, at->n),
	                             .a = left->columns + from * left->step,
	                             .a_row = 1,
	                             .a_col = left->step,
	                             .b = weights,
	                             .c = data,
	                             .c_row = nr,
	                             .accumulate = true,
	                             .near = true};

	place_rows(w, at->n, weights);
	w->f->products->gemm(&product);
}

static uint64_t sample_of(const struct op_cross *p, size_t b)
{
	return p->dropout.sample != NULL ? p->dropout.sample[b] : b;
}

const float *tiles_keep(const struct sweep *w, size_t b, size_t block, size_t column, size_t n,
                        float *keep)
{
	const struct kernels *k = w->f->kernels;

	if (w->p->dropout.p == 0)
		return NULL;
	k->cross_keep(&w->p->dropout, sample_of(w->p, b), (uint32_t)(block * k->nr),
	              (uint32_t)((w->f->n_tokens + 3) / 4), column, n, keep);
	return keep;
}

struct cross_tile tiles_describe(const struct sweep *w, const struct place *at,
                                 const struct cross_tables *t, const float *row)
{
	size_t nr = w->f->kernels->nr;
	size_t token = at->b * w->f->n_tokens + w->f->first[at->group] + at->j;

	return (struct cross_tile){.n = at->n,
	                           .lanes = tiles_lanes(w, at->block),
	                           .row = row,
	                           .column = t->line[2] + at->x * nr,
	                           .mean = w->f->mean + token,
	                           .rstd = w->f->rstd + token,
	                           .bias = w->f->bias + token,
	                           .csum = t->csum};
}

void tiles_row_constant(const struct kernels *k, const struct cross_tables *t,
                        const struct place *at, float *row)
{
	memcpy(row, t->pad, k->nr * sizeof(float));
	tiles_add(k, row, t->line[0] + at->t * k->nr);
	tiles_add(k, row, t->line[1] + at->y * k->nr);
}

void tiles_each(const struct op_tokens *g, struct place *at,
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

void tiles_plain_scores(const struct kernels *k, const struct op_cross *p,
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

	k->f32.gemm(&product);
}

void tiles_plain_keep(const struct sweep *w, size_t b, size_t block, const struct plain_token *t,
                      float *one, float *sum)
{
	const struct op_tokens *g = &w->p->groups[t->group];
	size_t nr = w->f->kernels->nr;

	for (size_t i = 0; i < nr; i++)
		sum[i] = w->p->dropout.p == 0 ? (float)t->count : 0;
	for (size_t j = 0; w->p->dropout.p != 0 && j < g->n; j++) {
		if (t->masked && g->mask[b * g->n + j] == 0)
			continue;
		tiles_keep(w, b, block, w->f->first[t->group] + j, 1, one);
		tiles_add(w->f->kernels, sum, one);
	}
}
