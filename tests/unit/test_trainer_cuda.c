/*
 * The kernels for NVIDIA's GPUs beside the CPU's reference ops, run where there is no GPU: compiled
 * for the host, and from the PTX that is shipped (tests/cuda). None of it was run by a GPU.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/cuda/compare.h"
#include "tests/cuda/emulate.h"
#include "tests/harness.h"
#include "trainer/cuda/kernels/device.h"
#include "trainer/cuda/kernels/entries.h"
#include "trainer/ops/ops.h"

#define CHECK_SAME(c)                                                                              \
	do {                                                                                       \
		const char *why = compare(c);                                                      \
                                                                                                   \
		if (why != NULL)                                                                   \
			test_fail(__FILE__, __LINE__, why);                                        \
	} while (0)

/* ---- ops: the reference's function and the launches of the same struct ---- */

#define OP_PAIR(name, type)                                                                        \
	static void name##_by_cpu(void *op)                                                        \
	{                                                                                          \
		struct ops ops;                                                                    \
                                                                                                   \
		CHECK(ops_open(&(struct ops_options){.reference = true}, &ops));                   \
		ops.table->name(&ops, op);                                                         \
		ops_done(&ops);                                                                    \
	}                                                                                          \
	static void name##_by_cuda(struct cuda_queue *q, void *op)                                 \
	{                                                                                          \
		cuda_##name(q, (const struct type *)op);                                           \
	}
OP_PAIR(gelu_forward, op_gelu)
OP_PAIR(gelu_backward, op_gelu)
OP_PAIR(norm_forward, op_norm)
OP_PAIR(norm_backward, op_norm)
OP_PAIR(linear_forward, op_linear)
OP_PAIR(linear_backward, op_linear)
OP_PAIR(linear_gelu_forward, op_linear_gelu)
OP_PAIR(linear_gelu_backward, op_linear_gelu)
OP_PAIR(attention_forward, op_attention)
OP_PAIR(attention_backward, op_attention)

#define COMPARED(function, limit, what)                                                            \
	{                                                                                          \
		.name = #function, .reference = function##_by_cpu, .device = function##_by_cuda,   \
		.tolerance = (limit), .op = (what)                                                 \
	}

static void gelu_is_the_cpus(void)
{
	for (size_t i = 0; i < 6; i++) {
		size_t n = (const size_t[]){1, 257, 3000}[i % 3];
		struct op_gelu op = {.n = n, .form = i < 3 ? GELU_ERF : GELU_TANH};
		struct compared c = COMPARED(gelu_forward, 4e-7, &op);

		float *x = compared_input(&c, n);

		x[0] = -200;
		x[n / 2] = 50;
		op.x = x;
		op.y = compared_result(&c, n);
		CHECK_SAME(&c);
		c = (struct compared)COMPARED(gelu_backward, 1e-6, &op);
		op.x = compared_input(&c, n);
		op.dy = compared_input(&c, n);
		op.dx = compared_result(&c, n);
		CHECK_SAME(&c);
	}
}

static const struct {
	size_t rows, width;
} norms[] = {{1, 1}, {3, 31}, {130, 40}, {9, 1026}, {257, 64}};

static void norm_is_the_cpus(void)
{
	for (size_t i = 0; i < ARRAY_LEN(norms); i++) {
		size_t n = norms[i].rows * norms[i].width;
		struct op_norm op = {.rows = norms[i].rows, .width = norms[i].width};
		struct compared c = COMPARED(norm_forward, 2e-6, &op);

		op.x = compared_input(&c, n);
		op.gain = compared_input(&c, op.width);
		op.shift = compared_input(&c, op.width);
		op.y = compared_result(&c, n);
		op.mean = compared_result(&c, op.rows);
		op.rstd = compared_result(&c, op.rows);
		c.tolerance = op.width == 1 ? 1e-4 : 2e-6; /* rstd is 316 there */
		CHECK_SAME(&c);
		for (int add = 0; add < 2; add++) {
			c = (struct compared)COMPARED(norm_backward, 1e-5, &op);
			op.add_dx = add;
			op.x = compared_input(&c, n);
			op.gain = compared_input(&c, op.width);
			op.mean = compared_input(&c, op.rows);
			op.rstd = compared_input(&c, op.rows);
			op.dy = compared_input(&c, n);
			op.dx = compared_result(&c, n);
			op.dgain = compared_result(&c, op.width);
			op.dshift = compared_result(&c, op.width);
			CHECK_SAME(&c);
		}
	}
}

/* Sizes around the tiles' edges; rows of 1, 2 and 3 values past a multiple of four. */
static const struct {
	size_t rows, in, out;
	bool residual, add;
} linears[] = {{1, 1, 1, false, false},
               {3, 5, 7, true, true},
               {64, 32, 64, false, false},
               {65, 33, 66, true, false},
               {130, 70, 36, true, true},
               {2600, 9, 7, false, false}, /* a weight's derivative in 8 parts */
               {200, 50, 150, true, true}, /* large tiles, where multiprocessors are few */
               {256, 64, 128, false, false}};

