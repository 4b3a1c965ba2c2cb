/*
 * The encoder's cross attention as launches. With one head it is folded: no keys, no values, and
 * tokens that are never formed (trainer/README.md). With several it is plain: tokens are formed,
 * normalised and projected to keys and values, and attended to. What forward leaves for backward
 * lies in one array of the device's memory.
 */
#ifndef SLIPWAY_TRAINER_CUDA_LAUNCH_CROSS_H
#define SLIPWAY_TRAINER_CUDA_LAUNCH_CROSS_H

#include "trainer/cuda/launch.h"

struct cuda_plain {
	size_t tokens; /* of a clip */
	/* Of all clips: tokens; normalised, and later their derivative; its own derivative */
	float *x, *norm, *dnorm;
	float *mean, *rstd, *keys, *values, *dkeys, *dvalues;
	float *lse; /* [batch, heads, nq] */
};

/* A group's tokens; rows are those of the queries, of all clips where it says [batch]. */
struct cuda_fold_group {
	struct fold_grid grid;
	uint32_t first, chunks, pitch; /* its first token; FOLD_COLUMNS of data; of the matrix */
	float *matrix, *mean, *rstd;   /* [lines, pitch]; [batch, n] */
	double *moments;
	float *table;   /* [nq, lines]: products with q'' */
	float *d_table; /* [batch, nq, lines]: products with dU; before and after, sums by line */
	float *sums;    /* [parts, batch, nq, width] */
};

struct cuda_fold {
	struct cuda_fold_group group[OP_TOKEN_GROUPS];
	size_t tokens;
	float *t, *q, *dq; /* [nq, channels]: q Wk / sqrt(qk), q'', its derivative */
	float *u, *z, *d;  /* [batch, nq, channels]: U, gain U + kept shift, dU */
	float *constants, *d_constants;
	float *lse, *kept, *delta, *d_kept; /* [batch, nq] */
	float *totals, *slopes;             /* of forward [batch, nq], of backward [nq] */
	float *masked;                      /* [groups, channels + 1] */
};

/* What struct op_cross's state points at: the host's, of addresses on the device. */
struct cuda_cross {
	struct cuda_plain plain;
	struct cuda_fold fold;
};

/* Bytes of the array that *ret's members lie in, which begins at `at`; of p the shape alone is
 * read. With at NULL only the bytes are of use. */
size_t cuda_cross_place(const struct op_cross *p, float *at, struct cuda_cross *ret);
size_t cuda_plain_place(const struct op_cross *p, float *at, struct cuda_plain *ret);
size_t cuda_fold_place(const struct op_cross *p, float *at, struct cuda_fold *ret);

void cuda_cross_forward(struct cuda_queue *q, const struct op_cross *p);
void cuda_cross_backward(struct cuda_queue *q, const struct op_cross *p);

/* The two forms, whatever the number of heads; for this folder and its tests. */
void cuda_plain_forward(struct cuda_queue *q, const struct op_cross *p);
void cuda_plain_backward(struct cuda_queue *q, const struct op_cross *p);
void cuda_fold_forward(struct cuda_queue *q, const struct op_cross *p);
void cuda_fold_backward(struct cuda_queue *q, const struct op_cross *p);

#endif
