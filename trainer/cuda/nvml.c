#include "trainer/cuda/nvml.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/clock.h"
#include "base/mem.h"

/* nvmlUtilization_t, in percent; nvmlMemory_t, in bytes. */
struct nvml_use {
	unsigned gpu, memory;
};
struct nvml_memory {
	unsigned long long total, available, used;
};

enum {
	SENSOR_GPU = 0,    /* NVML_TEMPERATURE_GPU */
	CLOCK_SM = 1,      /* NVML_CLOCK_SM */
	CLOCK_MEMORY = 2,  /* NVML_CLOCK_MEM */
	ECC_CORRECTED = 0, /* NVML_MEMORY_ERROR_TYPE_CORRECTED */
	ECC_UNCORRECTED = 1,
	ECC_VOLATILE = 0 /* NVML_VOLATILE_ECC: since the driver was loaded */
};
#define ASK_EVERY 1.0 /* seconds */

/* CALL(member, exported name, parameters) */
#define NVML_CALLS(CALL)                                                                           \
	CALL(init, nvmlInit_v2, (void))                                                            \
	CALL(end, nvmlShutdown, (void))                                                            \
	CALL(find, nvmlDeviceGetHandleByPciBusId_v2, (const char *bus_id, void **device))          \
	CALL(use, nvmlDeviceGetUtilizationRates, (void *device, struct nvml_use *ret))             \
	CALL(memory, nvmlDeviceGetMemoryInfo, (void *device, struct nvml_memory *ret))             \
	CALL(power, nvmlDeviceGetPowerUsage, (void *device, unsigned *milliwatts))                 \
	CALL(temperature, nvmlDeviceGetTemperature, (void *device, int sensor, unsigned *ret))     \
	CALL(clock, nvmlDeviceGetClockInfo, (void *device, int kind, unsigned *megahertz))         \
	CALL(errors, nvmlDeviceGetTotalEccErrors,                                                  \
	     (void *device, int kind, int counter, unsigned long long *ret))

#define NVML_MEMBER(member, name, parameters) int(*member) parameters;
struct nvml_calls {
	NVML_CALLS(NVML_MEMBER)
};
#define NVML_SYMBOL(member, name, parameters) {#name, offsetof(struct nvml_calls, member)},
static const struct {
	const char *name;
	size_t offset;
} symbols[] = {NVML_CALLS(NVML_SYMBOL)};

struct nvml {
	struct nvml_calls call;
	void *device;
	bool counts;          /* errors, from `first` on */
	uint64_t first, more; /* the count at first; how many there were since */
	double asked;
};

/* ---- what it tells ---- */

static bool read_use(const struct nvml *n, double *ret)
{
	struct nvml_use use;

	if (n->call.use(n->device, &use) != 0)
		return false;
	*ret = use.gpu / 100.0;
	return true;
}

static bool read_memory_use(const struct nvml *n, double *ret)
{
	struct nvml_use use;

	if (n->call.use(n->device, &use) != 0)
		return false;
	*ret = use.memory / 100.0;
	return true;
}

static bool read_memory(const struct nvml *n, double *ret)
{
	struct nvml_memory memory;

	if (n->call.memory(n->device, &memory) != 0)
		return false;
	*ret = (double)memory.used;
	return true;
}

static bool read_power(const struct nvml *n, double *ret)
{
	unsigned milliwatts;

	if (n->call.power(n->device, &milliwatts) != 0)
		return false;
	*ret = milliwatts / 1000.0;
	return true;
}

static bool read_temperature(const struct nvml *n, double *ret)
{
	unsigned degrees;

	if (n->call.temperature(n->device, SENSOR_GPU, &degrees) != 0)
		return false;
	*ret = degrees;
	return true;
}

static bool clock_of(const struct nvml *n, int kind, double *ret)
{
	unsigned megahertz;

	if (n->call.clock(n->device, kind, &megahertz) != 0)
		return false;
	*ret = megahertz * 1e6;
	return true;
}

static bool read_clock(const struct nvml *n, double *ret)
{
	return clock_of(n, CLOCK_SM, ret);
}

static bool read_memory_clock(const struct nvml *n, double *ret)
{
	return clock_of(n, CLOCK_MEMORY, ret);
}

static bool errors_of(const struct nvml *n, int kind, double *ret)
{
	unsigned long long errors;

	if (n->call.errors(n->device, kind, ECC_VOLATILE, &errors) != 0)
		return false;
	*ret = (double)errors;
	return true;
}

static bool read_corrected(const struct nvml *n, double *ret)
{
	return errors_of(n, ECC_CORRECTED, ret);
}

static bool read_uncorrectable(const struct nvml *n, double *ret)
{
	return errors_of(n, ECC_UNCORRECTED, ret);
}

static bool (*const readers[METERS])(const struct nvml *n, double *ret) = {
	[METER_USE] = read_use,
	[METER_MEMORY_USE] = read_memory_use,
	[METER_MEMORY] = read_memory,
	[METER_POWER] = read_power,
	[METER_TEMPERATURE] = read_temperature,
	[METER_CLOCK] = read_clock,
	[METER_MEMORY_CLOCK] = read_memory_clock,
	[METER_CORRECTED] = read_corrected,
	[METER_UNCORRECTABLE] = read_uncorrectable,
};

void nvml_read(const struct nvml *n, struct meters *ret)
{
	for (size_t i = 0; n != NULL && i < METERS; i++)
		ret->has[i] = readers[i](n, &ret->value[i]);
}

/* ---- errors ---- */

uint64_t nvml_new_errors(struct nvml *n)
{
	double count, now = clock_seconds();

	if (n == NULL || !n->counts || now - n->asked < ASK_EVERY)
		return n != NULL ? n->more : 0;
	n->asked = now;
	if (read_uncorrectable(n, &count) && (uint64_t)count > n->first)
		n->more = (uint64_t)count - n->first;
	return n->more;
}

/* ---- opening ---- */

static bool load(struct nvml_calls *ret)
{
	void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);

	if (library == NULL)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
		void *symbol = dlsym(library, symbols[i].name);

		if (symbol == NULL)
			return false;
		/* POSIX lets dlsym's result be a function; ISO C wants the copy. */
		memcpy((char *)ret + symbols[i].offset, &symbol, sizeof(symbol));
	}
	return true;
}

struct nvml *nvml_open(const char *bus_id)
{
	struct nvml_calls call;
	void *device = NULL;
	struct nvml *n;
	double count = 0;

	if (bus_id[0] == '\0' || !load(&call) || call.init() != 0)
		return NULL;
	if (call.find(bus_id, &device) != 0) {
		(void)call.end();
		return NULL;
	}
	n = mem_zalloc(sizeof(*n));
	n->call = call;
	n->device = device;
	n->counts = read_uncorrectable(n, &count);
	n->first = (uint64_t)count;
	return n;
}

void nvml_close(struct nvml *n)
{
	if (n != NULL)
		(void)n->call.end();
	free(n);
}
