/*
 * Evaluation during a session's training. For this folder only.
 */
#ifndef SLIPWAY_TRAINER_SESSION_SESSION_EVAL_H
#define SLIPWAY_TRAINER_SESSION_SESSION_EVAL_H

#include "trainer/session/session.h"

/* train_hooks.evaluate of a session (ctx): judges the weights, the averaged ones where they are
 * kept, on the val clips, which are open, and reports. */
int session_validate(void *ctx, struct train_state *state, struct err *err) MUST_USE;

/* After the training: which evaluation was the best, and whether the run ended for want of a
 * better one. */
void session_print_best(struct session *s, enum train_end how);

/* The epoch that the last clip trained on belongs to, from 1. */
uint64_t session_last_epoch(const struct session *s);

#endif
