/*
 * How a session's training begins: the folders, the run's record, the checkpoint or weights to
 * start from. For session.c only.
 */
#ifndef SLIPWAY_TRAINER_SESSION_BEGIN_H
#define SLIPWAY_TRAINER_SESSION_BEGIN_H

#include "trainer/session/session.h"

/* Names the folders and refuses a used output folder, before anything is written. */
int session_check_output(struct session *s, struct err *err) MUST_USE;

/* Opens checkpoints and reports (rank 0), and brings every rank's model, optimizer and state to
 * where the run begins. The dataset is open and the optimizer made. */
int session_begin(struct session *s, struct err *err) MUST_USE;

/* Clips of one optimizer step over all ranks. */
uint64_t session_step_clips(const struct session *s);

/* Which clips. */
enum session_data { SESSION_TRAIN, SESSION_EVAL };

/* The folder of a split: --dataset_dir, or its train/ or val/. */
int session_data_folder(const struct session *s, enum session_data what, char ret[PATH_MAX],
                        struct err *err) MUST_USE;

/* Lines for people, from rank 0. */
void session_remark(struct session *s, const char *lines);

#endif
