/* The folded cross attention: where its arrays lie, and its forward pass. */
#include "trainer/cuda/launch_fold.h"

#include <math.h>

#include "base/attr.h"

enum { LINE = 64 / sizeof(float) /* arrays begin at whole lines */ };

static uint32_t parts_of(size_t n, uint32_t each)
{
	return (uint32_t)((n + each - 1) / each);
}

/* ---- arrays ---- */

static struct fold_grid grid_of(const struct op_tokens *t)
{
	struct fold_grid g = {
		.n = (uint32_t)t->n, .n_data = (uint32_t)t->n_data, .n_pad = (uint32_t)t->n_pad};

	if (t->n == 0)
		return g;
	g.length = (uint32_t)(t->ndim > 0 ? t->dim[t->ndim - 1] : t->n);
	g.rows = g.n / g.length;
	g.inner = (uint32_t)(t->ndim > 1 ? t->dim[t->ndim - 2] : 0);
	g.outer = (uint32_t)(t->ndim > 2 ? t->dim[0] : 0);
	g.lines = t->ndim > 0 ? g.outer + g.inner + g.length : 0;
	g.rows_each = g.rows < FOLD_ROWS_EACH ? g.rows : FOLD_ROWS_EACH;
	g.tiles = parts_of(g.length, FOLD_TOKENS);
	g.parts = g.tiles * parts_of(g.rows, g.rows_each);
	g.width = g.n_data + FOLD_TOKENS + g.rows_each + FOLD_STATS;
	return g;
}

struct taking {
	float *at;
	size_t floats;
};

static float *take(struct taking *t, size_t n)
{
	float *ret = t->at != NULL ? t->at + t->floats : NULL;

	t->floats += (n + LINE - 1) / LINE * LINE;
	return ret;
}

static void place_group(struct taking *t, const struct op_cross *p, struct cuda_fold_group *g)
{
	size_t rows = p->batch * p->nq, lines = g->grid.lines;

	g->matrix = take(t, lines * g->pitch);
	g->mean = take(t, p->batch * g->grid.n);
	g->rstd = take(t, p->batch * g->grid.n);
	g->moments = (void *)take(t, (lines + 1) * 2 * sizeof(double) / sizeof(float));
	g->table = take(t, p->nq * lines);
	g->d_table = take(t, rows * lines);
	g->sums = take(t, g->grid.parts * rows * g->grid.width);
}

size_t cuda_fold_place(const struct op_cross *p, float *at, struct cuda_fold *ret)
{
	struct cuda_fold f = {0};
	struct taking t = {at, 0};
	size_t rows = p->batch * p->nq, c = p->channels;

	for (size_t i = 0; i < OP_TOKEN_GROUPS; i++) {
		struct cuda_fold_group *g = &f.group[i];
		const struct op_tokens *tokens = &p->groups[i];

		g->grid = grid_of(tokens);
		g->first = (uint32_t)f.tokens;
		g->chunks = parts_of(tokens->n_data, FOLD_COLUMNS);
		g->pitch = parts_of(tokens->ndim * (1 + 2 * tokens->bands), 4) * 4;
		f.tokens += tokens->n;
		place_group(&t, p, g);
	}
	const struct {
		float **array;
		size_t n;
	} arrays[] = {
		{&f.t, p->nq * c},
		{&f.q, p->nq * c},
		{&f.dq, p->nq * c},
		{&f.u, rows * c},
		{&f.z, rows * c},
		{&f.d, rows * c},
		{&f.constants, p->nq * FOLD_CONSTANTS},
		{&f.d_constants, rows * FOLD_CONSTANTS},
		{&f.lse, rows},
		{&f.kept, rows},
		{&f.delta, rows},
		{&f.d_kept, rows},
		{&f.totals, rows * OP_TOKEN_GROUPS * FOLD_TOTALS},
		{&f.slopes, p->nq * OP_TOKEN_GROUPS * FOLD_TOTALS},
		{&f.masked, OP_TOKEN_GROUPS * (c + 1)},
	};

	for (size_t i = 0; i < ARRAY_LEN(arrays); i++)
		*arrays[i].array = take(&t, arrays[i].n);
	*ret = f;
	return t.floats * sizeof(float);
}

