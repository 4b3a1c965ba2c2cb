/*
 * That no barrier of a kernel can be left out without a test seeing it: one after the other is left
 * out (tests/cuda/emulate.h), and some order of threads must then give other results or a fault.
 * One in four of the kernels as compiled for the host; where SLIPWAY_TEST_LONG is set, each, and
 * those of the PTX that is shipped. No GPU was ever asked.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/cuda/compare.h"
#include "tests/cuda/emulate.h"
#include "tests/harness.h"
#include "tests/unit/random_cross.h"
#include "trainer/cuda/launch_cross.h"
#include "trainer/ops/ops.h"

enum { ORDERS = 6, MET_MAX = 512, SOME = 4 };

/* ---- what is launched ---- */

/* Fills the op's arrays, and names its launches. */
struct scenario {
	const char *name;
	void (*draw)(struct compared *c, void *op);
	void (*launch)(struct cuda_queue *q, void *op);
	enum cuda_operands operands;
};

union any_op {
	struct op_linear linear;
	struct op_norm norm;
	struct op_attention attention;
	struct op_cross cross;
	struct op_l1 l1;
	struct op_sum_squares squares;
	struct op_count_bad bad;
};

static void draw_layer(struct compared *c, struct op_linear *p, size_t rows, size_t in, size_t out)
{
	*p = (struct op_linear){.rows = rows, .in = in, .out = out};
	p->x = compared_input(c, p->rows * p->in);
	p->w = compared_input(c, p->out * p->in);
	p->bias = compared_input(c, p->out);
	p->dy = compared_input(c, p->rows * p->out);
	p->y = compared_result(c, p->rows * p->out);
	p->dx = compared_result(c, p->rows * p->in);
	p->dw = compared_result(c, p->out * p->in);
	p->dbias = compared_result(c, p->out);
}

/* Several tiles each way, and several of the depth. */
static void draw_linear(struct compared *c, void *op)
{
	draw_layer(c, op, 130, 100, 70);
}

/* So near a large tile that small ones take as long. */
static void draw_near(struct compared *c, void *op)
{
	draw_layer(c, op, 120, 120, 120);
}

static void linear(struct cuda_queue *q, void *op)
{
	cuda_linear_forward(q, op);
	cuda_linear_backward(q, op);
}

static void linear_by_three(struct cuda_queue *q, void *op)
{
	q->by_three = true;
	linear(q, op);
	q->by_three = false;
}

static void draw_norm(struct compared *c, void *op)
{
	struct op_norm *p = op;
	size_t n = 257 * 70;

	*p = (struct op_norm){.rows = 257, .width = 70};
	p->x = compared_input(c, n);
	p->gain = compared_input(c, p->width);
	p->shift = compared_input(c, p->width);
	p->dy = compared_input(c, n);
	p->y = compared_result(c, n);
	p->mean = compared_result(c, p->rows);
	p->rstd = compared_result(c, p->rows);
	p->dx = compared_result(c, n);
	p->dgain = compared_result(c, p->width);
	p->dshift = compared_result(c, p->width);
}

static void norm(struct cuda_queue *q, void *op)
{
	cuda_norm_forward(q, op);
	cuda_norm_backward(q, op);
}

/* Several tiles of keys and of queries, and several pieces of a row. */
static void draw_scores(struct compared *c, struct op_attention *p, size_t nq, size_t nk, size_t qk)
{
	*p = (struct op_attention){.batch = 1,
	                           .heads = 1,
	                           .nq = nq,
	                           .nk = nk,
	                           .qk = qk,
	                           .v = qk,
	                           .dropout = {0.2, 7, 3, NULL}};
	p->q = compared_input(c, p->nq * p->qk);
	p->k = compared_input(c, p->nk * p->qk);
	p->values = compared_input(c, p->nk * p->v);
	p->d_o = compared_input(c, p->nq * p->v);
	p->o = compared_result(c, p->nq * p->v);
	p->lse = compared_result(c, p->nq);
	p->dq = compared_result(c, p->nq * p->qk);
	p->dk = compared_result(c, p->nk * p->qk);
	p->dvalues = compared_result(c, p->nk * p->v);
}

static void draw_attention(struct compared *c, void *op)
{
	draw_scores(c, op, 34, 70, 36);
}

static void draw_attention_half(struct compared *c, void *op)
{
	draw_scores(c, op, 66, 70, 68);
}

static void attention(struct cuda_queue *q, void *op)
{
	cuda_attention_forward(q, op);
	cuda_attention_backward(q, op);
}

/* The first of a series that is several tiles of tokens and of queries, and not many; in the wide
 * one a token's data is several pieces, too. */
