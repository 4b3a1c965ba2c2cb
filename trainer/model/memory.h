/*
 * What memory a training run will hold, by part, without taking it: the sums are those of the code
 * that allocates (trainer/model/workspace.c) to the byte, but for the state of the encoder's cross
 * attention, the scratch of the threads and the program itself, which are estimated.
 */
#ifndef SLIPWAY_TRAINER_MODEL_MEMORY_H
#define SLIPWAY_TRAINER_MODEL_MEMORY_H

#include <stddef.h>

#include "trainer/model/config.h"
#include "trainer/model/recompute.h"

struct memory_use {
	size_t batch,
		points; /* clips of a batch; decoded points of a clip, the label one of them */
	size_t ahead;   /* batches that the loader holds */
	size_t moments; /* of the optimizer: 1 for SGD, 2 for AdamW; 1 more for averaged weights */
	size_t eval_batch; /* clips of an evaluation's batch in the run; 0: there is none */
	unsigned threads;
	struct recompute recompute; /* what is not kept for the backward pass */
};

enum memory_part {
	MEMORY_WEIGHTS,   /* and their gradients */
	MEMORY_OPTIMIZER, /* its moments, and the averaged weights */
	MEMORY_COPIES,    /* of weights and moments: the checkpoint being written, the last good */
	MEMORY_ENCODER,   /* activations and derivatives, ... */
	MEMORY_DECODER,
	MEMORY_CROSS, /* ... and the cross attention's state */
	MEMORY_CLIPS, /* read ahead */
	MEMORY_SCRATCH,
	MEMORY_PROGRAM, /* itself, its libraries, the rests of blocks that memory is cut from */
	MEMORY_PARTS
};

/* Bytes by part, of a checked config. */
struct model_memory {
	double bytes[MEMORY_PARTS]; /* doubles: a product beyond 2^64 is only large */
	double total;
};
struct model_memory model_memory(const struct model_config *c, const struct memory_use *use);

#endif