/* ---- what both passes do ---- */

const float *cuda_fold_kept(const struct op_cross *p, const struct cuda_fold *f)
{
	return p->dropout.p > 0 ? f->kept : NULL;
}

void cuda_fold_rows(struct cuda_queue *q, const struct op_cross *p, const struct cuda_fold *f,
                    struct fold_rows_launch *l)
{
	l->gain = p->gain;
	l->masked = f->masked;
	l->channels = (uint32_t)p->channels;
	for (size_t g = 0; g < OP_TOKEN_GROUPS; g++) {
		l->pad[g] = p->groups[g].pad;
		l->n_pad[g] = f->group[g].grid.n_pad;
	}
	q->launch(q, KERNEL_fold_rows, (const unsigned[3]){parts_of(l->rows, ROW_WARPS), 1, 1}, l);
}

void cuda_fold_tables(struct cuda_queue *q, const struct op_cross *p, const struct cuda_fold *f,
                      const float *folded, size_t rows, bool of_clips)
{
	for (size_t i = 0; i < OP_TOKEN_GROUPS; i++) {
		const struct cuda_fold_group *g = &f->group[i];
		const struct op_tokens *t = &p->groups[i];
		struct product_launch l = {.a = folded + t->n_data,
		                           .b = g->matrix,
		                           .c = of_clips ? g->d_table : g->table,
		                           .m = (uint32_t)rows,
		                           .n = g->grid.lines,
		                           .k = (uint32_t)(t->ndim * (1 + 2 * t->bands)),
		                           .lda = (uint32_t)p->channels,
		                           .ldb = g->pitch,
		                           .ldc = g->grid.lines};

		cuda_multiply(q, PRODUCT_NT, &l);
	}
}

/* Forward and backward by operands, and the queries that a block owns. */
static const struct {
	enum cuda_kernel kernel[2];
	unsigned own;
} sweeps[] = {
	[OPERANDS_F32] = {{KERNEL_fold_f32_forward, KERNEL_fold_f32_backward}, ATTENTION_TILE},
	[OPERANDS_TF32] = {{KERNEL_fold_f32_forward, KERNEL_fold_f32_backward}, ATTENTION_TILE},
	[OPERANDS_F16] = {{KERNEL_fold_f16_forward, KERNEL_fold_f16_backward}, ATTENTION_HALF_ROWS},
	[OPERANDS_BF16] = {{KERNEL_fold_bf16_forward, KERNEL_fold_bf16_backward},
                           ATTENTION_HALF_ROWS},
};

void cuda_fold_sweep(struct cuda_queue *q, const struct op_cross *p, const struct cuda_fold *f,
                     bool backward)
{
	unsigned own = sweeps[q->operands].own;

	for (size_t i = 0; i < OP_TOKEN_GROUPS; i++) {
		const struct cuda_fold_group *g = &f->group[i];
		struct fold_sweep_launch l = {
			.q = {f->q, g->table, f->constants},
			.d = {f->d, g->d_table, f->d_constants},
			.data = p->groups[i].data,
			.mean = g->mean,
			.rstd = g->rstd,
			.lse = f->lse,
			.delta = f->delta,
			.d_kept = f->d_kept,
			.sums = g->sums,
			.grid = g->grid,
			.clips = (uint32_t)p->batch,
			.nq = (uint32_t)p->nq,
			.channels = (uint32_t)p->channels,
			.group = (uint32_t)i,
			.chunks = g->chunks,
			.first = g->first,
			.all = (uint32_t)f->tokens,
			.dropout = cuda_dropout(&p->dropout),
		};
		unsigned grid[3] = {parts_of(p->nq, own), g->grid.parts * g->chunks,
		                    (unsigned)p->batch};

		if (grid[0] > 0 && grid[1] > 0 && grid[2] > 0)
			q->launch(q, sweeps[q->operands].kernel[backward], grid, &l);
	}
}

