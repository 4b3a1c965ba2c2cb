/*
 * Tells of a run in every form asked for: the PyTorch program's lines and one of details, JSON
 * lines, TensorBoard, Prometheus. Rank 0 reports; the others have no reporter.
 */
#ifndef SLIPWAY_TRAINER_LOG_REPORTER_H
#define SLIPWAY_TRAINER_LOG_REPORTER_H

#include <stdio.h>

#include "trainer/log/exporter.h"
#include "trainer/ops/meters.h"
#include "trainer/train/loop.h"

struct reporter_options {
	FILE *out;              /* lines for people; borrowed */
	const char *device;     /* "cpu:0"; borrowed */
	uint64_t log_steps;     /* a report every so many steps of an epoch */
	uint64_t step_clips;    /* clips of one optimizer step over all ranks */
	uint64_t epoch_clips;   /* clips of an epoch */
	uint64_t clip_tokens;   /* that the encoder reads of a clip */
	struct ops *ops;        /* whose device's meters are read, borrowed; NULL: none's */
	const char *json_path;  /* appended to; NULL: none */
	const char *events_dir; /* TensorBoard; NULL: none */
	int64_t metrics_port;   /* 0: none */
};

struct reporter; /* opaque */

int reporter_open(const struct reporter_options *o, struct reporter **ret,
                  struct err *err) MUST_USE;

/* Before the first step: the epoch's beginning. done: clips that the run has read before. */
void reporter_begin(struct reporter *r, uint64_t done);

/* Every optimizer step, in order; prints what is due. ERR_IO when a log cannot be written. */
int reporter_step(struct reporter *r, const struct step_stats *s, struct err *err) MUST_USE;

/* An evaluation after the last step reported; its time is filled in. ERR_IO. */
int reporter_eval(struct reporter *r, struct log_eval *e, struct err *err) MUST_USE;

/* Without a reporter: a line to the JSON log, when there is one (NULL: none). ERR_IO. */
int reporter_append_eval(const char *json_path, const struct log_eval *e, struct err *err) MUST_USE;

/* After the last step: the last epoch's end. */
void reporter_end(struct reporter *r);

/* Clips per second over all steps seen but the first (which warms up); 0 when there are none. */
double reporter_average(const struct reporter *r);

void reporter_free(struct reporter *r);

/* Microseconds since 1970. */
int64_t reporter_now_us(void);

#endif
