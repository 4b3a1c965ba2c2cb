/*
 * A learner over a dataset, as the PyTorch program evaluates: no dropout, every label hidden, newly
 * drawn output points per batch (the same ones in every evaluation of a seed). The figures are
 * those of trainer/model/metrics.h.
 *
 * Several ranks share the batches out and tell each other their sums after each, so that all have
 * the same figures at the end, bit for bit those of one rank, and none waits long for another.
 */
#ifndef SLIPWAY_TRAINER_SESSION_EVALUATE_H
#define SLIPWAY_TRAINER_SESSION_EVALUATE_H

#include "trainer/model/metrics.h"
#include "trainer/train/loop.h"

struct evaluate_options {
	uint64_t seed;
	size_t batch_size;
	uint64_t clips; /* in all: the last batch may have fewer than others */
	size_t image_points, audio_points;
	struct loss_weights weights;
	const struct reducer *reducer; /* NULL: one process */
	/* Asked before each batch: true on any rank ends the evaluation on all. NULL: never. */
	bool (*stop)(void *ctx);
	/* After each batch of this rank, of n clips; NULL: not wanted. */
	void (*progress)(void *ctx, uint64_t batch, size_t n, double seconds);
	void *ctx;
};

/* ERR_INTERRUPTED when a rank is to stop; an error of the source, which all ranks end with. */
int evaluate(struct learner *l, const struct clip_source *source, const struct evaluate_options *o,
             struct metric_sums *ret, struct err *err) MUST_USE;

#endif