/* Adds what the lines' sums make of the positions. */
static void add_positions(struct cuda_queue *q, const struct op_cross *p, const struct cuda_fold *f,
                          size_t rows, float *out)
{
	for (size_t i = 0; i < OP_TOKEN_GROUPS; i++) {
		const struct cuda_fold_group *g = &f->group[i];
		const struct op_tokens *t = &p->groups[i];
		struct product_launch l = {.a = g->d_table,
		                           .b = g->matrix,
		                           .c = out + t->n_data,
		                           .m = (uint32_t)rows,
		                           .n = (uint32_t)(t->ndim * (1 + 2 * t->bands)),
		                           .k = g->grid.lines,
		                           .lda = g->grid.lines,
		                           .ldb = g->pitch,
		                           .ldc = (uint32_t)p->channels,
		                           .accumulate = 1};

		cuda_multiply(q, PRODUCT_NN, &l);
	}
}

void cuda_fold_end_sweep(struct cuda_queue *q, const struct op_cross *p, const struct cuda_fold *f,
                         bool backward, float *out)
{
	size_t rows = backward ? p->nq : p->batch * p->nq, each = backward ? p->batch : 1;
	struct fold_totals_launch totals = {.lse = backward ? NULL : f->lse,
	                                    .kept = p->dropout.p > 0 ? f->kept : NULL,
	                                    .totals = backward ? f->slopes : f->totals,
	                                    .rows = (uint32_t)rows};
	struct fold_spread_launch spread = {.masked = f->masked,
	                                    .lse = totals.lse,
	                                    .totals = totals.totals,
	                                    .out = out,
	                                    .rows = (uint32_t)rows,
	                                    .channels = (uint32_t)p->channels};

	for (size_t i = 0; i < OP_TOKEN_GROUPS; i++) {
		const struct cuda_fold_group *g = &f->group[i];

		totals.group[i] = (struct fold_parts){.sums = g->sums,
		                                      .entries = (uint32_t)(g->grid.parts * each),
		                                      .each = (uint32_t)each,
		                                      .grid = g->grid};
		spread.group[i] = totals.group[i];
		spread.pad[i] = p->groups[i].pad;
		spread.lines[i] = g->d_table;
	}
	if (rows == 0)
		return;
	q->launch(q, KERNEL_fold_totals, (const unsigned[3]){parts_of(rows, ROW_WARPS), 1, 1},
	          &totals);
	q->launch(q, KERNEL_fold_spread, (const unsigned[3]){(unsigned)rows, 1, 1}, &spread);
	add_positions(q, p, f, rows, out);
}

void cuda_fold_scale(struct cuda_queue *q, const struct fold_scale_launch *l)
{
	if (l->n > 0)
		q->launch(q, KERNEL_fold_scale, (const unsigned[3]){cuda_each_blocks(l->n), 1, 1},
		          l);
}

/* ---- forward ---- */

static void know_lines(struct cuda_queue *q, const struct op_cross *p, const struct cuda_fold *f,
                       size_t group)
{
	const struct cuda_fold_group *g = &f->group[group];
	const struct op_tokens *t = &p->groups[group];
	struct fold_lines_launch l = {.pad = t->pad,
	                              .mask_token = t->mask != NULL ? t->mask_token : NULL,
	                              .matrix = g->matrix,
	                              .moments = g->moments,
	                              .masked = f->masked + group * (p->channels + 1),
	                              .part = 1 / (double)p->channels,
	                              .ndim = (uint32_t)t->ndim,
	                              .bands = (uint32_t)t->bands,
	                              .n_pad = (uint32_t)t->n_pad,
	                              .lines = g->grid.lines,
	                              .pitch = g->pitch,
	                              .channels = (uint32_t)p->channels};

	for (size_t d = 0; d < t->ndim; d++) {
		l.position[d] = t->position[d];
		l.dim[d] = (uint32_t)t->dim[d];
	}
	q->launch(q, KERNEL_fold_lines, (const unsigned[3]){parts_of(l.lines + 2, ROW_WARPS), 1, 1},
	          &l);
}

