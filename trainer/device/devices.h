/*
 * The devices that a model can be computed on: the one table in which a backend is a row, and the
 * choice among them. A backend is a table of ops (trainer/ops/ops.h) with the memory they work in
 * (trainer/ops/device.h); nothing above this room knows which one runs.
 */
#ifndef SLIPWAY_TRAINER_DEVICE_DEVICES_H
#define SLIPWAY_TRAINER_DEVICE_DEVICES_H

#include "trainer/ops/ops.h"

enum { DEVICE_NAME_MAX = 32 };

/* What a device's option says. */
#define DEVICE_HELP                                                                                \
	"auto (default: an accelerator that is here, or the CPU), cpu, cuda or cuda:N, which "     \
	"counts from 0"

struct device_row {
	const char *name; /* "cpu" */
	const char *what; /* one of them: "processor" */
	/* How many there are here. NULL: this program has no backend for them. */
	unsigned (*probe)(void);
	/* Makes the ops of device `index`, of those that probe counts. */
	int (*open)(unsigned index, const struct ops_options *options, struct ops *ret,
	            struct err *err);
};

/* In the order in which `auto` takes them; *ret_n rows. */
const struct device_row *devices(size_t *ret_n);

/*
 * "auto", "cpu", "cuda" or "cuda:N": its ops, and its name ("cpu:0") into ret_name. ERR_USAGE for
 * another text and for a device that this program has no backend for, ERR_NOT_FOUND for one that is
 * not here, and what opening it fails with.
 */
int device_open(const char *choice, const struct ops_options *options, struct ops *ret,
                char ret_name[DEVICE_NAME_MAX], struct err *err) MUST_USE;

/* The name that device_open would give for "auto". */
void device_auto(char ret_name[DEVICE_NAME_MAX]);

#endif
