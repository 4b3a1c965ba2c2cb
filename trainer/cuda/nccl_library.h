/*
 * NVIDIA's library of collectives, libnccl.so.2, loaded when several ranks have a GPU each. The
 * base image or a layer brings it; slipway never does, and links nothing of it. Names, numbers and
 * layouts are those of its published interface (nccl.h); a ncclResult_t is an int.
 */
#ifndef SLIPWAY_TRAINER_CUDA_NCCL_LIBRARY_H
#define SLIPWAY_TRAINER_CUDA_NCCL_LIBRARY_H

#include <stddef.h>

#include "base/err.h"

/* Passed by value. */
struct nccl_id {
	unsigned char bytes[128];
};

/*
 * ncclConfig_t as of 2.18. A library reads `size` bytes at most and takes for granted what an older
 * `version` did not have, so an older library and a newer one take it, too.
 */
struct nccl_config {
	size_t size;
	unsigned magic, version;
	int blocking, cluster, blocks_min, blocks_max;
	const char *network;
	int split_share;
};

enum {
	NCCL_MAGIC = 0xcafebeef - (1LL << 32), /* as an int */
	NCCL_CONFIG_VERSION = 21800,
	NCCL_OLDEST = 21400, /* the first that need not block */
	NCCL_FLOAT = 7,
	NCCL_SUM = 0,
	NCCL_IN_PROGRESS = 7
};
#define NCCL_UNDEFINED (-2147483647 - 1)

/* CALL(member, exported name, parameters) */
#define NCCL_CALLS(CALL)                                                                           \
	CALL(version, ncclGetVersion, (int *version))                                              \
	CALL(unique_id, ncclGetUniqueId, (struct nccl_id * id))                                    \
	CALL(join, ncclCommInitRankConfig,                                                         \
	     (void **comm, int n_ranks, struct nccl_id id, int rank, struct nccl_config *config))  \
	CALL(sum, ncclAllReduce,                                                                   \
	     (const void *from, void *to, size_t n, int type, int op, void *comm, void *stream))   \
	CALL(state, ncclCommGetAsyncError, (void *comm, int *result))                              \
	CALL(finalize, ncclCommFinalize, (void *comm))                                             \
	CALL(destroy, ncclCommDestroy, (void *comm))                                               \
	CALL(abort, ncclCommAbort, (void *comm))

#define NCCL_CALL_MEMBER(member, name, parameters) int(*member) parameters;
struct nccl_calls {
	NCCL_CALLS(NCCL_CALL_MEMBER)
	const char *(*error)(int result); /* ncclGetErrorString */
};

struct nccl_library {
	struct nccl_calls call;
	int version; /* 23007: 2.30.7 */
};

/* ERR_NOT_FOUND: it is not there; ERR_UNSUPPORTED: it lacks a function, or is older than 2.14. It
 * stays loaded until the process ends. */
int nccl_library_open(struct nccl_library *ret, struct err *err) MUST_USE;

/* What a result means to the user; call: NCCL's function. Returns -1. */
int nccl_failure(const struct nccl_library *l, int result, const char *call, struct err *err);

#endif