static void draw_cross(struct compared *c, struct op_cross *p, size_t heads, bool wide)
{
	for (uint64_t i = 0;; i++) {
		struct philox r = philox_start(5, STREAM_SYNTHETIC, i);
		size_t n = 0;

		random_cross(&r, c, p, heads);
		for (size_t g = 0; g < OP_TOKEN_GROUPS; g++)
			n += p->groups[g].n;
		if (p->nq > 33 && n > 70 && n < 120 && wide == (p->channels > 90))
			return;
		compared_done(c);
	}
}

static void draw_wide(struct compared *c, void *op)
{
	draw_cross(c, op, 1, true);
}

static void draw_folded(struct compared *c, void *op)
{
	draw_cross(c, op, 1, false);
}

static void draw_plain(struct compared *c, void *op)
{
	draw_cross(c, op, 2, false);
}

static void cross(struct cuda_queue *q, void *op)
{
	random_cross_by_launches(q, op);
}

static void draw_l1(struct compared *c, void *op)
{
	static const int32_t points[] = {3, 0, 7, 7, 12, 1, 2, 4, 5, 6, 8, 9, 10, 11, 13, 14};
	struct op_l1 *p = op;

	*p = (struct op_l1){.batch = 3,
	                    .points = ARRAY_LEN(points),
	                    .channels = 20,
	                    .plane = 1,
	                    .clip = 16 * 20,
	                    .point = points};
	p->x = compared_input(c, p->batch * p->points * p->channels);
	p->target = compared_input(c, p->batch * p->clip);
	p->sums = compared_doubles(c, OP_L1_SUMS);
}

static void l1(struct cuda_queue *q, void *op)
{
	cuda_l1_forward(q, op);
}

static void draw_squares(struct compared *c, void *op)
{
	struct op_sum_squares *p = op;

	p->n = 1 << 16;
	p->x = compared_input(c, p->n);
	p->sum = compared_doubles(c, 1);
}

static void squares(struct cuda_queue *q, void *op)
{
	cuda_sum_squares(q, op);
}

/* Not finite everywhere, so that each warp has a part in the sum. */
static void draw_bad(struct compared *c, void *op)
{
	struct op_count_bad *p = op;
	float *x;

	p->n = 1 << 16;
	x = compared_input(c, p->n);
	for (size_t i = 0; i < p->n; i += 3)
		x[i] = NAN;
	p->x = x;
	p->count = compared_doubles(c, 1);
}

static void bad(struct cuda_queue *q, void *op)
{
	cuda_count_bad(q, op);
}

static const struct scenario scenarios[] = {
	{"a layer in f32", draw_linear, linear, OPERANDS_F32},
	{"a layer in f16", draw_linear, linear, OPERANDS_F16},
	{"a layer in bf16", draw_linear, linear, OPERANDS_BF16},
	{"a layer in tf32", draw_linear, linear, OPERANDS_TF32},
	{"a layer in f32 by three products", draw_near, linear_by_three, OPERANDS_F32},
	{"normalisation", draw_norm, norm, OPERANDS_F32},
	{"attention in f32", draw_attention, attention, OPERANDS_F32},
	{"attention in f16", draw_attention_half, attention, OPERANDS_F16},
	{"attention in bf16", draw_attention_half, attention, OPERANDS_BF16},
	{"folded cross attention in f32", draw_folded, cross, OPERANDS_F32},
	{"folded cross attention in f16", draw_folded, cross, OPERANDS_F16},
	{"folded cross attention in bf16", draw_folded, cross, OPERANDS_BF16},
	{"folded cross attention of wide tokens", draw_wide, cross, OPERANDS_F32},
	{"plain cross attention", draw_plain, cross, OPERANDS_F32},
	{"absolute errors", draw_l1, l1, OPERANDS_F32},
	{"a sum of squares", draw_squares, squares, OPERANDS_F32},
	{"a count of bad values", draw_bad, bad, OPERANDS_F32},
};

/* ---- each barrier left out in turn ---- */

/*
 * Barriers that nobody can miss, by kernel. In f32 `scores` and the sums of weighted rows end with
 * a barrier each (trainer/cuda/kernels/attention.h), and what follows most often begins with one.
 * That of fold_rows comes after a shuffle, which orders a warp's lanes here; on a device it is what
 * makes memory follow. The last one of fold_gradients is the kernel's end.
 */
static const size_t spare[KERNELS] = {
	[KERNEL_attention_forward] = 2, [KERNEL_attention_dq] = 2,   [KERNEL_attention_dk] = 2,
	[KERNEL_attention_dv] = 1,      [KERNEL_fold_rows] = 1,      [KERNEL_fold_f32_forward] = 1,
	[KERNEL_fold_f32_backward] = 2, [KERNEL_fold_gradients] = 1,
};

static enum cuda_kernel kernel_of(const struct engine *e, const struct emulated_barrier *b)
{
	size_t k = 0;

	while (k < KERNELS && e->run[k] != b->kernel)
		k++;
	return (enum cuda_kernel)k;
}

