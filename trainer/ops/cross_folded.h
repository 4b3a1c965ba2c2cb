/*
 * Inside of the folded, structured cross attention (trainer/README.md derives it): what its two
 * files share. With xh the normalised token before gain and shift,
 * - scores = q'' xh^T, where q'' = gain * (s q Wk);
 * - context = (gain * U + R shift) Wv^T + R bv, where U = P xh and R = row sums of P.
 *
 * R is 1 without dropout. Keys and values are never formed; and xh is mostly tables: an image
 * token's positions depend on t, y and x apart, its padding is one constant, only its data channels
 * are its own.
 */
#ifndef SLIPWAY_TRAINER_OPS_CROSS_FOLDED_H
#define SLIPWAY_TRAINER_OPS_CROSS_FOLDED_H

#include "trainer/ops/cpu.h"
#include "trainer/ops/kernels.h"

enum {
	TILE = 64,     /* tokens of a tile, at most */
	PLAIN_MAX = 4, /* tokens of a clip that are plain vectors */
	GRID_DIMS = 3
};

/* A token, or many equal ones (all masked tokens of a modality), as a plain vector. */
struct plain_token {
	size_t group;
	bool masked;
	size_t count;
	float mean, rstd;
	float *xh; /* [channels] */
};

/*
 * The left matrices of the products over a modality's tokens, in places (struct product_kernels):
 * the data channels and the position tables, each by its rows and by its columns. At float32 these
 * are the op's own arrays, else copies that forward makes.
 */
struct places {
	const float *rows, *columns; /* [n][row], [count][width] */
	size_t row;                  /* places of a row */
	size_t step;                 /* from one place of a column to its next */
	float *memory;               /* of both, when they are copies */
	size_t memory_n;
};

struct token_places {
	struct places data; /* columns: every grid row begins a new place */
	struct places position[GRID_DIMS];
};

struct folded {
	const struct kernels *kernels;
	const struct product_kernels *products;
	struct token_places places[OP_TOKEN_GROUPS];
	size_t batch_max, blocks; /* blocks of nr latents */
	size_t n_tokens, first[OP_TOKEN_GROUPS];
	float *t;                  /* [nq, C]: s q Wk */
	float *q;                  /* panels [blocks][C][nr] of q'' */
	float *mean, *rstd, *bias; /* [batch, n_tokens] */
	float *u, *z;              /* [batch, nq, C]: U; gain U + shift, in backward dU */
	float *lse;                /* [batch, blocks, nr] */
	float *wtot;               /* [batch, groups, blocks, nr]: sum of P * rstd */
	float *kept, *dkept;       /* [batch, blocks, nr]: sum of P after dropout (1 without), its
	                              derivative */
	float *delta;              /* [batch, blocks, nr]: dU . U */
	float *dq;                 /* [nq, C]: d q'' */
	float *pad_part;           /* [blocks, groups, C]: each block's share of d pad */
	float *plain_part;         /* [blocks, batch, PLAIN_MAX, C]: of d xh of plain tokens */
	float *xh;                 /* [batch, PLAIN_MAX, C] */
	struct plain_token (*plain)[PLAIN_MAX]; /* [batch] */
	size_t *n_plain;                        /* [batch] */
};

/* One call, seen by its tasks. */
struct sweep {
	const struct op_cross *p;
	struct folded *f;
	float *work; /* per worker */
	size_t work_each;
};

/* cross_forward.c, cross_backward.c: values of scratch per worker; tasks over (clip, block) and
 * over blocks. */
size_t sweep_forward_work(const struct op_cross *p, const struct kernels *kernels);
size_t sweep_backward_work(const struct op_cross *p, const struct kernels *kernels);
void sweep_forward(void *ctx, size_t i, unsigned worker);
void sweep_backward(void *ctx, size_t i, unsigned worker);

#endif
