/*
 * Ops between what a step is given and the network: clips to tokens, points to queries, outputs to
 * losses. The conventions are those of trainer/ops/ops.h.
 */
#ifndef SLIPWAY_TRAINER_OPS_OPS_DATA_H
#define SLIPWAY_TRAINER_OPS_OPS_DATA_H

#include <stddef.h>
#include <stdint.h>

/*
 * Clips as the records have them to the numbers that the model takes: video
 * [frames, plane, 3] to image [frames, 3, plane], each byte times 1/255; sound to audio, each
 * sample times 1/32768. Both products are those of float32.
 */
struct op_clip {
	size_t frames, plane, samples; /* frames and samples of all clips */
	const uint8_t *video;
	const int16_t *sound;
	float *image, *audio;
};

/* Frames cut to patches: image [frames, 3, height, width] to
 * y [frames, height / side, width / side, (dy, dx, colour)]. */
struct op_patches {
	size_t frames, height, width, side; /* frames of all clips; side divides both */
	const float *image;
	float *y;
};

/* y[rows, width] = 1 in column label[row], 0 elsewhere */
struct op_onehot {
	size_t rows, width;
	const int32_t *label; /* 0 .. width - 1 */
	float *y;
};

/* y[times, n] = x[n] in every row */
struct op_repeat {
	size_t n, times;
	const float *x;
	float *y;
	/* backward */
	const float *dy;
	float *dx; /* added to, row after row */
};

/*
 * Queries of the decoder. A row is [positions | fixed | padding]: the positions are those of the
 * point in a grid, with the channels of op_tokens (ndim * (1 + 2 * bands) of them); fixed and
 * padding are the same in every row of a group. The three together are `width` wide.
 */
struct op_query_group {
	size_t n;                   /* rows; 0: the group is not decoded */
	size_t ndim, dim[3], bands; /* ndim 0: no positions */
	const int32_t *point;       /* [n], row-major over dim; NULL without positions */
	const float *position[3];   /* [dim[d], 1 + 2 * bands] */
	size_t n_fixed, n_pad;
	const float *fixed, *pad; /* [n_fixed], [n_pad] */
	float *dfixed, *dpad;     /* backward: added to, row after row */
};

enum { OP_QUERY_GROUPS = 3 };

struct op_queries {
	size_t width;
	struct op_query_group groups[OP_QUERY_GROUPS]; /* in the order of their rows */
	float *y;                                      /* [all n, width] */
	const float *dy;                               /* backward */
};

/*
 * Absolute and squared errors of decoded points. The target of channel c of point p of a clip is
 * its value number (p / plane * channels + c) * plane + p % plane: colours of pixels, where `plane`
 * is a frame's pixels, and samples of patches, where it is 1.
 */
enum { OP_L1_ABSOLUTE, OP_L1_SQUARE, OP_L1_POWER, OP_L1_SUMS };
struct op_l1 {
	size_t batch, points, channels, plane;
	size_t clip;          /* values of a clip of `target` */
	const float *x;       /* [batch, points, channels] */
	const float *target;  /* [batch, clip] */
	const int32_t *point; /* [points], the same for every clip */
	double *sums;         /* [OP_L1_SUMS], set: |x - t|, (x - t)^2, t^2 */
	/* backward */
	double factor;
	float *dx; /* factor * sign(x - t), 0 where they are equal */
};

/*
 * Cross-entropy of rows of logits against their labels, and how often the label has the largest
 * logit, or one of the five largest; of equal logits the smaller label's counts as larger.
 */
enum { OP_ENTROPY_SUM, OP_ENTROPY_HITS, OP_ENTROPY_HITS5, OP_ENTROPY_SUMS };
struct op_entropy {
	size_t rows, width;
	const float *x;       /* [rows, width] */
	const int32_t *label; /* [rows] */
	double *sums;         /* [OP_ENTROPY_SUMS], set */
	/* backward */
	double factor;
	float *dx; /* factor * (softmax - one-hot) */
};

enum { OP_ENTROPY_TOP = 5 };

/* How many of n labels are likelier than this one, by that rule. */
size_t op_label_rank(const float *x, size_t n, size_t label);

#endif
