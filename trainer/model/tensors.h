/*
 * A set of named F32 tensors over ONE allocation: parameters, their gradients, and each optimizer
 * state are sets of the same table, so that zeroing, clipping, reducing, updating and writing are
 * loops over one array. Row-major, no strides.
 *
 * Between tensors the array is padded to 16 values (one 64-byte line), always zero. It lies in
 * ordinary memory, or in that of the device of some ops; only then may ops be given its values, and
 * only on a shared device may the host look at them: it sees those of others by tensors_copy.
 * Thread rule: a set belongs to one thread; several may read it.
 */
#ifndef SLIPWAY_TRAINER_MODEL_TENSORS_H
#define SLIPWAY_TRAINER_MODEL_TENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "trainer/ops/device.h"

enum { TENSOR_DIMS_MAX = 5, TENSOR_ALIGN = 16 };

struct tensor {
	const char *name; /* owned by the set, or by the set it was made like */
	int ndim;         /* 1..TENSOR_DIMS_MAX */
	size_t shape[TENSOR_DIMS_MAX];
	size_t n;      /* values: the product of the shape */
	size_t offset; /* of the first value in the set's data */
	float *data;   /* = set->data + offset */
};

struct tensors {
	struct tensor *at;
	size_t n, cap;
	size_t n_values; /* values in data, with padding */
	size_t n_params; /* values without padding */
	float *data;     /* NULL until tensors_alloc; 64-byte aligned, zeroed */
	struct ops *ops; /* whose device's memory; NULL: ordinary memory */
	struct buffer memory;
	char **names; /* owned names, n of them; NULL in a set made like another */
};

/* Adds a tensor (before tensors_alloc); copies the name; returns its index. */
size_t tensors_add(struct tensors *t, const char *name, int ndim, const size_t *shape);

/* Gives the set its memory, zeroed: the device's of `ops`, which outlive the set, or ordinary
 * memory when that is NULL. `what` names it where it cannot be had. */
void tensors_alloc(struct tensors *t, struct ops *ops, const char *what);

/* *ret: the same table with zeroed memory of its own. It borrows `like`'s names. */
void tensors_like(const struct tensors *like, struct ops *ops, const char *what,
                  struct tensors *ret);

/* The values of a set of the same table, from wherever to wherever: what comes from a device is
 * there after its next sync. A set without memory is neither read nor written. */
void tensors_copy(struct tensors *to, const struct tensors *from);
void tensors_zero(struct tensors *t);

void tensors_done(struct tensors *t);

/* NULL when there is no such name. */
struct tensor *tensors_find(const struct tensors *t, const char *name);

#endif
