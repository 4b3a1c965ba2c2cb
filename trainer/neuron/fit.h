/*
 * How many clips a NeuronCore's memory holds a step of, counted before any compiler has seen it: by
 * a module's values as they come and go in the order of its instructions (trainer/hlo/sizes.h), and
 * what lies on the device between them (trainer/neuron/engine.h). A compiler that fuses needs less,
 * so that a batch that does not fit by this count may fit after all.
 */
#ifndef SLIPWAY_TRAINER_NEURON_FIT_H
#define SLIPWAY_TRAINER_NEURON_FIT_H

#include "base/err.h"
#include "trainer/neuron/uses.h"

struct neuron_chip; /* trainer/neuron/report.h */

/* Bytes that a core holds at most for a use of the run: all sets of the state, the last good ones
 * among them; inputs and results of the use's modules, inputs twice; and the values within the
 * largest of the modules. */
size_t neuron_holds(const struct neuron_run *run, enum neuron_use use);

/* The largest batch to train on, at most run->most_clips, that holds at most `memory` bytes; 0: not
 * even one clip. run->step.batch is not looked at; what is measured on the way has its own batch.
 */
size_t neuron_fitting_batch(const struct neuron_run *run, double memory);

/* A batch of 0 becomes the largest that leaves a tenth of the core's memory free. ERR_USAGE where
 * none does. */
int neuron_fit(struct neuron_run *run, const struct neuron_chip *chip, struct err *err) MUST_USE;

/* ERR_USAGE where a use of the run holds more than a core of the chip has, with both figures and
 * the batch that fits. */
int neuron_check_fit(const struct neuron_run *run, enum neuron_use use,
                     const struct neuron_chip *chip, struct err *err) MUST_USE;

#endif
