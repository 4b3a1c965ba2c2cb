/*
 * The devices that a model can be computed on: the one table in which a backend is a row, and the
 * choice among them. A backend is a table of ops (trainer/ops/ops.h) with the memory they work in
 * (trainer/ops/device.h), or computes whole modules that a compiler made ahead of the run
 * (trainer/neuron/learner.h): then the session, which knows the run, makes the learner.
 */
#ifndef SLIPWAY_TRAINER_DEVICE_DEVICES_H
#define SLIPWAY_TRAINER_DEVICE_DEVICES_H

#include "trainer/ops/ops.h"
#include "trainer/ops/tally.h"

enum { DEVICE_NAME_MAX = 32 };

/* What a device's option says. */
#define DEVICE_HELP                                                                                \
	"auto (default: an accelerator that is here, or the CPU), cpu, neuron or cuda (with "      \
	"several ranks on a node, each its own), or neuron:N or cuda:N, which count from 0"

struct device_row {
	const char *name; /* "cpu" */
	const char *what; /* one of them: "processor" */
	bool ranks_share; /* all ranks of a node compute on the first */
	/* The variable that can show a process some of a node's devices; NULL: none. */
	const char *shown_by;
	/* *ret: how many there are here. An error when there are some, and they do not work. */
	int (*count)(unsigned *ret, struct err *err);
	/* Makes the ops of device `index`; its error tells why there is none. NULL: it computes
	 * modules, not ops. */
	int (*open)(unsigned index, const struct ops_options *options, struct ops *ret,
	            struct err *err);
	/* NULL, both: its memory is the host's. Ops that count what they are asked for (ops_done
	 * before *tally goes); the bytes that a device had free when it was opened. */
	void (*rehearse)(const struct ops_options *options, struct tally *tally, struct ops *ret);
	size_t (*room)(const struct ops *ops);
};

/* The row of "cuda", "cuda:0", "neuron:3" or "cpu:0"; NULL for another text. */
const struct device_row *device_row_of(const char *name);

/* In the order in which `auto` takes them; *ret_n rows. */
const struct device_row *devices(size_t *ret_n);

/* What is asked for, and by whom. */
struct device_choice {
	const char *name;    /* "auto", "cpu", "cuda", "cuda:N", "neuron" or "neuron:N" */
	unsigned local_rank; /* among the ranks of this node: which device a name without N is */
};

struct device_found {
	const struct device_row *row;
	unsigned index;
	char name[DEVICE_NAME_MAX]; /* "cpu:0" */
};

/*
 * "auto" takes the first row that has devices here; with options that are a processor's (reference,
 * isa), the CPU. ERR_USAGE for another text, ERR_NOT_FOUND for a device that is not here, and what
 * counting it fails with: a GPU that does not work is not silently replaced by the CPU.
 */
int device_choose(const struct device_choice *choice, const struct ops_options *options,
                  struct device_found *ret, struct err *err) MUST_USE;

/*
 * The same among the rows of ops: the chosen device's, and its name into ret_name. "auto" passes
 * over those of modules; ERR_UNSUPPORTED where one is named. Else what opening it fails with.
 */
int device_open(const struct device_choice *choice, const struct ops_options *options,
                struct ops *ret, char ret_name[DEVICE_NAME_MAX], struct err *err) MUST_USE;

/* The name that device_choose would give for "auto" to a single rank; "cpu:0" where what there is
 * does not work. */
void device_auto(char ret_name[DEVICE_NAME_MAX]);

#endif
