/*
 * A set of named F32 tensors over ONE allocation: parameters, their gradients, and each optimizer
 * state are sets of the same table, so that zeroing, clipping, reducing, updating and writing are
 * loops over one array. Row-major, no strides.
 *
 * Between tensors the array is padded to 16 values (one 64-byte line), always zero.
 * Thread rule: a set belongs to one thread; several may read it.
 */
#ifndef SLIPWAY_TRAINER_MODEL_TENSORS_H
#define SLIPWAY_TRAINER_MODEL_TENSORS_H

#include <stddef.h>
#include <stdint.h>

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
	char **names;    /* owned names, n of them; NULL in a set made like another */
};

/* Adds a tensor (before tensors_alloc); copies the name; returns its index. */
size_t tensors_add(struct tensors *t, const char *name, int ndim, const size_t *shape);

/* Gives the set its memory, zeroed. */
void tensors_alloc(struct tensors *t);

/* *ret: the same table with memory of its own, zeroed. It borrows `like`'s names. */
void tensors_like(const struct tensors *like, struct tensors *ret);

void tensors_done(struct tensors *t);

/* NULL when there is no such name. */
struct tensor *tensors_find(const struct tensors *t, const char *name);

#endif
