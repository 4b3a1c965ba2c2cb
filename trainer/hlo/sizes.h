/*
 * How large a module is, without running it: instructions, products, and the bytes of its values.
 */
#ifndef SLIPWAY_TRAINER_HLO_SIZES_H
#define SLIPWAY_TRAINER_HLO_SIZES_H

#include "trainer/hlo/module.h"

struct hlo_sizes {
	size_t instructions; /* that a result needs */
	size_t of[HLO_OPS];  /* of them, by operator */
	double flops;        /* of products: two for a multiplication and its sum */
	size_t parameters;   /* bytes of all parameters */
	size_t results;      /* bytes of the tuple */
	/* The most bytes of values at one time, parameters included, when instructions run in their
	 * order and a value goes with its last use: what a compiler that fuses nothing would hold.
	 * Reshapes and scalars take none. */
	size_t live;
	size_t largest; /* bytes of the largest value */
	double moved;   /* bytes read and written when every instruction reads and writes memory */
};

struct hlo_sizes hlo_sizes_of(const struct hlo_module *m);

#endif
