/*
 * Augmentation: what is changed in a clip before the model sees it, in training alone. All of it is
 * done to the decoded clip on the host, before the model, so whatever computes the model gets it.
 *
 * What happens to a sample is a function of the seed and the sample's number (Philox, a stream of
 * its own and a counter for each kind), so it is the same on any number of ranks and threads, and
 * after a resume; switching one kind on or off does not move the others.
 *
 * The crop is that of Szegedy et al., "Going deeper with convolutions" (2014), section 6: a window
 * of random area and aspect is stretched to the frame, here by bilinear interpolation between the
 * pixels of the window alone. One window, one flip and one gain serve the whole clip.
 *
 * Pure: nothing is read, kept or shared.
 */
#ifndef SLIPWAY_TRAINER_DATA_AUGMENT_H
#define SLIPWAY_TRAINER_DATA_AUGMENT_H

#include <stdbool.h>

#include "trainer/data/shard.h"

/* All zero: nothing is changed. */
struct augment_options {
	double offset; /* share of the clips that begin at a random frame */
	double crop;   /* least share of a frame's area that a window has; 0 or 1: whole frames */
	double flip;   /* share of the clips that are mirrored, left to right */
	double gain;   /* decibels by which sound is made louder or softer at most */
};

/* What is done to one clip. */
struct augment {
	uint32_t later;               /* frames, 0 .. frames - 1: see dataset_clip_later */
	uint32_t x, y, width, height; /* the window, in pixels */
	bool flip;
	double gain; /* factor of the samples' values */
};

/* AUGMENT_ASPECT: the window's sides may differ, relative to the frame's, by a third. */
#define AUGMENT_ASPECT (4.0 / 3.0)

struct augment augment_draw(const struct augment_options *o, const struct clip_shape *shape,
                            uint64_t seed, uint64_t sample);

/*
 * Changes a clip in place, all but its beginning: image [T][3][H][W], audio [samples]. A gain that
 * would take the loudest sample beyond 1 is lowered until it does not.
 */
void augment_apply(const struct augment *a, const struct clip_shape *shape, float *image,
                   float *audio);

#endif
