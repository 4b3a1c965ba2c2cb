/*
 * What a module is given from a batch, in the host's memory: points, targets and patches gathered,
 * positions computed once, labels one-hot.
 */
#ifndef SLIPWAY_TRAINER_NEURON_FEED_H
#define SLIPWAY_TRAINER_NEURON_FEED_H

#include "trainer/model/batch.h"
#include "trainer/model/model.h"
#include "trainer/neuron/net.h"

/*
 * Fills `to`, of the shape of input `v` of n, from a batch of n's shape; weights, gradients,
 * moments and rates are not of a batch, and left alone. Values are float32 or uint32, 4 bytes
 * each. Weights of the losses are multiplied by `scale`.
 */
void neuron_feed(const struct neuron_net *n, const struct neuron_value *v, const struct batch *b,
                 const struct loss_weights *w, double scale, void *to);

/* Whether an input changes from batch to batch; whether it is the same in all, and of none: there b
 * and w may be NULL. Weights and the like are neither. */
bool neuron_feeds(enum neuron_kind kind);
bool neuron_is_constant(enum neuron_kind kind);

#endif
