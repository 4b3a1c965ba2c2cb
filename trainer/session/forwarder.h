/*
 * A learner for a command that only uses a model (classify, sample), on the device that its options
 * choose: one of ops, or of modules that `slipway-trainer compile --for COMMAND` made ahead. Its
 * weights are zero; the command reads them. One process.
 */
#ifndef SLIPWAY_TRAINER_SESSION_FORWARDER_H
#define SLIPWAY_TRAINER_SESSION_FORWARDER_H

#include "trainer/device/devices.h"
#include "trainer/neuron/uses.h"
#include "trainer/train/learner.h"

/* All borrowed. */
struct forwarder_choice {
	enum neuron_use use; /* of modules: the command's */
	const struct model_config *config;
	const char *device;                 /* as struct device_choice has it */
	const char *cache_dir;              /* of modules; NULL: none is given */
	const char *checkpoint, *from_file; /* whose configuration it is; from_file: NULL, or a
	                                       file of a configuration instead */
	size_t clips;                       /* at a time */
	struct ops_options ops;             /* more threads than CPUs are not used */
};

struct forwarder {
	struct learner *learner; /* NULL: it is not open */
	struct ops ops;
	bool ops_open;
};

/*
 * ERR_USAGE where a module is missing, with the command that makes it, before any memory of the
 * device is taken; else what choosing and opening the device fails with. On failure *ret is as it
 * was.
 */
int forwarder_open(const struct forwarder_choice *c, struct forwarder *ret,
                   struct err *err) MUST_USE;
void forwarder_done(struct forwarder *f); /* one that is all zero is fine */

#endif
