/*
 * Reads ahead: threads fill batches, a clip at a time, while the model computes, so that the cores
 * wait only when the data is slower than the model. Knows the loop's numbering
 * (trainer/train/loop.h): after samples [first, first + n) this rank will ask for
 * [first + stride, first + stride + n).
 *
 * Unless it is told how many threads to take, it begins with one and starts another each time that
 * the model had to wait, up to loader_threads_max.
 *
 * Thread rule: one thread calls; the loader's own threads are behind it.
 */
#ifndef SLIPWAY_TRAINER_DATA_LOADER_H
#define SLIPWAY_TRAINER_DATA_LOADER_H

#include <stdbool.h>

#include "trainer/data/samples.h"
#include "trainer/train/loop.h"

struct clip_loader; /* opaque */

struct loader_options {
	struct sample_options samples;
	size_t batch;     /* clips per request */
	uint64_t stride;  /* samples from one request of this rank to its next: ranks * batch */
	unsigned threads; /* that read; 0: as many as it takes */
	unsigned ahead;   /* batches held ready, at least 1 */
	bool bytes;       /* clips as bytes (samples_are_bytes), a quarter of the memory */
};

/* Fills one clip; called by several threads at once. Errors end up with the caller of loader_next.
 */
struct sample_reader {
	int (*read)(void *ctx, uint64_t sample, const struct clip_room *room, struct err *err);
	/* clip_source.name */
	void (*name)(void *ctx, uint64_t sample, struct strbuf *sb);
	void *ctx;
};

/* The dataset is borrowed and outlives the loader. */
struct clip_loader *loader_new(struct dataset *d, const struct loader_options *o);
/* The same from another source of samples; of o->samples only the shape counts. */
struct clip_loader *loader_over(const struct sample_reader *r, const struct loader_options *o);
void loader_free(struct clip_loader *l);

/* clip_source.next: the clips stay valid until the next call. Requests out of the expected order
 * (the first, one after a resume) restart the reading ahead. */
int loader_next(void *loader, uint64_t first, size_t n, struct clips *ret, uint64_t *wait_ns,
                struct err *err);

/* clip_source.name */
void loader_name(void *loader, uint64_t sample, struct strbuf *sb);

/* What became of the requests so far. */
struct loader_counts {
	uint64_t requests;
	uint64_t waits; /* of them, those not ready when asked for, though expected */
	uint64_t clips; /* read, or not readable */
	unsigned threads;
};
struct loader_counts loader_counts(struct clip_loader *l);

/* No more than the CPUs there are, but for the first few, which rather wait for the disk; and no
 * more than there are clips to be read ahead. */
unsigned loader_threads_max(const struct loader_options *o, unsigned cpus);

#endif
