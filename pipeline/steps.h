/*
 * The commands of every step. For resolve.c only.
 */
#ifndef SLIPWAY_PIPELINE_STEPS_H
#define SLIPWAY_PIPELINE_STEPS_H

#include "pipeline/model.h"

/* Fills p->steps from the rest of p. */
void pipeline_steps(struct pipeline *p, const struct pipeline_facts *facts, struct arena *a);

#endif
