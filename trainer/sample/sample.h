/*
 * A clip beside what the model makes of it, for people to look at and listen to.
 */
#ifndef SLIPWAY_TRAINER_SAMPLE_SAMPLE_H
#define SLIPWAY_TRAINER_SAMPLE_SAMPLE_H

#include "trainer/train/learner.h"

/* A clip as the loader gives it, and as the model decodes it: all of it. */
struct reconstruction {
	float *image; /* [T][3][H][W] */
	float *audio; /* [samples] */
	float *label; /* [num_labels] logits */
};

/*
 * Decodes every pixel and sample of one clip, some thousand points at a time. The caller frees with
 * reconstruction_done. The label is hidden from the model.
 * Errors are the device's.
 */
int reconstruct(struct learner *l, const float *image, const float *audio, int32_t label,
                struct reconstruction *ret, struct err *err) MUST_USE;
void reconstruction_done(struct reconstruction *r);

/*
 * Writes into folder (made when missing): frame-000.png ... with the input on the left and the
 * reconstruction on the right; frames.png with all of them, inputs above; input.wav and
 * reconstruction.wav.
 */
int reconstruction_write(const char *folder, const struct model_config *c, const float *image,
                         const float *audio, const struct reconstruction *r,
                         struct err *err) MUST_USE;

#endif
