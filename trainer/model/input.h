/*
 * A batch on its way to a device with a memory of its own: one block of bytes, which is packed in
 * the host's memory and lies at the same address of the device's for batches of the same shape.
 */
#ifndef SLIPWAY_TRAINER_MODEL_INPUT_H
#define SLIPWAY_TRAINER_MODEL_INPUT_H

#include "trainer/model/batch.h"

struct model;

size_t model_input_bytes(const struct model *m, const struct batch *b);
void model_input_pack(const struct model *m, const struct batch *b, void *block);

/* The device's memory for the block; NULL when there is none, and the error sticks. */
void *model_input_room(struct model *m, const struct batch *b);

/* *b becomes the model's batch, for model_compute: its block is in model_input_room, or the
 * device's memory is the host's. Takes the memory that the batch needs. */
void model_input_set(struct model *m, const struct batch *b);

/* The model's batch, with the addresses that ops are given. */
const struct batch *model_input(const struct model *m);
/* The model's batch has the shape, the seed and the addresses of *b. */
bool model_input_alike(const struct model *m, const struct batch *b);

#endif
