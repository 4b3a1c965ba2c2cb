/*
 * The training loop. It owns neither data nor files nor sockets: it is given callbacks for each and
 * a learner, and drives them. Order of a step: for each micro-step next_batch, draw masks and
 * points, accumulate; then sum over the ranks, clip, apply; then on_step; then save when due.
 *
 * Every random draw is Philox keyed by (seed, stream, step, global sample), so a run continued from
 * a checkpoint, or on another number of ranks, sees the same numbers.
 */
#ifndef SLIPWAY_TRAINER_TRAIN_LOOP_H
#define SLIPWAY_TRAINER_TRAIN_LOOP_H

#include "trainer/train/learner.h"
#include "trainer/train/loss_scale.h"

/* Clips for one micro-step; memory is the source's, valid until its next call. */
struct clips {
	const float *image;   /* [B, T, 3, H, W] */
	const float *audio;   /* [B, samples] */
	const int32_t *label; /* [B] */
	/* or, in the place of image and audio, as struct batch has them */
	const uint8_t *video;
	const int16_t *sound;
};

struct clip_source {
	/*
	 * Clips with the global numbers [first, first + n) of the run's sample sequence (the source
	 * maps them to epoch, permutation and shard). A rank asks for its own ones. Adds to
	 * *wait_ns the time that it had nothing ready.
	 */
	int (*next)(void *ctx, uint64_t first, size_t n, struct clips *ret, uint64_t *wait_ns,
	            struct err *err);
	void *ctx;
	uint64_t epoch_clips; /* samples per epoch over all ranks; 0: endless */
	/* Appends where sample number `sample` comes from, for messages; NULL: not known. */
	void (*name)(void *ctx, uint64_t sample, struct strbuf *sb);
};

/* Sum over ranks; a single process has none (NULL pointers). */
struct reducer {
	unsigned rank, n_ranks; /* n_ranks 0 counts as 1 */
	/* sums values[n] over the ranks, in place; returns after all have it */
	int (*sum_f32)(void *ctx, float *values, size_t n, struct err *err);
	int (*sum_f64)(void *ctx, double *values, size_t n, struct err *err);
	/* optional pair: begin a sum while backward goes on; wait for all begun. After an error of
	 * either no values that were given are touched any more. */
	int (*begin_f32)(void *ctx, float *values, size_t n, struct err *err);
	int (*wait)(void *ctx, struct err *err);
	void *ctx;
	/* begin_f32 takes what lies in the memory of the learner's device; else the host's */
	bool on_device;
};

struct step_stats {
	uint64_t step;       /* optimizer steps done, this one included: 1, 2, ... */
	uint64_t epoch;      /* from 0; 0 for an endless source */
	uint64_t first_clip; /* number of its first clip in the run's sequence */
	double lr;
	struct losses losses;  /* mean over micro-steps and ranks */
	double grad_norm;      /* before clipping, after the reduction; of the loss unscaled */
	double loss_scale;     /* that the gradients were computed with; 1 but in f16 */
	bool skipped;          /* not finite or a spike: no update */
	size_t clips;          /* in this step, over all ranks */
	double seconds;        /* wall time since the previous step's end */
	double wait_seconds;   /* of it, waiting for clips */
	double reduce_seconds; /* of it, waiting for the other ranks */
};

/* All that a resumed run needs besides parameters and optimizer state. */
struct train_state {
	uint64_t step;      /* optimizer steps done */
	uint64_t sample;    /* global clips consumed */
	uint64_t bad_steps; /* in a row */
	uint64_t backoffs;  /* each halved the learning rate */
	double norm_mean;   /* running mean of the gradient norm, for the spike guard */
	struct loss_scale scale;
	struct best best; /* of the evaluations */
};

struct train_hooks {
	void *ctx;
	int (*on_step)(void *ctx, const struct step_stats *s, struct err *err);
	/* writes a checkpoint (rank 0) or joins in (others); may return before it is on disk */
	int (*save)(void *ctx, struct learner *l, const struct train_state *state, bool last,
	            struct err *err);
	bool (*stop)(void *ctx); /* asked between steps: SIGTERM seen? */
	/* after a back-off, which state->backoffs counts; NULL: not wanted */
	void (*on_backoff)(void *ctx, const struct train_state *state);
	/*
	 * On every rank alike, a failure too (but ERR_NETWORK): evaluates the weights after step
	 * state->step and judges them in state->best. When the user asks to stop it returns 0 and
	 * leaves state as it was. NULL: there are no evaluations.
	 */
	int (*evaluate)(void *ctx, struct train_state *state, struct err *err);
};

enum train_end {
	TRAIN_COMPLETE, /* all steps are done */
	TRAIN_STOPPED,  /* stop() or stop_after */
	TRAIN_EARLY     /* nothing improved for as long as options->best.patience says */
};

struct train {
	struct learner *learner; /* prepared, with the options' optimizer */
	const struct train_options *options;
	const struct clip_source *source;
	const struct reducer *reducer; /* NULL: one process */
	const struct train_hooks *hooks;
};

/*
 * Runs from *state until max_steps, stop_after or stop(); *state is advanced. A checkpoint is saved
 * at the end (save(..., last = true)).
 *
 * In f16 a step whose gradient is not finite, though its loss is, is done again at half the scale
 * of the loss: the source is asked for its clips once more.
 *
 * A step whose gradient is not finite, or a spike, changes no weight. After max_bad_steps of them
 * in a row the weights go back to the last good ones (at most LAST_GOOD_EVERY steps older than the
 * first bad step) and the learning rate is halved for the rest of the run; when that has happened
 * max_backoffs times, the last good weights are saved and ERR_LIMIT names the clips of the last bad
 * step. No checkpoint is written in the middle of bad steps.
 *
 * Clips that cannot be read on any rank end the run on all: what the steps before came to is saved,
 * then the error returned. Likewise when on_step or evaluate fails. When the device fails nothing
 * is saved: what it holds cannot be trusted.
 *
 * An evaluation that is due comes before the checkpoint of its step; the best one so far makes a
 * checkpoint due, even in the middle of bad steps. One that was due when the run was stopped is
 * made when the run goes on, so that it judges as an unbroken one does.
 */
enum { LAST_GOOD_EVERY = 10 };
int train_run(const struct train *t, struct train_state *state, enum train_end *ret_end,
              struct err *err) MUST_USE;

#endif
