/*
 * What a model takes videos for: the label's logits, averaged over a video's clips, as
 * probabilities. Labels are hidden from the model, as in an evaluation.
 */
#ifndef SLIPWAY_TRAINER_CLASSIFY_CLASSIFY_H
#define SLIPWAY_TRAINER_CLASSIFY_CLASSIFY_H

#include "trainer/data/dataset.h"
#include "trainer/train/learner.h"

enum { CLASSIFY_TOP = 5 };

struct classified {
	size_t n;                         /* entries of the two; at most CLASSIFY_TOP */
	size_t label[CLASSIFY_TOP];       /* the most probable first; ties by number */
	double probability[CLASSIFY_TOP]; /* among the labels that can be meant, 0 to 1 */
};

struct classify_options {
	size_t batch_size; /* clips at a time */
	/* Labels 0 .. n - 1 can be meant: those with a name, where any has one. The others of a
	 * head were never taught. */
	size_t n_labels;
	/* called after each video, done of all; not 0 ends the work. May be NULL. */
	int (*progress)(void *ctx, size_t done, size_t all, struct err *err);
	void *ctx;
};

/* The n best of `logits` as a distribution over them all. Pure. */
void classify_rank(const double *logits, size_t n, struct classified *ret);

/* ret[i]: entry i of dataset_contents(d), whose shape is the model's. Errors are those of reading a
 * clip, of the device, and of progress. */
int classify_dataset(struct learner *l, struct dataset *d, const struct classify_options *o,
                     struct classified *ret, struct err *err) MUST_USE;

#endif
