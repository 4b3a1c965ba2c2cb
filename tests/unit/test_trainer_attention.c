/*
 * Attention's backward pass has two orders of work, and takes the one that suits the number of
 * threads: both give the reference's derivatives, and the same bits.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/harness.h"
#include "trainer/ops/attention_gradient.h"
#include "trainer/ops/kernels.h"
#include "trainer/ops/philox.h"

/* What this machine does not have is passed over. */
static const char *const sets[] = {"avx512_bf16", "avx512", "avx2", "neon_bf16", "neon", "generic"};

enum { MATRICES = 8, FEW = 1, MANY = 8 };

/* q, k, values, d_o; o, dq, dk, dvalues. All have the largest one's size. */
struct matrices {
	float *at[MATRICES], *lse;
	size_t n;
};

static struct matrices matrices_of(const struct op_attention *p)
{
	size_t rows = p->batch * (p->nq > p->nk ? p->nq : p->nk);
	struct matrices m = {.n = rows * p->heads * (p->qk > p->v ? p->qk : p->v)};
	struct philox r = philox_start(1, STREAM_SYNTHETIC, 1);

	for (size_t i = 0; i < MATRICES; i++) {
		m.at[i] = mem_calloc(m.n, sizeof(float));
		for (size_t k = 0; k < m.n; k++)
			m.at[i][k] = (float)philox_normal(&r);
	}
	m.lse = mem_calloc(p->batch * p->heads * p->nq, sizeof(float));
	return m;
}

static void free_matrices(struct matrices *m)
{
	for (size_t i = 0; i < MATRICES; i++)
		free(m->at[i]);
	free(m->lse);
}

static void run(struct ops *ops, struct op_attention *p, const struct matrices *m)
{
	p->q = m->at[0];
	p->k = m->at[1];
	p->values = m->at[2];
	p->d_o = m->at[3];
	p->o = m->at[4];
	p->dq = m->at[5];
	p->dk = m->at[6];
	p->dvalues = m->at[7];
	p->lse = m->lse;
	ops->table->attention_forward(ops, p);
	ops->table->attention_backward(ops, p);
}

/* Heads and keys enough for strips on one thread, and not on many, and three strips at least on
 * every set, so that the order in which they are added up shows; several times the queries that are
 * summed at once, and no multiple of anything. Four heads are two groups of a clip, two are one. */
static struct op_attention shape(size_t heads, bool shared, double dropout)
{
	return (struct op_attention){.batch = 2,
	                             .heads = heads,
	                             .nq = 2 * GRADIENT_QUERIES + 59,
	                             .nk = 789,
	                             .qk = 5,
	                             .v = 7,
	                             .q_shared = shared,
	                             .dropout = {dropout, 7, 3, NULL}};
}

/* Root mean square of the difference, relative. */
static double distance(const float *got, const float *want, size_t n)
{
	double off = 0, size = 0;

	for (size_t i = 0; i < n; i++) {
		double d = (double)got[i] - want[i];

		off += d * d;
		size += (double)want[i] * want[i];
	}
	return sqrt(off / size);
}

static void check_set(struct ops_options o, struct op_attention *p, const struct matrices *want)
{
	struct matrices few = matrices_of(p), many = matrices_of(p);
	struct ops ops[2];
	struct attention_run a;

	o.n_threads = FEW;
	if (ops_open(&o, &ops[0])) {
		o.n_threads = MANY;
		CHECK(ops_open(&o, &ops[1]));
		a = attention_start(cpu_of(&ops[0]), p);
		CHECK(attention_strips_suit(&a, FEW));
		CHECK(!attention_strips_suit(&a, MANY));
		run(&ops[0], p, &few);
		run(&ops[1], p, &many);
		for (size_t i = 0; i < MATRICES; i++) {
			CHECK(memcmp(few.at[i], many.at[i], few.n * sizeof(float)) == 0);
			CHECK(distance(few.at[i], want->at[i], few.n) <
			      (o.precision == PRECISION_BF16 ? 0.02 : 1e-5));
		}
		ops_done(&ops[0]);
		ops_done(&ops[1]);
	}
	free_matrices(&few);
	free_matrices(&many);
}

static void check_orders(struct op_attention p)
{
	struct matrices want = matrices_of(&p);
	struct ops reference;

	CHECK(ops_open(&(struct ops_options){.reference = true}, &reference));
	run(&reference, &p, &want);
	for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
		check_set((struct ops_options){.isa = sets[i]}, &p, &want);
		check_set((struct ops_options){.isa = sets[i], .precision = PRECISION_BF16}, &p,
		          &want);
	}
	ops_done(&reference);
	free_matrices(&want);
}

static void orders_agree(void)
{
	check_orders(shape(4, false, 0));
	check_orders(shape(4, true, 0));
	check_orders(shape(2, true, 0)); /* clips that share queries follow at once */
	check_orders(shape(4, false, 0.3));
}

int main(void)
{
	TEST("attention: backward by strips and by groups of heads gives the same bits",
	     orders_agree);
	return test_done();
}
