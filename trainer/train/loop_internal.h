/*
 * The state of a run of the loop, shared by the files of the loop: loop.c (steps), loop_batch.c
 * (what a micro-step reads and draws), loop_between.c (what is done between two steps) and
 * loop_setback.c (bad steps, saving, ends that are errors). For this folder only.
 */
#ifndef SLIPWAY_TRAINER_TRAIN_LOOP_INTERNAL_H
#define SLIPWAY_TRAINER_TRAIN_LOOP_INTERNAL_H

#include "trainer/train/loop.h"

enum { LOOP_MASKS = 3 };

/* What is summed over ranks besides the gradient. */
enum {
	SUM_TOTAL,
	SUM_IMAGE,
	SUM_AUDIO,
	SUM_LABEL,
	SUM_MSE_IMAGE,
	SUM_MSE_AUDIO,
	SUM_HITS,
	SUM_STOP,
	SUM_NO_CLIPS,
	SUM_DAMAGED, /* of these, those whose input is damaged: it will be the next time, too */
	SUMS
};

/* A batch that was handed to the learner before its turn. */
struct batch_ahead {
	bool ready;
	uint64_t step, first;
	int rc; /* of reading its clips; with err */
	struct err err;
};

struct train_run {
	const struct train *t;
	struct train_state *state;
	struct batch batch;
	int32_t *points;          /* image, then audio */
	float *masks[LOOP_MASKS]; /* audio, image, label; NULL when none is drawn */
	uint64_t *samples;        /* global numbers of the batch's clips */
	double sums[SUMS];
	double wait_seconds, reduce_seconds;
	unsigned n_ranks, rank;
	uint64_t steps_here; /* of this process */
	bool judged;         /* this process has evaluated */
	bool kept;           /* the learner has a last good state of this run */
	bool no_clips;       /* a rank could not read its clips in this step */
	struct err clips_err;
	struct clips blank; /* what such a rank computes with; owned */
	struct batch_ahead ahead;
};

/* ---- loop_batch.c ---- */

/* Makes room for what is drawn; loop_finish frees it. */
struct train_run loop_start(const struct train *t, struct train_state *state);
void loop_finish(struct train_run *r);

/* Reads and draws the micro-step's batch and hands it to the learner, unless that was done ahead. A
 * rank of several that cannot read its clips gets zeros and r->no_clips; a lone one fails. */
int loop_next_batch(struct train_run *r, size_t micro, struct err *err) MUST_USE;

/* While the device computes this micro-step: the same for the next one, where the learner copies
 * batches. What goes wrong is said when it is that one's turn. */
void loop_read_ahead(struct train_run *r, size_t micro);

/* ---- loop_between.c ---- */

/* Evaluates and saves what is due before the next step. *ret_on: there is to be one; otherwise
 * *ret_end says why not, and the last checkpoint is still to be saved. */
int loop_between(struct train_run *r, bool *ret_on, enum train_end *ret_end,
                 struct err *err) MUST_USE;

/* ---- loop_setback.c ---- */

/* Norms above it are spikes. */
double loop_norm_limit(const struct train_run *r);

/* Keeps count of steps that were thrown away. */
void loop_count_bad(struct train_run *r, const struct learner_verdict *v);

/* Backs off after too many bad steps in a row; ERR_LIMIT when it has done so too often. */
int loop_check_bad(struct train_run *r, const struct step_stats *s, struct err *err) MUST_USE;

int loop_save(struct train_run *r, bool last, struct err *err) MUST_USE;

/* Saves what the steps before have come to and returns -1, with *err, which ends the run. */
int loop_save_and_fail(struct train_run *r, struct err *err) MUST_USE;

#endif