static void take_linear(struct compared *c, struct op_linear *op, size_t i)
{
	*op = (struct op_linear){
		.rows = linears[i].rows, .in = linears[i].in, .out = linears[i].out};
	op->x = compared_input(c, op->rows * op->in);
	op->w = compared_input(c, op->out * op->in);
	op->bias = compared_input(c, op->out);
}

static void products_are_the_cpus(void)
{
	for (size_t i = 0; i < ARRAY_LEN(linears); i++) {
		struct op_linear op;
		struct compared c = COMPARED(linear_forward, 1e-5, &op);

		take_linear(&c, &op, i);
		op.residual = linears[i].residual ? compared_input(&c, op.rows * op.out) : NULL;
		op.y = compared_result(&c, op.rows * op.out);
		CHECK_SAME(&c);
		/* sums of 2600 products round more than sums of 130 */
		c = (struct compared)COMPARED(linear_backward, op.rows > 1000 ? 1e-4 : 2e-5, &op);
		take_linear(&c, &op, i);
		op.add_dx = linears[i].add;
		op.dy = compared_input(&c, op.rows * op.out);
		op.dx = i == 2 ? NULL : compared_result(&c, op.rows * op.in);
		op.dw = compared_result(&c, op.out * op.in);
		op.dbias = compared_result(&c, op.out);
		CHECK_SAME(&c);
	}
}

/* To what the products round: then the reference's, of the rounded values, is theirs. */
static void round_all(struct compared *c)
{
	for (size_t k = 0; k < c->n; k++) {
		float *x = c->arrays[k].at;

		for (size_t i = 0; i < c->arrays[k].n && !c->arrays[k].result; i++)
			x[i] = c->operands == OPERANDS_F32    ? x[i]
			       : c->operands == OPERANDS_TF32 ? tf32_value(tf32_bits(x[i]))
			       : c->operands == OPERANDS_BF16 ? bf16_value(bf16_bits(x[i]))
			                                      : f16_value(f16_bits(x[i]));
	}
}

static void products_round_their_operands(void)
{
	static const enum cuda_operands formats[] = {OPERANDS_F16, OPERANDS_BF16, OPERANDS_TF32};
	enum { FORMATS = ARRAY_LEN(formats) };

	for (size_t i = 0; i < FORMATS * ARRAY_LEN(linears); i++) {
		struct op_linear op;
		struct compared c = COMPARED(linear_forward, 1e-5, &op);
		enum cuda_operands operands = formats[i % FORMATS];

		c.operands = operands;
		take_linear(&c, &op, i / FORMATS);
		op.y = compared_result(&c, op.rows * op.out);
		round_all(&c);
		CHECK_SAME(&c);
		c = (struct compared)COMPARED(linear_backward, 2e-5, &op);
		c.operands = operands;
		take_linear(&c, &op, i / FORMATS);
		op.dy = compared_input(&c, op.rows * op.out);
		op.dx = compared_result(&c, op.rows * op.in);
		op.dw = compared_result(&c, op.out * op.in);
		op.dbias = compared_result(&c, op.out);
		round_all(&c);
		CHECK_SAME(&c);
	}
}

/* As far from the CPU's as multiply-adds are, and not as tf32 is. */
static void linear_forward_by_three(struct cuda_queue *q, void *op)
{
	q->by_three = true;
	cuda_linear_forward(q, op);
}
static void linear_backward_by_three(struct cuda_queue *q, void *op)
{
	q->by_three = true;
	cuda_linear_backward(q, op);
}

static void three_products_are_the_cpus(void)
{
	for (size_t i = 0; i < ARRAY_LEN(linears); i++) {
		struct op_linear op;
		struct compared c = COMPARED(linear_forward, 1e-5, &op);

		c.device = linear_forward_by_three;
		c.since = 80;
		take_linear(&c, &op, i);
		op.residual = linears[i].residual ? compared_input(&c, op.rows * op.out) : NULL;
		op.y = compared_result(&c, op.rows * op.out);
		CHECK_SAME(&c);
		c = (struct compared)COMPARED(linear_backward, op.rows > 1000 ? 1e-4 : 2e-5, &op);
		c.device = linear_backward_by_three;
		c.since = 80;
		take_linear(&c, &op, i);
		op.add_dx = linears[i].add;
		op.dy = compared_input(&c, op.rows * op.out);
		op.dx = compared_result(&c, op.rows * op.in);
		op.dw = compared_result(&c, op.out * op.in);
		op.dbias = compared_result(&c, op.out);
		CHECK_SAME(&c);
	}
}

