/* Ops on values and rows, and products. */
#include "trainer/cuda/launch_products.h"
#include "trainer/cuda/product_tiles.h"

enum { EACH_BLOCKS_MAX = 1024 };

static unsigned blocks_of(size_t n, unsigned each)
{
	return (unsigned)((n + each - 1) / each);
}

unsigned cuda_each_blocks(size_t n)
{
	size_t blocks = (n + EACH_THREADS - 1) / EACH_THREADS;

	return (unsigned)(blocks < EACH_BLOCKS_MAX ? blocks : EACH_BLOCKS_MAX);
}

static void launch(struct cuda_queue *q, enum cuda_kernel kernel, unsigned x, unsigned y,
                   const void *params)
{
	if (x > 0 && y > 0)
		q->launch(q, kernel, (const unsigned[3]){x, y, 1}, params);
}

/* ---- GELU ---- */

void cuda_gelu_forward(struct cuda_queue *q, const struct op_gelu *p)
{
	struct gelu_launch l = {.x = p->x, .out = p->y, .n = p->n, .form = p->form};

	launch(q, KERNEL_gelu_forward, cuda_each_blocks(p->n), 1, &l);
}

void cuda_gelu_backward(struct cuda_queue *q, const struct op_gelu *p)
{
	struct gelu_launch l = {.x = p->x, .dy = p->dy, .out = p->dx, .n = p->n, .form = p->form};

	launch(q, KERNEL_gelu_backward, cuda_each_blocks(p->n), 1, &l);
}

/* ---- sums down columns ---- */

void cuda_add_parts(struct cuda_queue *q, const float *partial, size_t n, unsigned parts,
                    size_t stride, float *out)
{
	struct add_parts_launch l = {.partial = partial,
	                             .out = out,
	                             .n = (uint32_t)n,
	                             .parts = parts,
	                             .stride = (uint32_t)stride};

	launch(q, KERNEL_add_parts, blocks_of(n, EACH_THREADS), 1, &l);
}

void cuda_add_columns(struct cuda_queue *q, const float *x, size_t rows, size_t width,
                      size_t stride, float *out)
{
	unsigned parts = blocks_of(rows, COLUMN_ROWS);
	struct column_sums_launch l = {.x = x,
	                               .partial = q->scratch(q, parts * width * sizeof(float)),
	                               .rows = (uint32_t)rows,
	                               .width = (uint32_t)width,
	                               .stride = (uint32_t)stride};

	launch(q, KERNEL_column_sums, blocks_of(width, 32), parts, &l);
	if (parts > 0)
		cuda_add_parts(q, l.partial, width, parts, width, out);
}

/* ---- layer normalisation ---- */

void cuda_norm_forward(struct cuda_queue *q, const struct op_norm *p)
{
	struct norm_forward_launch l = {.x = p->x,
	                                .gain = p->gain,
	                                .shift = p->shift,
	                                .y = p->y,
	                                .mean = p->mean,
	                                .rstd = p->rstd,
	                                .rows = (uint32_t)p->rows,
	                                .width = (uint32_t)p->width};

	launch(q, KERNEL_norm_forward, blocks_of(p->rows, ROW_WARPS), 1, &l);
}

static void norm_parameters(struct cuda_queue *q, const struct op_norm *p)
{
	unsigned parts = blocks_of(p->rows, COLUMN_ROWS);
	struct norm_sums_launch l = {.x = p->x,
	                             .dy = p->dy,
	                             .mean = p->mean,
	                             .rstd = p->rstd,
	                             .partial = q->scratch(q, parts * 2 * p->width * sizeof(float)),
	                             .rows = (uint32_t)p->rows,
	                             .width = (uint32_t)p->width};

	launch(q, KERNEL_norm_sums, blocks_of(p->width, 32), parts, &l);
	cuda_add_parts(q, l.partial, p->width, parts, 2 * p->width, p->dgain);
	cuda_add_parts(q, l.partial + p->width, p->width, parts, 2 * p->width, p->dshift);
}

void cuda_norm_backward(struct cuda_queue *q, const struct op_norm *p)
{
	struct norm_backward_launch l = {.x = p->x,
	                                 .gain = p->gain,
	                                 .mean = p->mean,
	                                 .rstd = p->rstd,
	                                 .dy = p->dy,
	                                 .dx = p->dx,
	                                 .rows = (uint32_t)p->rows,
	                                 .width = (uint32_t)p->width,
	                                 .add_dx = p->add_dx};

	if (p->rows == 0)
		return;
	norm_parameters(q, p);
	if (p->dx != NULL)
		launch(q, KERNEL_norm_backward, blocks_of(p->rows, ROW_WARPS), 1, &l);
}

/* ---- products ---- */

static void product_parts(struct cuda_queue *q, enum product_form form, unsigned parts,
                          const struct product_launch *which)
{
	struct product_launch l = *which;
	const struct product_tile *tile = product_tile_for(q, l.m, l.n, parts);
	unsigned grid[3] = {blocks_of(l.n, tile->side), blocks_of(l.m, tile->side), parts};

	l.depth_each = blocks_of(blocks_of(l.k, parts), PRODUCT_DEPTH) * PRODUCT_DEPTH;
	if (grid[0] > 0 && grid[1] > 0)
		q->launch(q, tile->kernels[form], grid, &l);
}

