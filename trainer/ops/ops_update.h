/*
 * Ops over whole sets of tensors (trainer/model/tensors.h: one array, tensors padded to 16 values
 * with zeros): what an optimizer step is made of. n is a multiple of 16. The conventions are those
 * of trainer/ops/ops.h; each value is computed by itself in float32, in the order written here, so
 * that a run goes on with the same bits on any number of threads.
 */
#ifndef SLIPWAY_TRAINER_OPS_OPS_UPDATE_H
#define SLIPWAY_TRAINER_OPS_OPS_UPDATE_H

#include <stddef.h>
#include <stdint.h>

/* *sum = the sum of x^2, in double: infinite or NaN when a value is */
struct op_sum_squares {
	size_t n;
	const float *x;
	double *sum;
};

/* *count = how many values are infinite or NaN */
struct op_count_bad {
	size_t n;
	const float *x;
	double *count;
};

/*
 * What changes from update to update, in the device's memory, so that a recorded step
 * (trainer/ops/recording.h) has no figure of its own. Doubles first: the device's twin is struct
 * update_terms of trainer/cuda/kernels/args.h.
 */
struct op_terms {
	/* the host's, when the step begins */
	double unscale;               /* gradients times it are those of one rank's unscaled loss */
	double max_norm;              /* their norm is clipped to it; 0: it is not */
	double limit;                 /* a norm above it is a spike; infinite: none is */
	float lr, correct1, correct2; /* correct: 1 / (1 - beta^t) */
	float average;                /* weight of the new weights in their average; 1: a copy */
	uint32_t barred;              /* the step is thrown away whatever its figures are */
	/* the device's, by op_vote and op_judge; or the host's, which then asks for neither */
	uint32_t goes; /* the update is made; 0: it changes nothing */
	float vote;    /* not 0: some rank's losses are not finite, or it is barred */
	float scale;   /* of the gradients: unscale, and clipping */
};

/* terms->vote = 1 where terms->barred or one of figures[n] is not finite, else 0 */
struct op_vote {
	size_t n;
	const double *figures;
	struct op_terms *terms;
};

/*
 * *norm = sqrt(*squares) * unscale. terms->goes, and *goes, is 1 where the vote is 0 and the norm
 * is finite and within the limit; terms->scale = unscale * min(1, max_norm / (norm + 1e-6)). In
 * double, each operation rounded as IEEE 754 has it: the same bits everywhere.
 */
struct op_judge {
	const double *squares;
	struct op_terms *terms;
	double *norm, *goes;
};

/*
 * By the device's terms, and nothing where terms->goes is 0.
 * SGD:   m = momentum * m + (scale * g + decay * p);  p -= lr * m
 * AdamW: m = beta1 * m + (1 - beta1) * g';  v = beta2 * v + (1 - beta2) * g' * g', g' = scale * g;
 *        p = p * (1 - lr * decay) - lr * (m * correct1) / (sqrt(v * correct2) + eps)
 */
struct op_update {
	size_t n;
	float *p, *m, *v; /* v: AdamW */
	const float *g;
	const struct op_terms *terms; /* scale, lr, correct1, correct2 */
	float decay, momentum;
	float beta1, beta2, eps;
};

/* a += terms->average * (b - a), and nothing where terms->goes is 0; a = b where average is 1 */
struct op_average {
	size_t n;
	float *a;
	const float *b;
	const struct op_terms *terms;
};

/* Changes the values of a and b with each other. */
struct op_exchange {
	size_t n;
	float *a, *b;
};

#endif
