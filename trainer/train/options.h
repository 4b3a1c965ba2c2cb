/*
 * The options of a training run: plain values, filled by the command line and config files
 * (trainer/data and the commands), read by the loop.
 */
#ifndef SLIPWAY_TRAINER_TRAIN_OPTIONS_H
#define SLIPWAY_TRAINER_TRAIN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trainer/model/model.h"
#include "trainer/train/best.h"

enum optimizer_kind { OPTIMIZER_SGD, OPTIMIZER_ADAMW };
enum schedule_kind { SCHEDULE_CONSTANT, SCHEDULE_COSINE };

struct optimizer_options {
	enum optimizer_kind kind;
	double lr, momentum, beta1, beta2, eps, weight_decay;
	double max_grad_norm; /* 0: no clipping */
	double ema_decay; /* of the averaged weights (trainer/train/average.h); 0: none are kept */
};

struct schedule_options {
	enum schedule_kind kind;
	uint64_t warmup_steps; /* linear from 0 */
	uint64_t decay_from;   /* first step of the cosine */
	/* Shares of total_steps that schedule_fit makes steps of; 0: the steps stand as they are,
	 * and the cosine begins after the warm-up. */
	double warmup_share, decay_share;
	uint64_t total_steps; /* the cosine ends here */
	double final_factor;  /* of the learning rate, at the end */
};

struct train_options {
	uint64_t seed;
	size_t batch_size;                 /* clips per rank and micro-step */
	size_t accumulate;                 /* micro-steps per optimizer step, at least 1 */
	size_t image_points, audio_points; /* decoded per micro-step (audio: patches) */
	double label_mask_prob, image_mask_prob, audio_mask_prob;
	struct loss_weights weights;
	struct optimizer_options optimizer;
	struct schedule_options schedule;
	uint64_t max_steps;  /* optimizer steps in all, counted from the run's very beginning */
	uint64_t stop_after; /* end cleanly after this many steps of THIS process; 0: never */
	uint64_t log_steps;  /* on_step every so many; the first always */
	uint64_t checkpoint_steps; /* save every so many; 0: at the end only */
	uint64_t eval_every; /* evaluate after every so many steps, and after the last; 0: never */
	struct best_options best;    /* what is made of that */
	enum op_precision precision; /* of matrix products */
	enum op_gemm gemm;           /* who computes them on a GPU */
	struct recompute recompute;  /* activation checkpointing; none at first */
	bool reduce_last;    /* sum gradients over ranks after backward, not meanwhile: same bits */
	double spike_factor; /* skip steps whose gradient norm exceeds this times its running mean;
	                        0: off */
	unsigned max_bad_steps; /* back off after so many NaN or skipped steps in a row; 0: never */
	unsigned max_backoffs;  /* give up instead of backing off once more */
};

/* What a program that says nothing else gets: AdamW 5e-5, decay 0.1, clip 10, label always hidden,
 * constant rate, no spike guard. The command line's defaults and presets are trainer/config's. */
struct train_options train_options_default(void);

#endif