/*
 * In how many parts a deep product is taken: a weight's derivative has few tiles (64 of 512 x 512)
 * and as much depth as there are rows, so most of a device would have nothing to do. Decided by the
 * sizes alone, so that every device adds up in the same order; no part is empty.
 */
enum { BLOCKS_WANTED = 256, PARTS_MAX = 8, PART_DEPTH = 8 * PRODUCT_DEPTH };

static unsigned parts_of(const struct product_launch *l)
{
	unsigned blocks = blocks_of(l->n, PRODUCT_TILE) * blocks_of(l->m, PRODUCT_TILE);
	unsigned parts = l->k / PART_DEPTH;

	if (blocks == 0)
		return 1;
	parts = parts < BLOCKS_WANTED / blocks ? parts : BLOCKS_WANTED / blocks;
	parts = parts < PARTS_MAX ? parts : PARTS_MAX;
	return parts > 1 ? parts : 1;
}

/* The parts' sums are added up one after the other. */
static void deep_product(struct cuda_queue *q, const struct product_launch *l)
{
	unsigned parts = parts_of(l);
	size_t n = (size_t)l->m * l->n;
	struct product_launch part = *l;

	if (parts == 1) {
		product_parts(q, PRODUCT_TN, 1, l);
		return;
	}
	part.accumulate = 0;
	part.ldc = l->n;
	part.c = q->scratch(q, parts * n * sizeof(float));
	product_parts(q, PRODUCT_TN, parts, &part);
	cuda_add_parts(q, part.c, n, parts, n, l->c);
}

/* Added to c, whose rows lie side by side, and nothing else. */
static bool is_plain_sum(const struct product_launch *l)
{
	return l->accumulate && l->ldc == l->n && l->bias == NULL && l->residual == NULL &&
	       l->slope == NULL && l->gelu == NULL;
}

void cuda_product(struct cuda_queue *q, enum product_form form, const struct product_launch *l)
{
	if (form == PRODUCT_TN && is_plain_sum(l))
		deep_product(q, l);
	else
		product_parts(q, form, 1, l);
}

void cuda_multiply(struct cuda_queue *q, enum product_form form, const struct product_launch *l)
{
	if (q->product == NULL || !q->product(q, form, l))
		cuda_product(q, form, l);
}

/* activation NULL: none. */
static void linear_forward(struct cuda_queue *q, const struct op_linear *p,
                           const struct op_gelu *activation)
{
	struct product_launch l = {.a = p->x,
	                           .b = p->w,
	                           .c = p->y,
	                           .m = (uint32_t)p->rows,
	                           .n = (uint32_t)p->out,
	                           .k = (uint32_t)p->in,
	                           .lda = (uint32_t)p->in,
	                           .ldb = (uint32_t)p->in,
	                           .ldc = (uint32_t)p->out,
	                           .bias = p->bias,
	                           .residual = p->residual};

	if (activation != NULL) {
		l.gelu = activation->y;
		l.form = activation->form;
	}
	cuda_multiply(q, PRODUCT_NT, &l);
}

void cuda_linear_forward(struct cuda_queue *q, const struct op_linear *p)
{
	linear_forward(q, p, NULL);
}

void cuda_linear_gelu_forward(struct cuda_queue *q, const struct op_linear_gelu *p)
{
	linear_forward(q, &p->linear, &p->gelu);
}

static void linear_backward(struct cuda_queue *q, const struct op_linear *p,
                            const struct op_gelu *activation)
{
	struct product_launch dx = {.a = p->dy,
	                            .b = p->w,
	                            .c = p->dx,
	                            .m = (uint32_t)p->rows,
	                            .n = (uint32_t)p->in,
	                            .k = (uint32_t)p->out,
	                            .lda = (uint32_t)p->out,
	                            .ldb = (uint32_t)p->in,
	                            .ldc = (uint32_t)p->in,
	                            .accumulate = p->add_dx};
	struct product_launch dw = {.a = p->dy,
	                            .b = p->x,
	                            .c = p->dw,
	                            .m = (uint32_t)p->out,
	                            .n = (uint32_t)p->in,
	                            .k = (uint32_t)p->rows,
	                            .lda = (uint32_t)p->out,
	                            .ldb = (uint32_t)p->in,
	                            .ldc = (uint32_t)p->in,
	                            .accumulate = 1};

	if (activation != NULL) {
		dx.slope = activation->x;
		dx.form = activation->form;
	}
	if (p->dx != NULL)
		cuda_multiply(q, PRODUCT_NN, &dx);
	cuda_multiply(q, PRODUCT_TN, &dw);
	if (p->dbias != NULL)
		cuda_add_columns(q, p->dy, p->rows, p->out, p->out, p->dbias);
}

void cuda_linear_backward(struct cuda_queue *q, const struct op_linear *p)
{
	linear_backward(q, p, NULL);
}

void cuda_linear_gelu_backward(struct cuda_queue *q, const struct op_linear_gelu *p)
{
	linear_backward(q, &p->linear, &p->gelu);
}
