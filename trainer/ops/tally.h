/*
 * How much memory a device is asked for, by part: what ops count that compute nothing
 * (device_row.rehearse of trainer/device/devices.h), so that a run can be measured before it begins
 * by the very code that will allocate.
 */
#ifndef SLIPWAY_TRAINER_OPS_TALLY_H
#define SLIPWAY_TRAINER_OPS_TALLY_H

#include <stddef.h>

#include "base/mem.h"

struct tally_part {
	const char *what; /* as buffer_new was told; borrowed */
	size_t now, most; /* bytes held, and the most that were */
};

struct tally_block {
	const void *at;
	size_t bytes, part;
};

/* All zero at first; the caller: tally_done. */
struct tally {
	VEC(struct tally_part) parts; /* in the order of their first allocation */
	VEC(struct tally_block) live;
	size_t now, most;
};

/* What a block is rounded up to: a device's pages are not counted. */
enum { TALLY_ALIGN = 512 };

void tally_take(struct tally *t, const void *at, size_t bytes, const char *what);
/* `at` was taken. */
void tally_give_back(struct tally *t, const void *at);
void tally_done(struct tally *t);

#endif
