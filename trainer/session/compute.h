/*
 * The learner of a session, on the device that its flags choose: one of ops, or one of modules that
 * were compiled ahead. For this folder only.
 */
#ifndef SLIPWAY_TRAINER_SESSION_COMPUTE_H
#define SLIPWAY_TRAINER_SESSION_COMPUTE_H

#include "trainer/session/session.h"

/* After the ranks are joined: s->config, s->device, s->learner with random weights, and s->ops
 * where there are ops; a batch size of auto becomes a number in `flags`. Memory is looked at
 * before any is taken. */
int session_make_learner(struct session *s, enum session_use use, struct train_flags *flags,
                         struct err *err) MUST_USE;

/* modules.c: of the `index`-th NeuronCore. ERR_USAGE, with the command that compiles them, where
 * its modules are not in --cache_dir. */
int session_module_learner(struct session *s, enum session_use use, struct train_flags *flags,
                           unsigned index, struct err *err) MUST_USE;

#endif
