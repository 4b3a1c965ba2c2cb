/*
 * Inside of the fast attention: what its two passes share. A task owns a block of queries of one
 * head and walks over the keys a strip at a time: a strip is eight panels wide, so that a block's
 * scores with it stay in the nearest caches from their product to their last use, and the products
 * that sum over a strip are deep enough to pay for fetching and storing what they add to.
 */
#ifndef SLIPWAY_TRAINER_OPS_ATTENTION_FAST_H
#define SLIPWAY_TRAINER_OPS_ATTENTION_FAST_H

#include "trainer/ops/cpu.h"
#include "trainer/ops/kernels.h"

enum { ATTENTION_QUERIES = 28 }; /* of a block */

/* One call. Places are those of struct product_kernels. */
struct attention_run {
	const struct kernels *kernels;
	const struct product_kernels *products;
	const struct op_attention *p;
	size_t qk_places, v_places, nq_places, nk_places;
	size_t strip, strips; /* keys of a strip */
	size_t q_blocks;
	size_t ld_qk, ld_v; /* row strides of q, k and of values, o */
	float scale;
};

/* A block of queries of one head of one clip. */
struct query_block {
	size_t b, h, q0, rows;
};

/* A strip: its first key, its keys, and these in whole halves of panels. */
struct strip {
	size_t k0, n, padded;
};

struct attention_run attention_start(const struct cpu *ops, const struct op_attention *p);

/* n up to the next multiple. */
size_t attention_up(size_t n, size_t to);

/* Lays pieces of memory out one after another, on cache lines, from `at` on; returns the values
 * they take together. With NULL it only counts. */
struct piece {
	float **to;
	size_t n;
};
size_t attention_lay_out(const struct piece *pieces, size_t n, float *at);

/* The i-th block of a head's queries, the i-th strip of its keys. */
struct query_block attention_block(const struct attention_run *r, size_t b, size_t h, size_t i);
struct strip attention_strip(const struct attention_run *r, size_t i);

/* Where a head's values begin. */
const float *attention_q(const struct attention_run *r, size_t b, size_t h);
const float *attention_k(const struct attention_run *r, size_t b, size_t h);
const float *attention_values(const struct attention_run *r, size_t b, size_t h);
size_t attention_o_at(const struct attention_run *r, size_t b, size_t h); /* in o and d_o */

/* Packs b[k, n] into panels. */
void attention_pack(const struct attention_run *r, size_t k, size_t n, const float *b, size_t b_row,
                    size_t b_col, float *out);

/* A block's rows in places, as gemm_left packs them; and the values that they take. */
size_t attention_copy_room(const struct attention_run *r, size_t n);
void attention_copy_rows(const struct attention_run *r, const struct query_block *q, size_t n,
                         const float *x, size_t x_row, float *copy);

/* s[rows, strip] = copied rows times a strip's packed keys (or values); depth in places. */
void attention_scores(const struct attention_run *r, const struct query_block *q,
                      const struct strip *strip, size_t depth, const float *copy,
                      const float *packed, float *s);

/* to[rows, n] (+)= weights[rows, strip] times the strip's packed rows, whose panels are `panel`
 * values apart; the weights are turned into places where they lie. */
struct attention_sum {
	float *weights;
	const float *packed;
	size_t panel;
	float *to;
	size_t to_row;
	bool accumulate;
};
void attention_gather(const struct attention_run *r, const struct query_block *q,
                      const struct strip *strip, size_t n, const struct attention_sum *sum);

/* Dropout factors [rows, strip] into keep; NULL when there is no dropout. */
const float *attention_keep(const struct attention_run *r, const struct query_block *q,
                            const struct strip *strip, float *keep);

#endif
