/*
 * How much arithmetic a training step is, by layer; multiply and add count as two. Exponentials and
 * elementwise work are not counted.
 */
#ifndef SLIPWAY_TRAINER_MODEL_COST_H
#define SLIPWAY_TRAINER_MODEL_COST_H

#include "trainer/model/batch.h"
#include "trainer/model/config.h"

struct model_cost {
	double cross, self,
		decoder; /* floating operations of forward and backward, as executed here */
	double executed; /* their sum */
	double plain;    /* as a framework that forms keys and values would execute */
};

struct model_cost model_cost(const struct model_config *c, const struct batch *b);

#endif
