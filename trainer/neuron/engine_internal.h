/*
 * The engine, shared by its files: engine.c (loading, state), engine_train.c (steps),
 * engine_measure.c (use), engine_io.c (what all of them do with tensors). For this folder only.
 */
#ifndef SLIPWAY_TRAINER_NEURON_ENGINE_INTERNAL_H
#define SLIPWAY_TRAINER_NEURON_ENGINE_INTERNAL_H

#include "trainer/neuron/engine.h"
#include "trainer/neuron/job.h"

enum { ENGINE_STATES = (int)NEURON_AVERAGE + 1, ENGINE_LANES = 2 };

/* A kind of state: two tensors each, of which one is the newer. NULL where there are none. */
struct engine_state {
	void **at[2]; /* by tensor of the table */
	void **kept;  /* the last that were copied aside */
	unsigned newer;
};

/* A batch that was handed over: what its figures are made with. */
struct engine_batch {
	size_t n;
	int32_t *label; /* owned */
};

/* A loaded module, and those of its tensors that are no state. */
struct engine_part {
	bool loaded;
	struct neuron_net net;
	struct neuron_executable x;
	void **inputs[ENGINE_LANES], **results; /* by value; NULL where it is state */
	unsigned lane;                          /* whose inputs are written next */
};

struct neuron_engine {
	const struct nrt *nrt;
	struct neuron_place place;
	struct engine_part parts[NEURON_MODULES];
	const struct tensors *table; /* of a loaded part */
	struct engine_state state[ENGINE_STATES];
	void **zero; /* gradients before a step's first batch */
	bool fresh;  /* the step has none yet */
	struct engine_batch staged[ENGINE_LANES];
	unsigned started; /* the lane of the batch that was started last */
	struct neuron_job job;
};

/* ---- engine_io.c: tensors, nothing waits ---- */

bool engine_is_state(const struct neuron_value *v);
/* An input that has memory of its own: it is no state, and no result of another module. */
bool engine_is_fed(const struct neuron_value *v);
size_t engine_bytes(const struct neuron_net *net, const struct neuron_value *v);
int engine_allocate(const struct neuron_engine *e, size_t bytes, void **ret,
                    struct err *err) MUST_USE;
int engine_write(const struct neuron_engine *e, void *tensor, const void *from, size_t bytes,
                 struct err *err) MUST_USE;
int engine_read(const struct neuron_engine *e, const void *tensor, void *to, size_t bytes,
                struct err *err) MUST_USE;
int engine_copy(const struct neuron_engine *e, const void *from, void *to, size_t bytes,
                struct err *err) MUST_USE;

/* Writes a part's inputs of a batch, into the lane that is next; those of the losses' weights too
 * unless w is NULL. */
int engine_feed(const struct neuron_engine *e, const struct engine_part *p, const struct batch *b,
                const struct loss_weights *w, double scale, struct err *err) MUST_USE;

/* Waits for what is under way, and begins the part with what its next lane was given. */
int engine_launch(struct neuron_engine *e, struct engine_part *p, struct err *err) MUST_USE;

/* A result that is no state, into new memory, which the caller frees; after its end. */
int engine_fetch(const struct neuron_engine *e, const struct engine_part *p, enum neuron_kind kind,
                 size_t index, float **ret, struct err *err) MUST_USE;

/* The losses of a part's first clips; labels of as many. */
int engine_losses(const struct neuron_engine *e, const struct engine_part *p,
                  const struct engine_batch *b, const struct loss_weights *w, struct losses *ret,
                  struct err *err) MUST_USE;

#endif
