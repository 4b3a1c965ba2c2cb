/*
 * What a run of these flags computes on a Neuron device: its modules, which `compile` makes ahead
 * and `train` loads.
 */
#ifndef SLIPWAY_TRAINER_SESSION_PLAN_H
#define SLIPWAY_TRAINER_SESSION_PLAN_H

#include "trainer/config/flags.h"
#include "trainer/neuron/uses.h"

/* For `ranks` processes that sum their gradients. With --batch_size auto ret->step.batch is 0, for
 * neuron_fit (trainer/neuron/fit.h); without --batch_size too, and then the default is the most.
 * Remarks on the configuration go to `remarks`. ERR_USAGE for what a NeuronCore does not compute.
 */
int session_neuron_run(const struct train_flags *f, unsigned ranks, struct neuron_run *ret,
                       struct strbuf *remarks, struct err *err) MUST_USE;

#endif
