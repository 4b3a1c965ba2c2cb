#include "tests/cuda/standin_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/cuda/uses.h"
#include "trainer/cuda/kernels/entries.h"

#define STANDIN_CALL(source, name, type, threads, bytes)                                           \
	static void run_##name(const void *params)                                                 \
	{                                                                                          \
		name(*(const struct type *)params);                                                \
	}
CUDA_KERNELS(STANDIN_CALL)
#define STANDIN_ROW(source, name, type, block, bytes)                                              \
	{#source, #name, run_##name, (block), (bytes), sizeof(struct type)},
static const struct standin_kernel rows[] = {CUDA_KERNELS(STANDIN_ROW)};
/* Few, so that products are cut into large tiles as soon as they have rows and columns for it. */
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

struct standin gpu;
static struct uses uses;

/* What a context that was lost did not give back. */
static void drop_pinned(void)
{
	for (size_t i = 0; i < BLOCKS; i++)
		if (gpu.pinned[i].n > 0)
			free((void *)(uintptr_t)gpu.pinned[i].at);
}

void standin_reset(size_t fail_at, int result, int major, int minor, size_t memory)
{
	drop_tasks();
	drop_pinned();
	if (gpu.arena != NULL)
		(void)munmap(gpu.arena, ARENA);
	gpu = (struct standin){.devices = 1,
	                       .fail_at = fail_at,
	                       .result = result,
	                       .major = major,
	                       .minor = minor,
	                       .memory = memory};
	gpu.arena = mmap(ARENA_HINT, ARENA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	                 -1, 0);
}

void standin_devices(unsigned n)
{
	gpu.devices = n;
}

void standin_order(size_t seed)
{
	gpu.order = seed;
}

void standin_fail_call(const char *name)
{
	gpu.fail_call = name;
}

static size_t setting(const char *name, size_t otherwise)
{
	const char *text = getenv(name);

	return text != NULL ? strtoul(text, NULL, 10) : otherwise;
}

/* For programs, which find this library by its name: set up and told about in the environment. */
__attribute__((constructor)) static void begin(void)
{
	size_t compute = setting("STANDIN_COMPUTE", 86);

	standin_reset(setting("STANDIN_FAIL_AT", 0), (int)setting("STANDIN_RESULT", 999),
	              (int)(compute / 10), (int)(compute % 10),
	              setting("STANDIN_MEMORY_MIB", 512) << 20);
	standin_devices((unsigned)setting("STANDIN_DEVICES", 1));
	gpu.fail_call = getenv("STANDIN_FAIL_CALL");
}

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("STANDIN_REPORT");
	FILE *f = path != NULL && gpu.calls > 0 ? fopen(path, "a") : NULL;

	uses_report(&uses);
	if (f == NULL)
		return;
	fprintf(f, "calls %zu held %zu device %d replays %zu late %zu problem %s\n", gpu.calls,
	        gpu.held, gpu.device - FIRST_DEVICE, gpu.replays, gpu.late,
	        gpu.problem != NULL ? gpu.problem : "none");
	(void)fclose(f);
}

struct standin_state standin_state(void)
{
	return (struct standin_state){.calls = gpu.calls,
	                              .counted = gpu.counted,
	                              .held = gpu.held,
	                              .problem = gpu.problem,
	                              .allocations = gpu.allocations,
	                              .recordings = gpu.recordings,
	                              .replays = gpu.replays,
	                              .launches = gpu.launches,
	                              .most = gpu.most};
}

int wrong(int result, const char *problem)
{
	if (gpu.problem == NULL)
		gpu.problem = problem;
	return result;
}

/* Errors after which a context is of no use: every later call has the same. */
static bool is_fatal(int result)
{
	return result == 214 || result == 220 || (result >= 700 && result <= 720);
}

