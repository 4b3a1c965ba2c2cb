/*
 * A learner (trainer/train/learner.h) whose steps are whole modules on a NeuronCore
 * (trainer/neuron/engine.h). Its state lies on the device; sets of tensors are copied to and fro,
 * so that its checkpoints are any other device's. Gradients of several ranks are summed within the
 * modules.
 */
#ifndef SLIPWAY_TRAINER_NEURON_LEARNER_H
#define SLIPWAY_TRAINER_NEURON_LEARNER_H

#include "trainer/neuron/modules.h"
#include "trainer/train/learner.h"

/* Where a run's modules are, and who runs them. */
struct neuron_start {
	unsigned core;        /* of those that this process may see, from 0 */
	unsigned rank, ranks; /* among those who sum gradients */
	const char *cache;    /* folder of compiled modules */
	bool wanted[NEURON_MODULES];
	/* Appends the words of `slipway-trainer compile` that make what the cache lacks, for a
	 * target ("trn1"); for an error's hint. */
	void (*command)(void *ctx, const char *target, struct strbuf *sb);
	/* Once the device is known, and before any module is looked for: a batch of 0 in the run
	 * becomes a number. NULL: there is none. */
	int (*settle)(void *ctx, const char *target, struct neuron_run *run, struct err *err);
	void *ctx;
};

/*
 * Opens the runtime, finds the modules and loads them. ERR_USAGE, before anything is allocated on
 * the device, where the cache lacks one: the same command would end the same way. Else what
 * neuron_runtime_open, start->settle, neuron_cache_find and neuron_engine_new fail with. Of a
 * learner without an update (eval's) the weights alone can be set. One with `classify` alone gives
 * the label's logits; one with `encode` and `decode` takes as many clips at a time as those.
 */
int neuron_learner_new(const struct neuron_run *run, const struct neuron_start *start,
                       struct learner **ret, struct err *err) MUST_USE;

#endif