/* Whether some order of threads shows that what is left out is missed. */
static bool is_missed(struct compared *c, const struct engine *e, uint64_t right)
{
	for (unsigned i = 0; i < ORDERS; i++) {
		uint64_t sum = 0;

		if (compared_run(c, e, 7919 * i, &sum) != NULL || sum != right)
			return true;
	}
	return false;
}

/* The barriers of a family's kernels that scenarios have met. */
struct met {
	struct emulated_barrier at[MET_MAX];
	bool tried[MET_MAX], missed[MET_MAX]; /* by one of the scenarios */
	size_t n;
};

static size_t find(struct met *m, const struct emulated_barrier *b)
{
	size_t i = 0;

	while (i < m->n && m->at[i].site != b->site)
		i++;
	if (i == m->n && m->n < MET_MAX)
		m->at[m->n++] = *b;
	return i;
}

/* Each barrier of the scenario that no other has missed already. */
static void run_scenario(const struct scenario *s, const struct engine *e, struct met *m)
{
	size_t every = getenv("SLIPWAY_TEST_LONG") != NULL ? 1 : SOME;
	struct emulated_barriers found = {.n = 0}, out;
	union any_op op = {.linear = {0}};
	struct compared c = {
		.name = s->name, .op = &op, .device = s->launch, .operands = s->operands};
	uint64_t right = 0;

	s->draw(&c, &op);
	emulate_barriers(&found);
	if (compared_run(&c, e, 1, &right) != NULL)
		test_fail(__FILE__, __LINE__, s->name);
	for (size_t i = 0; i < found.n; i++) {
		size_t k = find(m, &found.at[i]);

		CHECK(k < MET_MAX);
		if (k == MET_MAX || m->missed[k] || k % every != 0)
			continue;
		out = (struct emulated_barriers){.omitted = found.at[i].site};
		emulate_barriers(&out);
		m->tried[k] = true;
		m->missed[k] = is_missed(&c, e, right);
	}
	emulate_barriers(NULL);
	compared_done(&c);
}

/* Engines with the same kernels, of which each takes some: by what the device is, products go to one
 * kernel or another. */
struct family {
	const char *name;
	size_t engines[ENGINES], n;
};
static const struct family families[] = {
	{"the host's", {0, 3, 4}, 3}, {"PTX of 7.5", {1}, 1}, {"PTX of 8.0", {2, 5}, 2}};

static bool is_layer(const struct scenario *s)
{
	return s->launch == linear || s->launch == linear_by_three;
}

static bool is_for(const struct scenario *s, const struct engine *e)
{
	bool ahead = s->operands == OPERANDS_BF16 || s->operands == OPERANDS_TF32 ||
	             s->launch == linear_by_three;

	return !ahead || e->compute >= 80;
}

/* Every kernel that has shared memory has a barrier, and a scenario here. */
static void check_kernel(const struct family *f, const struct met *m, enum cuda_kernel k)
{
	const struct engine *e = &engines[f->engines[0]];
	size_t met = 0, unmissed = 0;

	for (size_t i = 0; i < m->n; i++) {
		bool its = kernel_of(e, &m->at[i]) == k;

		met += its;
		unmissed += its && m->tried[i] && !m->missed[i];
	}
	if (met == 0 && cuda_kernels[k].shared > 0 && e->run[k] != NULL) {
		printf("# %s: no barrier of %s was met\n", f->name, cuda_kernels[k].name);
		test_fail(__FILE__, __LINE__, "a kernel without a scenario");
	}
	if (unmissed > spare[k]) {
		printf("# %s: nobody misses %zu of %zu barriers of %s, where it may be %zu\n",
		       f->name, unmissed, met, cuda_kernels[k].name, spare[k]);
		test_fail(__FILE__, __LINE__, "a barrier that nobody misses");
	}
}

static void check_family(const struct family *f)
{
	struct met *m = mem_zalloc(sizeof(*m));

	for (size_t e = 0; e < f->n; e++)
		for (size_t i = 0; i < ARRAY_LEN(scenarios); i++)
			if (is_for(&scenarios[i], &engines[f->engines[e]]) &&
			    (e == 0 || is_layer(&scenarios[i])))
				run_scenario(&scenarios[i], &engines[f->engines[e]], m);
	for (size_t k = 0; k < KERNELS; k++)
		check_kernel(f, m, (enum cuda_kernel)k);
	printf("# %s: %zu barriers\n", f->name, m->n);
	free(m);
}

static void every_barrier_is_missed(void)
{
	check_family(&families[0]);
}

static void every_barrier_of_the_text_is_missed(void)
{
	if (getenv("SLIPWAY_TEST_LONG") == NULL)
		SKIP("a long series");
	for (size_t f = 1; f < ARRAY_LEN(families); f++)
		check_family(&families[f]);
}

int main(void)
{
	TEST("races: a barrier of a kernel is missed when it is left out", every_barrier_is_missed);
	TEST("races: so is each of the PTX that is shipped", every_barrier_of_the_text_is_missed);
	return test_done();
}
