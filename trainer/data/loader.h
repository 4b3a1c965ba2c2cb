/*
 * Reads ahead: threads fill batches while the model computes, so that the cores wait only when the
 * data is slower than the model. Knows the loop's numbering (trainer/train/loop.h): after samples
 * [first, first + n) this rank will ask for [first + stride, first + stride + n).
 *
 * Thread rule: one thread calls; the loader's own threads are behind it.
 */
#ifndef SLIPWAY_TRAINER_DATA_LOADER_H
#define SLIPWAY_TRAINER_DATA_LOADER_H

#include <stdbool.h>

#include "trainer/data/dataset.h"
#include "trainer/train/loop.h"

struct clip_loader; /* opaque */

struct loader_options {
	uint64_t seed;
	struct clip_shape shape;
	bool shuffle;
	size_t batch;     /* clips per request */
	uint64_t stride;  /* samples from one request of this rank to its next: ranks * batch */
	unsigned threads; /* at least 1 */
	unsigned ahead;   /* batches held ready, at least 1 */
};

/* The dataset is borrowed and outlives the loader. */
struct clip_loader *loader_new(struct dataset *d, const struct loader_options *o);
void loader_free(struct clip_loader *l);

/* clip_source.next: the clips stay valid until the next call. Requests out of the expected order
 * (the first, one after a resume) restart the reading ahead. */
int loader_next(void *loader, uint64_t first, size_t n, struct clips *ret, uint64_t *wait_ns,
                struct err *err);

/* clip_source.name */
void loader_name(void *loader, uint64_t sample, struct strbuf *sb);

#endif
