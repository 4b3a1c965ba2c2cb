/*
 * A run's modules on a NeuronCore: loaded from their NEFFs, fed from batches, their state (weights,
 * gradients, moments, averages) kept on the device. Each kind of state has two tensors: a
 * module reads one and writes the other, and then they change places. What a batch is written to is
 * there twice, too: one is filled while the device computes with the other.
 *
 * Errors are those of nrt_failure. After one, nothing on the device can be trusted; only
 * neuron_engine_free may be called. Thread rule: one call at a time. An execution goes on after the
 * call that begins it, and what it fails with is what a later call fails with.
 */
#ifndef SLIPWAY_TRAINER_NEURON_ENGINE_H
#define SLIPWAY_TRAINER_NEURON_ENGINE_H

#include "trainer/neuron/executable.h"
#include "trainer/neuron/feed.h"
#include "trainer/neuron/modules.h"

struct neuron_engine; /* opaque */

/*
 * Loads the modules of a run, whose NEFFs are files; one that is NULL is not to be used. nrt is
 * borrowed and initialised. State is zero until it is written; without an update it is the weights
 * alone. neuron_engine_free in any case of success.
 */
int neuron_engine_new(const struct nrt *nrt, const struct neuron_run *run,
                      const struct neuron_place *place, const char *const neffs[NEURON_MODULES],
                      struct neuron_engine **ret, struct err *err) MUST_USE;
void neuron_engine_free(struct neuron_engine *e); /* NULL is fine */

/* ---- state ---- */

/* A tensor of the state, of n floats; kind is one of NEURON_WEIGHT to NEURON_AVERAGE. */
int neuron_engine_write(struct neuron_engine *e, enum neuron_kind kind, size_t tensor,
                        const float *from, size_t n, struct err *err) MUST_USE;
int neuron_engine_read(struct neuron_engine *e, enum neuron_kind kind, size_t tensor, float *to,
                       size_t n, struct err *err) MUST_USE;

/* All of the state but the gradients is copied aside, on the device; and back. */
int neuron_engine_keep(struct neuron_engine *e, struct err *err) MUST_USE;
int neuron_engine_go_back(struct neuron_engine *e, struct err *err) MUST_USE;

/* Weights and averages change places. */
int neuron_engine_exchange(struct neuron_engine *e, struct err *err) MUST_USE;

/* ---- training ---- */

/* A step begins: its gradients are zero. */
void neuron_engine_begin(struct neuron_engine *e);

/* Hands over a batch, which may be changed afterwards: one more than was started. */
int neuron_engine_stage(struct neuron_engine *e, const struct batch *b, struct err *err) MUST_USE;

/* Begins to add the gradients of the oldest batch that was handed over. */
int neuron_engine_start(struct neuron_engine *e, const struct loss_weights *w, double scale,
                        struct err *err) MUST_USE;

/* Waits for it: its losses, their means over the clips, and the sum of the squares of all gradients
 * so far. NaN among them is no error. */
int neuron_engine_finish(struct neuron_engine *e, const struct loss_weights *w, struct losses *ret,
                         double *ret_squares, struct err *err) MUST_USE;

/* Begins an update. */
int neuron_engine_update(struct neuron_engine *e, const float rates[NEURON_RATES_N],
                         struct err *err) MUST_USE;

/* ---- use, without dropout and derivatives ---- */

/* b may have fewer clips than the module, and has its number of points (ERR_UNSUPPORTED). */
int neuron_engine_measure(struct neuron_engine *e, const struct batch *b,
                          const struct loss_weights *w, struct losses *ret,
                          struct err *err) MUST_USE;

/* Where the run has `encode`: these clips, no more than the module's (ERR_UNSUPPORTED), are what
 * neuron_engine_decode decodes from now on. Else nothing. */
int neuron_engine_encode(struct neuron_engine *e, const struct batch *b, struct err *err) MUST_USE;

/* Of any number of clips and points: as many executions as that takes. Room for a modality is as
 * struct logits (trainer/model/model.h) says; NULL: it is not wanted. ERR_UNSUPPORTED for points
 * where the run's modules give the label alone. */
struct neuron_logits {
	float *of[MODALITIES];
};
int neuron_engine_decode(struct neuron_engine *e, const struct batch *b,
                         const struct neuron_logits *to, struct err *err) MUST_USE;

#endif
