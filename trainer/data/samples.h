/*
 * The samples of a run: sample number g is a clip of the dataset, which the order chooses, changed
 * as the augmentation says. A function of the options, the dataset and g alone.
 *
 * Thread rule: after it is made it is only read; samples_read may run in several threads.
 */
#ifndef SLIPWAY_TRAINER_DATA_SAMPLES_H
#define SLIPWAY_TRAINER_DATA_SAMPLES_H

#include "trainer/data/augment.h"
#include "trainer/data/dataset.h"

struct samples; /* opaque */

struct sample_options {
	uint64_t seed;
	struct clip_shape shape;
	bool shuffle;                   /* else in the dataset's order */
	bool balanced;                  /* every class equally often, which shuffles */
	struct augment_options augment; /* all zero: clips as they are */
};

/* The dataset is borrowed and outlives the samples. */
struct samples *samples_new(struct dataset *d, const struct sample_options *o);
void samples_free(struct samples *s);

int samples_read(void *samples, uint64_t sample, const struct clip_room *room,
                 struct err *err) MUST_USE;
/* They can be had as bytes: the dataset has bytes, and nothing is changed but where clips begin. */
bool samples_are_bytes(const struct dataset *d, const struct sample_options *o);

/* Appends where the sample's clip is. */
void samples_name(void *samples, uint64_t sample, struct strbuf *sb);

#endif