/* GELU of both forms at the end of a product, and its derivative at that of another. */
static void products_end_with_gelu(void)
{
	for (size_t i = 0; i < 2 * ARRAY_LEN(linears); i++) {
		struct op_linear_gelu op;
		struct compared c = COMPARED(linear_gelu_forward, 1e-5, &op);

		take_linear(&c, &op.linear, i / 2);
		op.linear.y = compared_result(&c, op.linear.rows * op.linear.out);
		op.gelu = (struct op_gelu){.n = op.linear.rows * op.linear.out,
		                           .form = i % 2 ? GELU_TANH : GELU_ERF,
		                           .x = op.linear.y};
		op.gelu.y = compared_result(&c, op.gelu.n);
		CHECK_SAME(&c);
		c = (struct compared)COMPARED(linear_gelu_backward,
		                              op.linear.rows > 1000 ? 1e-4 : 2e-5, &op);
		take_linear(&c, &op.linear, i / 2);
		op.linear.dy = compared_input(&c, op.linear.rows * op.linear.out);
		op.linear.dx = compared_result(&c, op.linear.rows * op.linear.in);
		op.linear.dw = compared_result(&c, op.linear.out * op.linear.in);
		op.linear.dbias = compared_result(&c, op.linear.out);
		op.gelu.n = op.linear.rows * op.linear.in;
		op.gelu.x = compared_input(&c, op.gelu.n);
		op.gelu.dy = op.gelu.dx = op.linear.dx;
		CHECK_SAME(&c);
	}
}

static const struct {
	size_t batch, heads, nq, nk, qk, v;
	bool shared;
	double dropout;
} attentions[] = {{1, 1, 3, 4, 2, 3, false, 0},
                  {2, 3, 5, 9, 4, 2, false, 0},
                  {2, 2, 40, 70, 8, 5, true, 0},
                  {2, 2, 7, 37, 4, 4, false, 0.3},
                  {1, 1, 33, 34, 36, 140, true, 0.5}};

/* Beside rounded inputs, what 16 bits add is the rounding of probabilities and derivatives. */
static void check_attentions(enum cuda_operands operands, double forward, double backward)
{
	for (size_t i = 0; i < ARRAY_LEN(attentions); i++) {
		size_t q = (attentions[i].shared ? 1 : attentions[i].batch) * attentions[i].nq *
		           attentions[i].heads * attentions[i].qk;
		static const uint64_t samples[] = {5, 1ull << 40};
		struct op_attention op = {
			.batch = attentions[i].batch,
			.heads = attentions[i].heads,
			.nq = attentions[i].nq,
			.nk = attentions[i].nk,
			.qk = attentions[i].qk,
			.v = attentions[i].v,
			.q_shared = attentions[i].shared,
			.dropout = {attentions[i].dropout, 7, 3, i == 3 ? samples : NULL}};
		size_t k = op.batch * op.nk * op.heads * op.qk;
		size_t v = op.batch * op.nk * op.heads * op.v;
		size_t o = op.batch * op.nq * op.heads * op.v;
		struct compared c = COMPARED(attention_forward, forward, &op);

		op.q = compared_input(&c, q);
		op.k = compared_input(&c, k);
		op.values = compared_input(&c, v);
		op.o = compared_result(&c, o);
		op.lse = compared_result(&c, op.batch * op.heads * op.nq);
		c.operands = operands;
		round_all(&c);
		CHECK_SAME(&c);
		c = (struct compared)COMPARED(attention_backward, backward, &op);
		op.q = compared_input(&c, q);
		op.k = compared_input(&c, k);
		op.values = compared_input(&c, v);
		op.o = compared_input(&c, o);
		op.lse = compared_input(&c, op.batch * op.heads * op.nq);
		op.d_o = compared_input(&c, o);
		c.operands = operands;
		round_all(&c);
		attention_forward_by_cpu(&op); /* backward reads o and lse */
		op.dq = compared_result(&c, q);
		op.dk = compared_result(&c, k);
		op.dvalues = compared_result(&c, v);
		CHECK_SAME(&c);
	}
}

static void attention_is_the_cpus(void)
{
	check_attentions(OPERANDS_F32, 1e-5, 2e-5);
}

static void attention_of_16_bits_rounds_its_operands(void)
{
	check_attentions(OPERANDS_F16, 1e-3, 3e-3);
	check_attentions(OPERANDS_BF16, 8e-3, 2.4e-2);
}

int main(void)
{
	TEST("cuda: GELU and its derivative are the CPU's", gelu_is_the_cpus);
	TEST("cuda: layer normalisation is the CPU's", norm_is_the_cpus);
	TEST("cuda: products in f32 are the CPU's", products_are_the_cpus);
	TEST("cuda: products in f16, bf16 and tf32 are the CPU's of rounded operands",
	     products_round_their_operands);
	TEST("cuda: products in f32 by three in tf32 are the CPU's", three_products_are_the_cpus);
	TEST("cuda: products end with GELU and with its derivative", products_end_with_gelu);
	TEST("cuda: attention is the CPU's, with the same dropout", attention_is_the_cpus);
	TEST("cuda: attention in f16 and bf16 is the CPU's of rounded operands",
	     attention_of_16_bits_rounds_its_operands);
	return test_done();
}
