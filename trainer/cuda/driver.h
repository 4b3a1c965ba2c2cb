/*
 * One of NVIDIA's GPUs through its driver, libcuda.so.1, which is loaded when a device is opened:
 * memory, transfers, and the kernels of trainer/cuda/kernels.h in one stream, in order. Without
 * NVIDIA's headers: names, numbers and prototypes are those of the CUDA driver API's reference.
 * Never run on a GPU so far; tests/cuda/standin.c stands in for the driver.
 *
 * Errors stick: the first is kept, from then on nothing is asked of the driver but to give back
 * what is held, and cuda_sync returns it. A device belongs to one thread.
 */
#ifndef SLIPWAY_TRAINER_CUDA_DRIVER_H
#define SLIPWAY_TRAINER_CUDA_DRIVER_H

#include "base/err.h"
#include "trainer/cuda/launch.h"
#include "trainer/ops/meters.h"

struct cuda_device;

/* What a device says of itself. */
struct cuda_about {
	char name[64];
	int major, minor; /* compute capability */
	int processors;   /* multiprocessors */
	int driver;       /* the newest CUDA that the driver knows: 12040 is 12.4 */
	size_t memory;    /* bytes free when it was opened */
};

/*
 * Opens device `ordinal` (0 is the first that the process may use). Kernels are compiled for it
 * when they are first launched.
 * library: NULL for libcuda.so.1. ERR_NOT_FOUND: there is no driver or no such device;
 * ERR_UNSUPPORTED: the device or the driver is too old; ERR_MACHINE: the device does not work.
 * Every error has its hint. The caller closes.
 */
int cuda_open(const char *library, int ordinal, struct cuda_device **ret, struct err *err) MUST_USE;
/* NULL is fine. */
void cuda_close(struct cuda_device *d);

struct cuda_queue *cuda_queue_of(struct cuda_device *d);
const struct cuda_about *cuda_about(const struct cuda_device *d);

/* True when something has failed; then with *ret, the first. */
bool cuda_failed(const struct cuda_device *d, struct err *ret);

/* Bytes of scratch that launches have taken (struct cuda_queue). */
size_t cuda_held(const struct cuda_device *d);

/* NULL when there is no memory, which sticks; `what` is for its message. Undefined content. */
void *cuda_allocate(struct cuda_device *d, size_t n, const char *what);
/* The host's own memory, from which transfers do not wait. */
void *cuda_allocate_pinned(struct cuda_device *d, size_t n, const char *what);
/* NULL is fine. Waits for what is under way. */
void cuda_release(struct cuda_device *d, void *at);
void cuda_release_pinned(struct cuda_device *d, void *at);

/* In order with the launches; pinned memory is in use until the next cuda_sync. */
void cuda_upload(struct cuda_device *d, void *to, const void *from, size_t n);
void cuda_download(struct cuda_device *d, void *to, const void *from, size_t n);
void cuda_copy(struct cuda_device *d, void *to, const void *from, size_t n);

/* What the host sends ahead: as `send`, `sent` and `take` of trainer/ops/device.h. */
void cuda_send(struct cuda_device *d, unsigned lane, void *to, const void *from, size_t n);
void cuda_sent(struct cuda_device *d, unsigned lane);
void cuda_take(struct cuda_device *d, unsigned lane, void *to, const void *from, size_t n);

/*
 * Recordings (trainer/ops/recording.h). NULL where something was asked for that cannot be
 * recorded: a kernel that was never launched, more scratch than there is. cuda_replay is false, and
 * does nothing, when memory was given back since. The caller forgets.
 */
struct cuda_graph;
bool cuda_record(struct cuda_device *d);
struct cuda_graph *cuda_record_end(struct cuda_device *d);
bool cuda_replay(struct cuda_device *d, struct cuda_graph *g);
void cuda_forget(struct cuda_device *d, struct cuda_graph *g); /* NULL is fine */

/* What the device tells of itself. */
void cuda_meters(const struct cuda_device *d, struct meters *ret);

/* Returns when all that was asked for is done: 0, or the error that sticks. An error of the
 * device's memory that could not be corrected is one, whether the driver tells or not. */
int cuda_sync(struct cuda_device *d, struct err *err) MUST_USE;

#endif
