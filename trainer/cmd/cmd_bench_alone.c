/*
 * bench --bounds: ops as each thread does them when it has one of its own, all at once: the same
 * instructions, packing and traffic from the third cache, but no task that another thread waits
 * for. What a part of a step takes beyond that is for memory further away, for tasks that do not
 * come out even, and for threads that wait.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "trainer/cmd/cmd_bench.h"
#include "trainer/ops/fast.h"
#include "trainer/ops/floats.h"
#include "trainer/ops/threads.h"

/* A layer of the full configuration's encoder. */
enum { ROWS = 784, WIDTH = 512, HEADS = 8, MATRIX = ROWS * WIDTH, MATRICES = 9 };

/* A thread's own ops and matrices. */
struct alone_thread {
	struct ops ops;
	float *matrix[MATRICES];
};

static struct op_linear linear_of(float *const *m)
{
	return (struct op_linear){.rows = ROWS,
	                          .in = WIDTH,
	                          .out = WIDTH,
	                          .x = m[0],
	                          .w = m[1],
	                          .bias = m[2],
	                          .y = m[3],
	                          .dy = m[4],
	                          .dx = m[5],
	                          .dw = m[6],
	                          .dbias = m[7]};
}

static struct op_attention attention_of(float *const *m)
{
	return (struct op_attention){.batch = 1,
	                             .heads = HEADS,
	                             .nq = ROWS,
	                             .nk = ROWS,
	                             .qk = WIDTH / HEADS,
	                             .v = WIDTH / HEADS,
	                             .q = m[0],
	                             .k = m[1],
	                             .values = m[2],
	                             .o = m[3],
	                             .lse = m[4],
	                             .d_o = m[5],
	                             .dq = m[6],
	                             .dk = m[7],
	                             .dvalues = m[8]};
}

static void linear_forward(struct alone_thread *t)
{
	struct op_linear p = linear_of(t->matrix);

	t->ops.table->linear_forward(&t->ops, &p);
}

static void linear_backward(struct alone_thread *t)
{
	struct op_linear p = linear_of(t->matrix);

	t->ops.table->linear_backward(&t->ops, &p);
}

static void attention_forward(struct alone_thread *t)
{
	struct op_attention p = attention_of(t->matrix);

	t->ops.table->attention_forward(&t->ops, &p);
}

static void attention_backward(struct alone_thread *t)
{
	struct op_attention p = attention_of(t->matrix);

	t->ops.table->attention_backward(&t->ops, &p);
}

/* Which rows of the profile an op stands for: part NULL is every part. */
static const struct alone_op {
	const char *part, *op;
	void (*run)(struct alone_thread *t);
	double flop;
} alone_ops[BENCH_ALONE] = {
	{NULL, "linear forward", linear_forward, 2.0 * MATRIX *WIDTH},
	{NULL, "linear backward", linear_backward, 4.0 * MATRIX *WIDTH},
	{"self attention", "attention forward", attention_forward, 4.0 * MATRIX *ROWS},
	{"self attention", "attention backward", attention_backward, 10.0 * MATRIX *ROWS},
};

struct bench_alone {
	const struct ops *ops;
	const struct alone_op *op;
	struct alone_thread *threads; /* owned */
};

static void run_alone(void *ctx, size_t i, unsigned worker)
{
	const struct bench_alone *r = ctx;

	(void)worker;
	r->op->run(&r->threads[i]);
}

double bench_alone_once(struct bench_alone *r, size_t op)
{
	unsigned n = ops_threads(r->ops);
	double start = clock_seconds();

	r->op = &alone_ops[op];
	threads_run(cpu_of(r->ops)->threads, n, run_alone, r);
	return r->op->flop * n / (clock_seconds() - start);
}

static struct alone_thread start_thread(const struct ops *ops)
{
	struct alone_thread t = {.ops = cpu_alone(ops)};
	float *at = floats_new((size_t)MATRICES * MATRIX);

	memset(at, 0, (size_t)MATRICES * MATRIX * sizeof(float));
	for (size_t i = 0; i < MATRICES; i++)
		t.matrix[i] = at + i * MATRIX;
	return t;
}

struct bench_alone *bench_alone_new(struct ops *ops)
{
	unsigned n = ops_threads(ops);
	struct bench_alone *r = mem_zalloc(sizeof(*r));

	r->ops = ops;
	r->threads = mem_calloc(n, sizeof(r->threads[0]));
	for (unsigned i = 0; i < n; i++)
		r->threads[i] = start_thread(ops);
	return r;
}

void bench_alone_free(struct bench_alone *r)
{
	for (unsigned i = 0; i < ops_threads(r->ops); i++) {
		free(r->threads[i].matrix[0]);
		ops_done(&r->threads[i].ops);
	}
	free(r->threads);
	free(r);
}

double bench_alone_of(const struct profile_row *row, const double *share)
{
	for (size_t k = 0; k < BENCH_ALONE; k++)
		if (strcmp(row->op, alone_ops[k].op) == 0 &&
		    (alone_ops[k].part == NULL || strcmp(row->part, alone_ops[k].part) == 0))
			return share[k];
	return 0;
}
