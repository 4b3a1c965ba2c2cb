/*
 * The Neuron runtime's library, libnrt.so.1: its functions by the names that it exports. It is the
 * node's or the image's, loaded at run time and never linked. Source: the declarations of AWS's
 * nrt.h and nrt_experimental.h; prototypes here are our own. A status is an int, 0 is success.
 */
#ifndef SLIPWAY_TRAINER_NEURON_NRT_H
#define SLIPWAY_TRAINER_NEURON_NRT_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct nrt_tensor_info {
	char name[256];
	int usage; /* NRT_INPUT or NRT_OUTPUT */
	size_t size;
	int dtype;
	uint32_t *shape;
	uint32_t ndim;
};

struct nrt_tensor_info_array {
	uint64_t n;
	struct nrt_tensor_info at[];
};

struct nrt_instance_info {
	uint32_t family, size;
	char arch_name[16], device_revision[8];
};

enum { NRT_INPUT, NRT_OUTPUT };
enum { NRT_NO_FRAMEWORK = 1 };
enum { NRT_ON_DEVICE, NRT_ON_HOST };

/* CALL(member, exported name, parameters) */
#define NRT_CALLS(CALL)                                                                            \
	CALL(init, nrt_init, (int framework, const char *version, const char *fal))                \
	CALL(cores, nrt_get_visible_vnc_count, (uint32_t * n))                                     \
	CALL(load, nrt_load,                                                                       \
	     (const void *neff, size_t n, int32_t core, int32_t cores, void **model))              \
	CALL(load_collectives, nrt_load_collectives,                                               \
	     (const void *neff, size_t n, int32_t core, int32_t cores, uint32_t rank,              \
	      uint32_t ranks, void **model))                                                       \
	CALL(unload, nrt_unload, (void *model))                                                    \
	CALL(info, nrt_get_model_tensor_info, (void *model, struct nrt_tensor_info_array **info))  \
	CALL(info_free, nrt_free_model_tensor_info, (struct nrt_tensor_info_array * info))         \
	CALL(allocate, nrt_tensor_allocate,                                                        \
	     (int place, int core, size_t bytes, const char *name, void **tensor))                 \
	CALL(write, nrt_tensor_write, (void *tensor, const void *from, size_t at, size_t n))       \
	CALL(read, nrt_tensor_read, (const void *tensor, void *to, size_t at, size_t n))           \
	CALL(copy, nrt_tensor_copy,                                                                \
	     (const void *from, size_t from_at, void *to, size_t to_at, size_t n))                 \
	CALL(instance, nrt_get_instance_info, (struct nrt_instance_info * info, size_t n))         \
	CALL(set_new, nrt_allocate_tensor_set, (void **set))                                       \
	CALL(set_add, nrt_add_tensor_to_tensor_set, (void *set, const char *name, void *tensor))   \
	CALL(execute, nrt_execute, (void *model, const void *inputs, void *outputs))

#define NRT_MEMBER(member, name, parameters) int(*member) parameters;
struct nrt {
	NRT_CALLS(NRT_MEMBER)
	/* the three that return nothing, and the one that names a status */
	void (*tensor_free)(void **tensor);
	void (*set_free)(void **set);
	void (*close)(void);
	const char *(*status_name)(int status);
};
#undef NRT_MEMBER

/* path: NULL for libnrt.so.1. ERR_NOT_FOUND: there is none; ERR_UNSUPPORTED: it lacks a function.
 * It stays loaded until the process ends. */
int nrt_open(const char *path, struct nrt *ret, struct err *err) MUST_USE;

/*
 * The error of a call that gave this status, by the runtime's own list: ERR_MACHINE for what makes
 * the node bad, ERR_MEMORY, ERR_NETWORK for what another try may mend, ERR_FORMAT for a NEFF that
 * it does not take. Returns -1. NRT_NUMERIC is no failure: the results are there, NaN among them.
 */
int nrt_failure(const struct nrt *nrt, int status, const char *call, struct err *err);

enum { NRT_QUEUE_FULL = 7, NRT_NUMERIC = 1003 };

#endif