int count_call(const char *name)
{
	gpu.calls++;
	uses_count(&uses, name);
	if (gpu.fail_call == NULL || strcmp(gpu.fail_call, name) == 0)
		gpu.counted++;
	else
		return gpu.dead;
	if (gpu.counted != gpu.fail_at)
		return gpu.dead;
	if (is_fatal(gpu.result))
		gpu.dead = gpu.result;
	return gpu.result;
}

const struct block *block_at(const void *at)
{
	size_t offset = (size_t)((const char *)at - gpu.arena);

	for (size_t i = 0; i < BLOCKS; i++)
		if (gpu.blocks[i].n > 0 && offset - gpu.blocks[i].at < gpu.blocks[i].n)
			return &gpu.blocks[i];
	return NULL;
}

bool within(const void *at, size_t n)
{
	const struct block *b = block_at(at);

	return b != NULL && n <= b->n && (size_t)((const char *)at - gpu.arena) - b->at <= b->n - n;
}

/* ---- devices and contexts ---- */

int cuInit(unsigned flags)
{
	COUNTED;
	gpu.initialised = true;
	if (gpu.devices == 0)
		return RESULT_NO_DEVICE;
	return flags == 0 ? 0 : wrong(BAD_VALUE, "cuInit with flags");
}

int cuDriverGetVersion(int *version)
{
	COUNTED;
	*version = 12040;
	return 0;
}

int cuGetErrorName(int result, const char **name)
{
	/* Not counted: a fault of its own would come after another. */
	if (gpu.fail_call != NULL && strcmp(gpu.fail_call, __func__) == 0)
		return gpu.result;
	*name = result == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_PLANTED";
	return 0;
}

int cuDeviceGetCount(int *count)
{
	COUNTED;
	if (!gpu.initialised)
		return wrong(NOT_READY, "devices counted before cuInit");
	*count = (int)gpu.devices;
	return gpu.devices > 0 ? 0 : RESULT_NO_DEVICE;
}

int cuDeviceGet(int *device, int ordinal)
{
	COUNTED;
	*device = FIRST_DEVICE + ordinal;
	return ordinal >= 0 && (unsigned)ordinal < gpu.devices ? 0 : RESULT_INVALID_DEVICE;
}

static bool is_device(int device)
{
	return device >= FIRST_DEVICE && device - FIRST_DEVICE < (int)gpu.devices;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	COUNTED;
	*bytes = gpu.memory;
	return is_device(device) ? 0 : wrong(RESULT_INVALID_DEVICE, "not a device");
}

int cuDeviceGetName(char *name, int room, int device)
{
	COUNTED;
	strncpy(name, "Stand-in", (size_t)room);
	return is_device(device) ? 0 : wrong(RESULT_INVALID_DEVICE, "not a device");
}

int cuDeviceGetPCIBusId(char *id, int room, int device)
{
	COUNTED;
	snprintf(id, (size_t)room, "0000:00:%02X.0", device);
	return is_device(device) ? 0 : wrong(RESULT_INVALID_DEVICE, "not a device");
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	COUNTED;
	if (!is_device(device))
		return wrong(BAD_VALUE, "not a device");
	switch (attribute) {
	case ATTRIBUTE_MAJOR:
		*value = gpu.major;
		return 0;
	case ATTRIBUTE_MINOR:
		*value = gpu.minor;
		return 0;
	case ATTRIBUTE_MULTIPROCESSORS:
		*value = MULTIPROCESSORS;
		return 0;
	default:
		return wrong(BAD_VALUE, "not an attribute");
	}
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
	COUNTED;
	if (!gpu.initialised || !is_device(device) || gpu.retained)
		return wrong(NOT_READY, "a context before cuInit, or a second one");
	gpu.retained = true;
	gpu.device = device;
	gpu.held++;
	*context = &gpu.retained;
	return 0;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
	COUNTED;
	if (!gpu.retained || device != gpu.device)
		return wrong(BAD_HANDLE, "a context that is not held");
	gpu.retained = gpu.current = false;
	gpu.held--;
	return 0;
}

