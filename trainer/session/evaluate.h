/*
 * The losses of a model over a dataset, as the PyTorch program evaluates: no dropout, every label
 * hidden, freshly drawn output points per batch (the same ones in every evaluation of a seed).
 */
#ifndef SLIPWAY_TRAINER_SESSION_EVALUATE_H
#define SLIPWAY_TRAINER_SESSION_EVALUATE_H

#include "trainer/train/loop.h"

struct evaluate_options {
	uint64_t seed;
	size_t batch_size;
	uint64_t clips;                     /* in all: the last batch may have fewer than others */
	uint64_t first_batch, batch_stride; /* this rank's: its number, and the number of ranks */
	size_t image_points, audio_points;
	struct loss_weights weights;
	/* called after each batch of n clips; may be NULL. Not 0 ends the evaluation. */
	int (*progress)(void *ctx, uint64_t batch, size_t n, double seconds, struct err *err);
	void *ctx;
};

/* Sums over clips, to be added over ranks; divide by clips. */
struct evaluation {
	double total, image, audio, label, mse_image, mse_audio, hits, clips;
};

int evaluate(struct model *m, const struct clip_source *source, const struct evaluate_options *o,
             struct evaluation *ret, struct err *err) MUST_USE;

#endif
