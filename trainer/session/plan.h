/*
 * What a run of these flags computes on a Neuron device: its modules, which `compile` makes ahead
 * and `train` loads.
 */
#ifndef SLIPWAY_TRAINER_SESSION_PLAN_H
#define SLIPWAY_TRAINER_SESSION_PLAN_H

#include "trainer/config/flags.h"
#include "trainer/neuron/modules.h"

/* For `ranks` processes that sum their gradients. Remarks on the configuration go to `remarks`.
 * ERR_USAGE for what a NeuronCore does not compute. */
int session_neuron_run(const struct train_flags *f, unsigned ranks, struct neuron_run *ret,
                       struct strbuf *remarks, struct err *err) MUST_USE;

#endif