static void know_tokens(struct cuda_queue *q, const struct op_cross *p, const struct cuda_fold *f)
{
	for (size_t i = 0; i < OP_TOKEN_GROUPS; i++) {
		const struct cuda_fold_group *g = &f->group[i];
		struct fold_tokens_launch l = {.data = p->groups[i].data,
		                               .mask = p->groups[i].mask,
		                               .moments = g->moments,
		                               .mean = g->mean,
		                               .rstd = g->rstd,
		                               .part = 1 / (double)p->channels,
		                               .grid = g->grid,
		                               .clips = (uint32_t)p->batch};
		unsigned blocks = parts_of(p->batch * g->grid.n, ROW_WARPS);

		know_lines(q, p, f, i);
		if (blocks > 0)
			q->launch(q, KERNEL_fold_tokens, (const unsigned[3]){blocks, 1, 1}, &l);
	}
}

static void fold_queries(struct cuda_queue *q, const struct op_cross *p, const struct cuda_fold *f)
{
	struct product_launch product = {.a = p->q,
	                                 .b = p->wk,
	                                 .c = f->t,
	                                 .m = (uint32_t)p->nq,
	                                 .n = (uint32_t)p->channels,
	                                 .k = (uint32_t)p->qk,
	                                 .lda = (uint32_t)p->qk,
	                                 .ldb = (uint32_t)p->channels,
	                                 .ldc = (uint32_t)p->channels};
	struct fold_rows_launch rows = {.x = f->t,
	                                .folded = f->q,
	                                .constants = f->constants,
	                                .rows = (uint32_t)p->nq,
	                                .scale = cuda_fold_factor(p)};

	cuda_multiply(q, PRODUCT_NN, &product);
	cuda_fold_rows(q, p, f, &rows);
	cuda_fold_tables(q, p, f, f->q, p->nq, false);
}

float cuda_fold_factor(const struct op_cross *p)
{
	return (float)(1 / sqrt((double)p->qk));
}

void cuda_fold_forward(struct cuda_queue *q, const struct op_cross *p)
{
	const struct cuda_fold *f = &((const struct cuda_cross *)p->state)->fold;
	size_t rows = p->batch * p->nq;
	struct fold_scale_launch scale = {.x = f->u,
	                                  .gain = p->gain,
	                                  .shift = p->shift,
	                                  .kept = cuda_fold_kept(p, f),
	                                  .out = f->z,
	                                  .n = rows * p->channels,
	                                  .width = (uint32_t)p->channels,
	                                  .factor = 1};
	struct product_launch product = {.a = f->z,
	                                 .b = p->wv,
	                                 .c = p->context,
	                                 .m = (uint32_t)rows,
	                                 .n = (uint32_t)p->v,
	                                 .k = (uint32_t)p->channels,
	                                 .lda = (uint32_t)p->channels,
	                                 .ldb = (uint32_t)p->channels,
	                                 .ldc = (uint32_t)p->v,
	                                 .bias = p->bv,
	                                 .bias_times = cuda_fold_kept(p, f)};

	if (rows == 0)
		return;
	know_tokens(q, p, f);
	fold_queries(q, p, f);
	cuda_fold_sweep(q, p, f, false);
	cuda_fold_end_sweep(q, p, f, false, f->u);
	cuda_fold_scale(q, &scale);
	cuda_multiply(q, PRODUCT_NT, &product);
}