int cuCtxSetCurrent(void *context)
{
	COUNTED;
	gpu.current = context == &gpu.retained;
	return gpu.current ? 0 : wrong(BAD_HANDLE, "not a context");
}

/* ---- modules and launches ---- */

/* The handle of a module is its text: that is where its kernels are looked up. */
int cuModuleLoadDataEx(void **module, const void *text, unsigned n, int *options, void **values)
{
	char target[32];

	COUNTED_APART;
	if (!gpu.current || n != 2 || options[0] != OPTION_ERROR_LOG ||
	    options[1] != OPTION_ERROR_LOG_BYTES || values[0] == NULL)
		return wrong(BAD_VALUE, "a text without a context or without room for complaints");
	snprintf(target, sizeof(target), ".target sm_%d\n", gpu.major >= 8 ? 80 : 75);
	if (strstr(text, target) == NULL || strstr(text, ".visible .entry ") == NULL)
		return wrong(BAD_IMAGE, "a text that is not for this device");
	gpu.modules++;
	gpu.held++;
	*module = (void *)(uintptr_t)text;
	return 0;
}

int cuModuleUnload(void *module)
{
	COUNTED_APART;
	if (module == NULL || gpu.modules == 0)
		return wrong(BAD_HANDLE, "not a module");
	gpu.modules--;
	gpu.held--;
	return 0;
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
	char entry[96];

	COUNTED;
	snprintf(entry, sizeof(entry), ".visible .entry %s(", name);
	for (size_t i = 0; i < ROWS && strstr(module, entry) != NULL; i++) {
		if (strcmp(rows[i].name, name) != 0)
			continue;
		*function = (void *)(uintptr_t)&rows[i];
		return 0;
	}
	return wrong(NOT_FOUND, "a kernel that the text does not have");
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **params, void **extra)
{
	const struct standin_kernel *k = function;
	struct task t = {.kernel = k, .grid = {gx, gy, gz}};

	COUNTED;
	if (k < rows || k >= rows + ROWS)
		return wrong(BAD_HANDLE, "not a kernel");
	if (gx == 0 || gy == 0 || gz == 0 || gy > 65535 || gz > 65535 || by != 1 || bz != 1 ||
	    bx != k->threads)
		return wrong(BAD_VALUE, "a grid or a block that the kernel is not for");
	if (shared != k->shared || shared > 48 << 10 || params == NULL || extra != NULL ||
	    k->params > PARAMS_MAX)
		return wrong(BAD_VALUE, "shared memory or parameters of another kernel");
	memcpy(t.params, params[0], k->params);
	gpu.launches += !is_recording();
	gpu.updated = gpu.updated || strcmp(k->name, "sgd") == 0 || strcmp(k->name, "adamw") == 0;
	return push(&t, stream);
}

/* ---- memory ---- */

int cuMemGetInfo_v2(size_t *available, size_t *total)
{
	COUNTED;
	*available = *total = gpu.memory;
	return 0;
}

int cuMemAlloc_v2(uint64_t *at, size_t n)
{
	size_t end = 0, used = 0, place = BLOCKS, rounded = (n + PAGE - 1) / PAGE * PAGE;

	COUNTED_APART;
	for (size_t i = 0; i < BLOCKS; i++) {
		const struct block *b = &gpu.blocks[i];

		place = b->n == 0 && place == BLOCKS ? i : place;
		end = b->n > 0 && b->at + b->n > end ? b->at + b->n : end;
		used += b->n;
		rounded += (b->n + PAGE - 1) / PAGE * PAGE;
	}
	if (n == 0)
		return wrong(BAD_VALUE, "an allocation of nothing");
	end = (end + 2 * ALIGN - 1) / ALIGN *
	      ALIGN; /* a gap, so that what lies beyond is nobody's */
	if (n > gpu.memory || used > gpu.memory - n || end + n > ARENA || place == BLOCKS)
		return RESULT_NO_MEMORY;
	gpu.blocks[place] = (struct block){end, n, ++gpu.serial};
	gpu.most = rounded > gpu.most ? rounded : gpu.most;
	gpu.top = end + n > gpu.top ? end + n : gpu.top;
	gpu.allocations++;
	gpu.late += gpu.updated;
	gpu.held++;
	*at = (uint64_t)(uintptr_t)(gpu.arena + end);
	return 0;
}

