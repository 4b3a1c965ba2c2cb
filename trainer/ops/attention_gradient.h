/*
 * The steps of attention's backward pass on a block of queries and a strip of keys, which its two
 * orders of work share: in groups of heads (attention_backward.c), which has many small tasks, and
 * by strips (attention_strips.c), which keeps P and dS in the second cache. Both make the same sums
 * in the same order, so that their bits are the same.
 */
#ifndef SLIPWAY_TRAINER_OPS_ATTENTION_GRADIENT_H
#define SLIPWAY_TRAINER_OPS_ATTENTION_GRADIENT_H

#include "trainer/ops/attention_fast.h"

/*
 * Places of queries whose P and dS are summed into dk and dv at a time: their part of a packed
 * panel stays in the first cache, and their weights in the second, while all keys of the strip walk
 * over them. Whole blocks of queries, at one value in a place and at two.
 */
enum { GRADIENT_QUERIES = 4 * ATTENTION_QUERIES };

/* A task's memory for a block of queries. */
struct gradient_work {
	float *q, *d_o, *keep, *prob, *ds;
};

/* A strip's packed keys and values by channel; where a block's P and dS go, in places. */
struct gradient_strip {
	struct strip strip;
	const float *keys_t, *values_t;
	float *prob, *ds;
};

/* Values that the work takes; lays it out from `at` on unless that is NULL. */
size_t gradient_lay_out(const struct attention_run *a, float *at, struct gradient_work *w);

/* delta = d_o . o of the block's rows, which is the sum of P dP. */
void gradient_deltas(const struct attention_run *a, const struct query_block *q, float *delta);

/* Copies the block's rows of q and d_o. */
void gradient_start(const struct attention_run *a, const struct query_block *q,
                    const struct gradient_work *w);

/* P and dS of the block, whose delta is given, with the strip's keys. Returns dS as floats, for
 * attention_gather. */
float *gradient_tile(const struct attention_run *a, const struct query_block *q, const float *delta,
                     const struct gradient_strip *s, const struct gradient_work *w);

/* One head's share of dq from `from`, row by row; queries that clips share add up over these. */
void gradient_finish(const struct attention_run *a, const struct query_block *q, const float *from,
                     size_t row);

/*
 * to[keys of the strip, n] (+)= kept^T times packed rows by query: `places` of them, at most
 * GRADIENT_QUERIES, whose panels are `panel` values apart.
 */
struct gradient_sum {
	size_t places, panel;
	const float *kept, *packed;
	float *to;
	size_t to_row;
	bool accumulate;
};
void gradient_sum(const struct attention_run *a, const struct strip *strip, size_t n,
                  const struct gradient_sum *s);

/* attention_strips.c: whether its tasks are enough for the threads and small enough for the second
 * cache; and the backward pass in its order. */
bool attention_strips_suit(const struct attention_run *a, unsigned threads);
void attention_strips_backward(struct cpu *ops, const struct attention_run *a);

#endif
