/*
 * What the host hands to a device ahead of its use: blocks of bytes through two pinned rooms, so
 * that one is filled and on its way while ops compute with what came before. For devices with a
 * memory of their own. Blocks are taken in the order in which they were sent, at most two are on
 * their way.
 *
 * Errors: those of the device, which stick. Thread rule: that of the ops.
 */
#ifndef SLIPWAY_TRAINER_OPS_FEED_H
#define SLIPWAY_TRAINER_OPS_FEED_H

#include <stdint.h>

#include "trainer/ops/device.h"

enum { FEED_LANES = 2 };

/* All zero at first. */
struct ops_feed {
	struct buffer here[FEED_LANES], there[FEED_LANES]; /* pinned; the device's */
	size_t n[FEED_LANES];                              /* bytes sent */
	uint64_t sent, taken;
};

/* Room for the next block, to be filled; waits for what was last sent from it. NULL: there is
 * none, and the error sticks. */
void *feed_room(struct ops *ops, struct ops_feed *f, size_t n);

/* Sends what the last feed_room was filled with. */
void feed_send(struct ops *ops, struct ops_feed *f);

/* Blocks that were sent and not taken. */
unsigned feed_waiting(const struct ops_feed *f);

/* Copies bytes [from, from + n) of the oldest block that waits to the device's `to`, in the order
 * of ops; feed_taken ends with that block. */
void feed_take(struct ops *ops, struct ops_feed *f, void *to, size_t from, size_t n);
void feed_taken(struct ops_feed *f);

/* Waits for what is on its way; leaves *f all zero. */
void feed_done(struct ops *ops, struct ops_feed *f);

#endif
