/*
 * Which command runs which modules of a configuration.
 */
#ifndef SLIPWAY_TRAINER_NEURON_USES_H
#define SLIPWAY_TRAINER_NEURON_USES_H

#include "base/err.h"
#include "trainer/neuron/modules.h"

/* Commands of slipway-trainer. */
enum neuron_use { NEURON_TRAINS, NEURON_EVALUATES, NEURON_CLASSIFIES, NEURON_SAMPLES, NEURON_USES };

const char *neuron_use_name(enum neuron_use use); /* "train" */

/* The use of that name; ERR_USAGE naming all of them. */
int neuron_use_find(const char *name, enum neuron_use *ret, struct err *err) MUST_USE;

/* Of all its runs: training measures where it evaluates on its way. */
bool neuron_use_needs(enum neuron_use use, enum neuron_module module);

/* Clips that classify takes at a time unless it is told, and those that sample does. */
enum { NEURON_CLASSIFY_CLIPS = 8, NEURON_SAMPLE_CLIPS = 1 };

/* Pixels of a clip that one execution of `decode` decodes, where the clip has as many; beside them
 * all of the sound and the label. As many as trainer/sample asks for at a time. */
enum { NEURON_SAMPLE_PIXELS = 6144 };

/* Sets run->classify, of that many clips, and run->sample, from run->config. */
void neuron_use_shapes(struct neuron_run *run, size_t clips, bool rounds);

#endif
