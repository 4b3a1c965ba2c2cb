/*
 * The modules that a device is given: a step up to its gradients, an update of the weights, the
 * losses of an evaluation; and for those who only use a model, without losses, the label of clips,
 * what a clip is encoded to, and its points. Inputs and results are listed in net->inputs and
 * net->results, in their order. Every module takes all weights, whether or not it reads them, so
 * that one set of them serves all.
 */
#ifndef SLIPWAY_TRAINER_NEURON_MODULES_H
#define SLIPWAY_TRAINER_NEURON_MODULES_H

#include "base/strbuf.h"
#include "trainer/neuron/net.h"
#include "trainer/train/optimizer.h"

/*
 * Losses, label logits, gradients added to those given, and the sum of their squares; summed over
 * the replicas where there are several. Parameters of the keys' biases have the derivative 0.
 */
void neuron_step(struct neuron_net *n, const struct model_config *config,
                 const struct neuron_shape *shape);

/* Weights and moments after one update by the gradients, as struct op_update says; where the
 * options have an ema_decay, the average of the weights (trainer/train/average.h). */
void neuron_update(struct neuron_net *n, const struct model_config *config,
                   const struct optimizer_options *options);

/* Losses and the logits of all points, without dropout and derivatives; shape->training is
 * false. */
void neuron_measure(struct neuron_net *n, const struct model_config *config,
                    const struct neuron_shape *shape);

/* The logits of the label alone: shape decodes nothing else. */
void neuron_classify(struct neuron_net *n, const struct model_config *config,
                     const struct neuron_shape *shape);

/* The latents of clips; of the shape's points nothing is asked. */
void neuron_encode(struct neuron_net *n, const struct model_config *config,
                   const struct neuron_shape *shape);

/* Such latents to the logits of the shape's points. */
void neuron_decode(struct neuron_net *n, const struct model_config *config,
                   const struct neuron_shape *shape);

/* The module of that name as XLA's HloModuleProto, and as text; either may be NULL. */
void neuron_write(const struct neuron_net *n, const char *name, struct strbuf *ret_module,
                  struct strbuf *ret_text);

/* ---- all modules of a run ---- */

enum neuron_module {
	NEURON_STEP,
	NEURON_UPDATE,
	NEURON_MEASURE,
	NEURON_CLASSIFY,
	NEURON_ENCODE,
	NEURON_DECODE,
	NEURON_MODULES
};

struct neuron_run {
	struct model_config config;
	struct neuron_shape step, measure, classify;
	struct neuron_shape sample; /* of encode and decode */
	struct optimizer_options optimizer;
	size_t most_clips; /* a step.batch of 0 becomes no more (trainer/neuron/fit.h); 0: 1024 */
};

const char *neuron_module_name(enum neuron_module which); /* "step" */
void neuron_module_build(const struct neuron_run *run, enum neuron_module which,
                         struct neuron_net *ret);

#endif
