/*
 * The safetensors file: 8-byte little-endian header length, a JSON header, raw little-endian data.
 * Reads F32, I32, F16 and BF16 (the latter two widened to F32); checks everything: offsets tile the
 * data without hole or overlap, products match, names are unique. Knows nothing of the model.
 */
#ifndef SLIPWAY_TRAINER_CHECKPOINT_SAFETENSORS_H
#define SLIPWAY_TRAINER_CHECKPOINT_SAFETENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "trainer/model/tensors.h"

enum st_dtype { ST_F32, ST_I32, ST_F16, ST_BF16, ST_U8 };

struct st_tensor {
	const char *name;
	enum st_dtype dtype;
	int ndim; /* 0..TENSOR_DIMS_MAX */
	size_t shape[TENSOR_DIMS_MAX];
	size_t n;         /* values */
	const void *data; /* in the mapped file, little endian; maybe unaligned */
};

struct st_file {
	struct st_tensor *at; /* sorted by name */
	size_t n;
	void *map; /* the whole file, read-only */
	size_t map_size;
	void *doc; /* names live here */
};

/* Maps the file and checks its header. ERR_NOT_FOUND, ERR_IO, ERR_FORMAT, ERR_LIMIT. */
int st_open(const char *path, struct st_file *ret, struct err *err) MUST_USE;
/* The same for bytes in memory (borrowed until st_close), for tests and fuzzers. */
int st_open_memory(const char *what, const void *bytes, size_t len, struct st_file *ret,
                   struct err *err) MUST_USE;
void st_close(struct st_file *f);
void st_file_done(struct st_file *f); /* for AUTO(st_file) */

/* NULL when absent. */
const struct st_tensor *st_find(const struct st_file *f, const char *name);

/* Copies a floating tensor to out[n] as F32; ERR_FORMAT when it is not of a floating type or has
 * other than n values. */
int st_read_f32(const struct st_tensor *t, float *out, size_t n, struct err *err) MUST_USE;
int st_read_i32(const struct st_tensor *t, int32_t *out, size_t n, struct err *err) MUST_USE;

/* Fills every tensor of `set` from `prefix` + its name; ERR_FORMAT naming the first one that is
 * missing or of another shape. What the file has beyond is not read. */
int st_read_set(const struct st_file *f, const char *prefix, struct tensors *set,
                struct err *err) MUST_USE;

/* One tensor to write; data is F32 or I32 in host order. */
struct st_item {
	const char *prefix, *name; /* written as prefix followed by name; prefix may be NULL */
	enum st_dtype dtype;       /* ST_F32, ST_I32, ST_U8 */
	int ndim;
	size_t shape[TENSOR_DIMS_MAX];
	const void *data;
};

/* The items of a set, to be written under prefix; the caller frees the array. */
MUST_USE struct st_item *st_items(const struct tensors *set, const char *prefix);

/*
 * Writes path (truncating) with metadata {"format": "pt"}, header padded to 64 bytes, and fsyncs
 * it. Not atomic: the caller writes into a folder that is not yet in its place.
 */
int st_write(const char *path, const struct st_item *items, size_t n, struct err *err) MUST_USE;

#endif
