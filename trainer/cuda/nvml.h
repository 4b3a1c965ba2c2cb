/*
 * NVIDIA's management library, libnvidia-ml.so.1, which the driver brings and a container has with
 * NVIDIA_DRIVER_CAPABILITIES=utility: what a GPU says of itself. Names, numbers and layouts are
 * those of the NVML API's reference.
 *
 * Nothing of it is needed: where the library, a function or a sensor is missing, or fails, its
 * meters are left out. One thread.
 */
#ifndef SLIPWAY_TRAINER_CUDA_NVML_H
#define SLIPWAY_TRAINER_CUDA_NVML_H

#include <stdint.h>

#include "trainer/ops/meters.h"

struct nvml; /* opaque */

/* Of the GPU at this place on the bus, "0000:00:1E.0". NULL: there is nothing to be asked. */
struct nvml *nvml_open(const char *bus_id);
void nvml_close(struct nvml *n); /* NULL is fine */

/* What can be had. NULL is fine. */
void nvml_read(const struct nvml *n, struct meters *ret);

/* How many more of the memory's errors could not be corrected than at nvml_open; 0 where nobody
 * counts. Asks once a second at most, and answers as before meanwhile. NULL is fine. */
uint64_t nvml_new_errors(struct nvml *n);

#endif
