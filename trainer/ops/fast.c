/* Linear layers, normalisation and GELU on kernels and threads; the fast tables. */
#include "trainer/ops/fast.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trainer/ops/cpu.h"
#include "trainer/ops/cross_plain.h"
#include "trainer/ops/gemm.h"
#include "trainer/ops/threads.h"

enum {
	ROWS = 32,       /* rows of a task */
	COLUMNS = 64,    /* columns of a task that sums over rows */
	VALUES = 1 << 14 /* values of a task that goes one by one */
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t tasks(size_t n, size_t each)
{
	return (n + each - 1) / each;
}

static void linear_forward(struct ops *ops, const struct op_linear *p)
{
	struct gemm g = {.m = p->rows,
	                 .n = p->out,
	                 .k = p->in,
	                 .a = p->x,
	                 .a_row = p->in,
	                 .a_col = 1,
	                 .b = p->w,
	                 .b_row = 1,
	                 .b_col = p->in,
	                 .c = p->y,
	                 .c_row = p->out,
	                 .bias = p->bias,
	                 .residual = p->residual};

	gemm(cpu_of(ops), &g);
}

struct op_call {
	const struct kernels *kernels;
	const void *op;
};

/* A slice of columns, summed over the rows in their order. */
static void sum_columns(void *ctx, size_t i, unsigned worker)
{
	const struct op_call *c = ctx;
	const struct op_linear *p = c->op;
	size_t from = i * COLUMNS;

	(void)worker;
	c->kernels->sum_rows(p->dy + from, p->rows, p->out, least(COLUMNS, p->out - from),
	                     p->dbias + from);
}

static void linear_backward(struct ops *ops, const struct op_linear *p)
{
	struct op_call c = {cpu_of(ops)->kernels, p};
	struct gemm dx = {.m = p->rows,
	                  .n = p->in,
	                  .k = p->out,
	                  .a = p->dy,
	                  .a_row = p->out,
	                  .a_col = 1,
	                  .b = p->w,
	                  .b_row = p->in,
	                  .b_col = 1,
	                  .c = p->dx,
	                  .c_row = p->in,
	                  .accumulate = p->add_dx};
	struct gemm dw = {.m = p->out,
	                  .n = p->in,
	                  .k = p->rows,
	                  .a = p->dy,
	                  .a_row = 1,
	                  .a_col = p->out,
	                  .b = p->x,
	                  .b_row = p->in,
	                  .b_col = 1,
	                  .c = p->dw,
	                  .c_row = p->in,
	                  .accumulate = true,
	                  .beside = sum_columns,
	                  .beside_ctx = &c,
	                  .beside_n = tasks(p->out, COLUMNS)};

	if (p->dx != NULL)
		gemm_both(cpu_of(ops), &dx, &dw);
	else
		gemm(cpu_of(ops), &dw);
}

static void norm_rows(void *ctx, size_t i, unsigned worker)
{
	const struct op_call *c = ctx;
	const struct op_norm *p = c->op;

	(void)worker;
	for (size_t r = i * ROWS; r < least((i + 1) * ROWS, p->rows); r++)
		c->kernels->norm(p->x + r * p->width, p->gain, p->shift, p->width,
		                 p->y + r * p->width, &p->mean[r], &p->rstd[r]);
}

static void norm_forward(struct ops *ops, const struct op_norm *p)
{
	struct op_call c = {cpu_of(ops)->kernels, p};

	threads_run(cpu_of(ops)->threads, tasks(p->rows, ROWS), norm_rows, &c);
}

static void norm_dparams(void *ctx, size_t i, unsigned worker)
{
	const struct op_call *c = ctx;
	const struct op_norm *p = c->op;
	size_t from = i * COLUMNS;
	struct norm_rows rows = {.x = p->x + from,
	                         .dy = p->dy + from,
	                         .n = p->rows,
	                         .row = p->width,
	                         .mean = p->mean,
	                         .rstd = p->rstd};

	(void)worker;
	c->kernels->norm_dparams(&rows, least(COLUMNS, p->width - from), p->dgain + from,
	                         p->dshift + from);
}

static void norm_dx(void *ctx, size_t i, unsigned worker)
{
	const struct op_call *c = ctx;
	const struct op_norm *p = c->op;

	(void)worker;
	for (size_t r = i * ROWS; r < least((i + 1) * ROWS, p->rows); r++)
		c->kernels->norm_dx(p->x + r * p->width, p->gain, p->dy + r * p->width, p->width,
		                    p->mean[r], p->rstd[r], p->add_dx, p->dx + r * p->width);
}

static void norm_backward(struct ops *ops, const struct op_norm *p)
{
	struct op_call c = {cpu_of(ops)->kernels, p};

	threads_run(cpu_of(ops)->threads, tasks(p->width, COLUMNS), norm_dparams, &c);
	if (p->dx != NULL)
		threads_run(cpu_of(ops)->threads, tasks(p->rows, ROWS), norm_dx, &c);
}

static void gelu_values(void *ctx, size_t i, unsigned worker)
{
	const struct op_call *c = ctx;
	const struct op_gelu *p = c->op;
	size_t from = i * VALUES;

	(void)worker;
	c->kernels->gelu(p->x + from, p->y + from, least(VALUES, p->n - from), p->form);
}

static void gelu_forward(struct ops *ops, const struct op_gelu *p)
{
	struct op_call c = {cpu_of(ops)->kernels, p};

	threads_run(cpu_of(ops)->threads, tasks(p->n, VALUES), gelu_values, &c);
}

static void gelu_slopes(void *ctx, size_t i, unsigned worker)
{
	const struct op_call *c = ctx;
	const struct op_gelu *p = c->op;
	size_t from = i * VALUES;

	(void)worker;
	c->kernels->gelu_dx(p->x + from, p->dy + from, p->dx + from, least(VALUES, p->n - from),
	                    p->form);
}

static void gelu_backward(struct ops *ops, const struct op_gelu *p)
{
	struct op_call c = {cpu_of(ops)->kernels, p};

	threads_run(cpu_of(ops)->threads, tasks(p->n, VALUES), gelu_slopes, &c);
}

static void attention_forward(struct ops *ops, const struct op_attention *p)
{
	attention_fast_forward(cpu_of(ops), p);
}

static void attention_backward(struct ops *ops, const struct op_attention *p)
{
	attention_fast_backward(cpu_of(ops), p);
}

/* Which of the two forms a configuration takes is decided by its heads alone. */
struct either {
	bool folded;
	void *state;
};

static void *cross_new(struct ops *ops, const struct op_cross *p)
{
	struct either *e = mem_zalloc(sizeof(*e));

	e->folded = p->heads == 1;
	e->state = e->folded ? cross_folded_new(p) : cross_plain_new(ops, p);
	return e;
}

static void cross_free(struct ops *ops, void *state)
{
	struct either *e = state;

	if (e == NULL)
		return;
	if (e->folded)
		cross_folded_free(e->state);
	else
		cross_plain_free(ops, e->state);
	free(e);
}

static void cross_forward(struct ops *ops, const struct op_cross *p)
{
	const struct either *e = p->state;
	struct op_cross inner = *p;

	inner.state = e->state;
	if (e->folded)
		cross_folded_forward(cpu_of(ops), &inner);
	else
		cross_plain_forward(ops, &inner);
}

static void cross_backward(struct ops *ops, const struct op_cross *p)
{
	const struct either *e = p->state;
	struct op_cross inner = *p;

	inner.state = e->state;
	if (e->folded)
		cross_folded_backward(cpu_of(ops), &inner);
	else
		cross_plain_backward(ops, &inner);
}

#define FAST_TABLE                                                                                 \
	.linear_forward = linear_forward, .linear_backward = linear_backward,                      \
	.norm_forward = norm_forward, .norm_backward = norm_backward,                              \
	.gelu_forward = gelu_forward, .gelu_backward = gelu_backward,                              \
	.attention_forward = attention_forward, .attention_backward = attention_backward, CPU_OPS

const struct op_table ops_fast = {
	.name = "fast",
	FAST_TABLE,
	.cross_forward = cross_forward,
	.cross_backward = cross_backward,
	.cross_state_new = cross_new,
	.cross_state_free = cross_free,
};

const struct op_table ops_fast_plain = {
	.name = "plain",
	FAST_TABLE,
	.cross_forward = cross_plain_forward,
	.cross_backward = cross_plain_backward,
	.cross_state_new = cross_plain_new,
	.cross_state_free = cross_plain_free,
};