int cuMemFree_v2(uint64_t at)
{
	COUNTED_APART;
	run_all();
	for (size_t i = 0; i < BLOCKS; i++) {
		if (gpu.blocks[i].n == 0 ||
		    (uint64_t)(uintptr_t)(gpu.arena + gpu.blocks[i].at) != at)
			continue;
		gpu.blocks[i].n = 0;
		gpu.held--;
		return 0;
	}
	return wrong(BAD_VALUE, "memory given back that was not had");
}

/* The block of pinned memory that `at` lies in; NULL: it is not pinned. */
struct block *pinned_at(const void *at)
{
	size_t address = (size_t)(uintptr_t)at;

	for (size_t i = 0; i < BLOCKS; i++)
		if (address - gpu.pinned[i].at < gpu.pinned[i].n)
			return &gpu.pinned[i];
	return NULL;
}

int cuMemHostAlloc(void **at, size_t n, unsigned flags)
{
	size_t place = 0;

	COUNTED_APART;
	while (place < BLOCKS && gpu.pinned[place].n > 0)
		place++;
	if (n == 0 || flags != 0 || place == BLOCKS)
		return wrong(BAD_VALUE, "an allocation of nothing, or too many");
	*at = malloc(n);
	gpu.pinned[place] = (struct block){(size_t)(uintptr_t)*at, n, 0};
	gpu.allocations++;
	gpu.late += gpu.updated;
	gpu.held++;
	return 0;
}

int cuMemFreeHost(void *at)
{
	struct block *b = pinned_at(at);

	COUNTED_APART;
	if (b == NULL || b->at != (size_t)(uintptr_t)at)
		return wrong(BAD_VALUE, "pinned memory given back that was not had");
	run_all();
	free(at);
	b->n = 0;
	gpu.held--;
	return 0;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, void *stream)
{
	struct task t = {.to = (char *)(uintptr_t)to, .from = from, .n = n};

	COUNTED_APART;
	if (!within(t.to, n) || from == NULL || within(from, 1))
		return wrong(BAD_VALUE,
		             "an upload to what is not the device's, or not from the host");
	t.pinned = pinned_at(from) != NULL;
	if (!t.pinned) { /* as a driver does: the caller may change it at once */
		t.staged = malloc(n);
		memcpy(t.staged, from, n);
		t.from = t.staged;
	}
	return push(&t, stream);
}

int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t n, void *stream)
{
	struct task t = {.to = to, .from = (const char *)(uintptr_t)from, .n = n};

	COUNTED_APART;
	if (!within(t.from, n) || to == NULL || within(to, 1))
		return wrong(BAD_VALUE,
		             "a download of what is not the device's, or not to the host");
	return push(&t, stream);
}

int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t n, void *stream)
{
	struct task t = {
		.to = (char *)(uintptr_t)to, .from = (const char *)(uintptr_t)from, .n = n};

	COUNTED;
	if (!within(t.to, n) || !within(t.from, n))
		return wrong(BAD_VALUE, "a copy of what is not the device's");
	return push(&t, stream);
}

int cuMemsetD8Async(uint64_t to, unsigned char byte, size_t n, void *stream)
{
	struct task t = {.to = (char *)(uintptr_t)to, .byte = byte, .n = n};

	COUNTED;
	if (!within(t.to, n))
		return wrong(BAD_VALUE, "bytes set that are not the device's");
	return push(&t, stream);
}
