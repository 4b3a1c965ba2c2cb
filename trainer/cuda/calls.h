/*
 * The driver's functions that are called, by the names that the library exports (`_v2` and the like
 * are what its header maps the plain names to). A CUdeviceptr is a 64-bit number, a result an int.
 */
#ifndef SLIPWAY_TRAINER_CUDA_CALLS_H
#define SLIPWAY_TRAINER_CUDA_CALLS_H

#include <stddef.h>
#include <stdint.h>

/* CALL(member, exported name, parameters) */
#define CUDA_CALLS(CALL)                                                                           \
	CALL(init, cuInit, (unsigned flags))                                                       \
	CALL(version, cuDriverGetVersion, (int *version))                                          \
	CALL(error_name, cuGetErrorName, (int result, const char **name))                          \
	CALL(count, cuDeviceGetCount, (int *count))                                                \
	CALL(device, cuDeviceGet, (int *device, int ordinal))                                      \
	CALL(name, cuDeviceGetName, (char *name, int room, int device))                            \
	CALL(bus_id, cuDeviceGetPCIBusId, (char *id, int room, int device))                        \
	CALL(attribute, cuDeviceGetAttribute, (int *value, int attribute, int device))             \
	CALL(retain, cuDevicePrimaryCtxRetain, (void **context, int device))                       \
	CALL(forget, cuDevicePrimaryCtxRelease_v2, (int device))                                   \
	CALL(use, cuCtxSetCurrent, (void *context))                                                \
	CALL(load, cuModuleLoadDataEx,                                                             \
	     (void **module, const void *text, unsigned n, int *options, void **values))           \
	CALL(unload, cuModuleUnload, (void *module))                                               \
	CALL(function, cuModuleGetFunction, (void **function, void *module, const char *name))     \
	CALL(launch, cuLaunchKernel,                                                               \
	     (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,     \
	      unsigned bz, unsigned shared, void *stream, void **params, void **extra))            \
	CALL(memory, cuMemGetInfo_v2, (size_t * free, size_t * total))                             \
	CALL(allocate, cuMemAlloc_v2, (uint64_t * at, size_t n))                                   \
	CALL(release, cuMemFree_v2, (uint64_t at))                                                 \
	CALL(allocate_host, cuMemHostAlloc, (void **at, size_t n, unsigned flags))                 \
	CALL(release_host, cuMemFreeHost, (void *at))                                              \
	CALL(upload, cuMemcpyHtoDAsync_v2,                                                         \
	     (uint64_t to, const void *from, size_t n, void *stream))                              \
	CALL(download, cuMemcpyDtoHAsync_v2, (void *to, uint64_t from, size_t n, void *stream))    \
	CALL(copy, cuMemcpyDtoDAsync_v2, (uint64_t to, uint64_t from, size_t n, void *stream))     \
	CALL(set, cuMemsetD8Async, (uint64_t to, unsigned char byte, size_t n, void *stream))      \
	CALL(stream_new, cuStreamCreate, (void **stream, unsigned flags))                          \
	CALL(stream_free, cuStreamDestroy_v2, (void *stream))                                      \
	CALL(stream_sync, cuStreamSynchronize, (void *stream))                                     \
	CALL(stream_wait, cuStreamWaitEvent, (void *stream, void *event, unsigned flags))          \
	CALL(event_new, cuEventCreate, (void **event, unsigned flags))                             \
	CALL(event_free, cuEventDestroy_v2, (void *event))                                         \
	CALL(event_record, cuEventRecord, (void *event, void *stream))                             \
	CALL(event_query, cuEventQuery, (void *event))                                             \
	CALL(event_sync, cuEventSynchronize, (void *event))                                        \
	CALL(event_elapsed, cuEventElapsedTime, (float *ms, void *from, void *to))                 \
	CALL(capture_begin, cuStreamBeginCapture_v2, (void *stream, int mode))                     \
	CALL(capture_end, cuStreamEndCapture, (void *stream, void **graph))                        \
	CALL(graph_new, cuGraphInstantiateWithFlags,                                               \
	     (void **exec, void *graph, unsigned long long flags))                                 \
	CALL(graph_free, cuGraphDestroy, (void *graph))                                            \
	CALL(graph_launch, cuGraphLaunch, (void *exec, void *stream))                              \
	CALL(exec_free, cuGraphExecDestroy, (void *exec))

#define CUDA_CALL_MEMBER(member, name, parameters) int(*member) parameters;
struct cuda_calls {
	CUDA_CALLS(CUDA_CALL_MEMBER)
};
#undef CUDA_CALL_MEMBER

/* Results and numbers of the API that are told apart. */
enum {
	RESULT_NO_MEMORY = 2,
	RESULT_STUB = 34, /* of a library without a driver */
	RESULT_NO_DEVICE = 100,
	RESULT_INVALID_DEVICE = 101,
	RESULT_ECC_UNCORRECTABLE = 214,
	RESULT_NOT_READY = 600, /* of an event that is to come */
	ATTRIBUTE_MULTIPROCESSORS = 16,
	ATTRIBUTE_MAJOR = 75,
	ATTRIBUTE_MINOR = 76,
	OPTION_ERROR_LOG = 5,
	OPTION_ERROR_LOG_BYTES = 6,
	STREAM_NON_BLOCKING = 1,
	EVENT_DISABLE_TIMING = 2,
	CAPTURE_THREAD_LOCAL = 1
};

#endif
