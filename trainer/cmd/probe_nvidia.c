/*
 * NVIDIA GPUs, asked of the driver's own library (CUDA Driver API: cuInit, cuDriverGetVersion,
 * cuDeviceGetCount, cuDeviceGet, cuDeviceGetName, cuDeviceTotalMem_v2, cuDeviceGetAttribute). The
 * library comes with the node's driver, so it is loaded at run time and never linked.
 */
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "trainer/cmd/probe.h"

enum { CUDA_SUCCESS = 0, CUDA_ATTRIBUTE_CC_MAJOR = 75, CUDA_ATTRIBUTE_CC_MINOR = 76 };

struct cuda {
	int (*init)(unsigned flags);
	int (*driver_version)(int *version);
	int (*device_count)(int *count);
	int (*device)(int *device, int ordinal);
	int (*name)(char *name, int len, int device);
	int (*total_memory)(size_t *bytes, int device);
	int (*attribute)(int *value, int attribute, int device);
};

/* POSIX lets dlsym's result be a function; ISO C wants the copy. */
static bool load(void *library, const char *name, void *member)
{
	void *symbol = dlsym(library, name);

	memcpy(member, &symbol, sizeof(symbol));
	return symbol != NULL;
}

static bool load_all(void *library, struct cuda *cuda)
{
	return load(library, "cuInit", &cuda->init) &&
	       load(library, "cuDriverGetVersion", &cuda->driver_version) &&
	       load(library, "cuDeviceGetCount", &cuda->device_count) &&
	       load(library, "cuDeviceGet", &cuda->device) &&
	       load(library, "cuDeviceGetName", &cuda->name) &&
	       load(library, "cuDeviceTotalMem_v2", &cuda->total_memory) &&
	       load(library, "cuDeviceGetAttribute", &cuda->attribute);
}

static bool ask_device(const struct cuda *cuda, int ordinal, struct probe_gpu *gpu)
{
	int device;
	size_t bytes = 0;

	if (cuda->device(&device, ordinal) != CUDA_SUCCESS ||
	    cuda->name(gpu->name, sizeof(gpu->name), device) != CUDA_SUCCESS ||
	    cuda->total_memory(&bytes, device) != CUDA_SUCCESS)
		return false;
	gpu->memory_bytes = (int64_t)bytes;
	cuda->attribute(&gpu->compute_major, CUDA_ATTRIBUTE_CC_MAJOR, device);
	cuda->attribute(&gpu->compute_minor, CUDA_ATTRIBUTE_CC_MINOR, device);
	return true;
}

static void ask_driver(const struct cuda *cuda, struct probe_nvidia *nvidia)
{
	int count = 0;
	int status = cuda->init(0);

	cuda->driver_version(&nvidia->driver_version);
	if (status != CUDA_SUCCESS) {
		/* 100 is "no device", which a node without GPUs may rightly answer. */
		if (status != 100)
			snprintf(nvidia->problem, sizeof(nvidia->problem),
			         "cuInit failed with CUDA error %d", status);
		return;
	}
	if (cuda->device_count(&count) != CUDA_SUCCESS)
		count = 0;
	for (int i = 0; i < count && nvidia->n_gpus < PROBE_DEVICES_MAX; i++)
		if (ask_device(cuda, i, &nvidia->gpus[nvidia->n_gpus]))
			nvidia->n_gpus++;
}

void probe_nvidia(const char *root, struct probe_nvidia *nvidia)
{
	struct cuda cuda = {0};
	char path[512];
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	snprintf(path, sizeof(path), "%s/dev/nvidia0", root);
	nvidia->device_files = access(path, F_OK) == 0;
	nvidia->library = library != NULL;
	if (library == NULL) {
		if (nvidia->device_files)
			snprintf(nvidia->problem, sizeof(nvidia->problem),
			         "/dev/nvidia0 exists but libcuda.so.1 cannot be loaded");
		return;
	}
	if (load_all(library, &cuda))
		ask_driver(&cuda, nvidia);
	else
		snprintf(nvidia->problem, sizeof(nvidia->problem),
		         "libcuda.so.1 lacks a function it must have");
	/* Not closed: the driver's threads may still run in it. */
}
