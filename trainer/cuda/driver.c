#include "trainer/cuda/driver_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trainer/cuda/failure.h"

enum { LOG_BYTES = 4096, COMPUTE_MIN = 75, COMPUTE_BF16 = 80, SCRATCH_STEP = 1 << 20 };

#define CUDA_NAME(member, name, parameters) .member = #name,
const struct cuda_call_names cuda_call_names = {CUDA_CALLS(CUDA_NAME)};

bool cuda_done(struct cuda_device *d, int result, const char *call)
{
	if (result == 0)
		return !d->failed;
	if (d->failed)
		return false;
	d->failed = true;
	cuda_failure(&d->failure, result, call, cuda_result_name(&d->library, result));
	return false;
}

/* ---- opening ---- */

static void ask_about(struct cuda_device *d, int ordinal)
{
	struct cuda_about *a = &d->about;
	size_t total;

	if (!DO(d, init, (0)) || !DO(d, version, (&a->driver)) ||
	    !DO(d, device, (&d->device, ordinal)))
		return;
	(void)(DO(d, name, (a->name, (int)sizeof(a->name), d->device)) &&
	       DO(d, attribute, (&a->major, ATTRIBUTE_MAJOR, d->device)) &&
	       DO(d, attribute, (&a->minor, ATTRIBUTE_MINOR, d->device)) &&
	       DO(d, attribute, (&a->processors, ATTRIBUTE_MULTIPROCESSORS, d->device)) &&
	       DO(d, retain, (&d->context, d->device)) && DO(d, use, (d->context)) &&
	       DO(d, memory, (&a->memory, &total)) &&
	       DO(d, stream_new, (&d->stream, STREAM_NON_BLOCKING)));
	a->name[sizeof(a->name) - 1] = '\0';
}

/* It is not needed: what fails here fails nobody. */
static void open_nvml(struct cuda_device *d)
{
	char bus_id[32] = "";

	if (d->library.call.bus_id(bus_id, (int)sizeof(bus_id) - 1, d->device) == 0)
		d->nvml = nvml_open(bus_id);
}

static int compute_of(const struct cuda_device *d)
{
	return d->about.major * 10 + d->about.minor;
}

/* A module's text for this device; the driver's complaint is the only diagnosis there is. */
static void load_module(struct cuda_device *d, enum cuda_module module)
{
	const char *text =
		cuda_modules[module].text[compute_of(d) >= COMPUTE_BF16 ? TEXT_80 : TEXT_75];
	char log[LOG_BYTES] = "";
	int options[] = {OPTION_ERROR_LOG, OPTION_ERROR_LOG_BYTES};
	void *values[] = {log, (void *)(uintptr_t)(sizeof(log) - 1)};

	if (text == NULL || d->failed ||
	    DO(d, load, (&d->modules[module], text, 2, options, values)))
		return;
	log[strcspn(log, "\r\n")] = '\0';
	err_wrap(&d->failure, "compile the kernels '%s'%s%.200s", cuda_modules[module].name,
	         log[0] != '\0' ? ": " : "", log);
}

/* Compiled when first asked for, since a run needs a part of them; NULL when it cannot be had. */
static void *function_of(struct cuda_device *d, enum cuda_kernel kernel)
{
	const struct cuda_kernel_row *row = &cuda_kernels[kernel];
	void **module = &d->modules[row->module], **function = &d->functions[kernel];

	if (*function != NULL || d->failed)
		return *function;
	if (*module == NULL && d->recording)
		d->spoiled = true;
	else if (*module == NULL)
		load_module(d, row->module);
	if (*module != NULL)
		(void)DO(d, function, (function, *module, row->name));
	if (!d->failed && !d->spoiled && *function == NULL) {
		d->failed = true;
		err_set(&d->failure, ERR_UNSUPPORTED, "the GPU %s has no kernel '%s'",
		        d->about.name, row->name);
		err_hint(&d->failure, "Give --precision f32: bf16 needs compute capability 8.0.");
	}
	return *function;
}

static int check_device(const struct cuda_device *d, struct err *err)
{
	if (compute_of(d) >= COMPUTE_MIN)
		return 0;
	err_set(err, ERR_UNSUPPORTED, "the GPU %s has compute capability %d.%d, below 7.5",
	        d->about.name, d->about.major, d->about.minor);
	return err_hint(err, "T4, T4G, A10G, A100, L4, L40S, H100 and newer will do.");
}

static struct cuda_queue queue_calls(void);

static int open_device(struct cuda_device *d, const char *library, int ordinal, struct err *err)
{
	if (cuda_library_open(library, &d->library, err) != 0)
		return -1;
	ask_about(d, ordinal);
	if (!d->failed)
		open_nvml(d);
	if (!d->failed)
		return check_device(d, err);
	*err = d->failure;
	return -1;
}

int cuda_open(const char *library, int ordinal, struct cuda_device **ret, struct err *err)
{
	struct cuda_device *d = mem_zalloc(sizeof(*d));

	d->queue = queue_calls();
	if (open_device(d, library, ordinal, err) != 0) {
		cuda_close(d);
		return err_wrap(err, "open GPU %d", ordinal);
	}
	*ret = d;
	return 0;
}

/* Whatever failed: what is held is given back. */
void cuda_close(struct cuda_device *d)
{
	if (d == NULL)
		return;
	cuda_release(d, d->scratch);
	for (size_t m = 0; m < MODULES; m++)
		if (d->modules[m] != NULL)
			(void)d->library.call.unload(d->modules[m]);
	cuda_lanes_close(d);
	nvml_close(d->nvml);
	if (d->stream != NULL)
		(void)d->library.call.stream_free(d->stream);
	if (d->context != NULL)
		(void)d->library.call.forget(d->device);
	free(d);
}

struct cuda_queue *cuda_queue_of(struct cuda_device *d)
{
	return &d->queue;
}

const struct cuda_about *cuda_about(const struct cuda_device *d)
{
	return &d->about;
}

bool cuda_failed(const struct cuda_device *d, struct err *ret)
{
	if (d->failed)
		*ret = d->failure;
	return d->failed;
}

size_t cuda_held(const struct cuda_device *d)
{
	return d->scratch_n;
}

/* ---- memory ---- */

static void name_request(struct cuda_device *d, size_t n, const char *what)
{
	if (d->failed)
		err_wrap(&d->failure, "%zu MiB for %s", (n >> 20) + 1, what);
}

void *cuda_allocate(struct cuda_device *d, size_t n, const char *what)
{
	uint64_t at = 0;

	if (d->failed)
		return NULL;
	if (DO(d, allocate, (&at, n)))
		return (void *)(uintptr_t)at;
	name_request(d, n, what);
	return NULL;
}

void *cuda_allocate_pinned(struct cuda_device *d, size_t n, const char *what)
{
	void *at = NULL;

	if (d->failed)
		return NULL;
	if (DO(d, allocate_host, (&at, n, 0)))
		return at;
	name_request(d, n, what);
	return NULL;
}

void cuda_release(struct cuda_device *d, void *at)
{
	if (at == NULL)
		return;
	d->given_back++;
	cuda_done(d, d->library.call.release(cuda_address(at)), cuda_call_names.release);
}

void cuda_release_pinned(struct cuda_device *d, void *at)
{
	if (at == NULL)
		return;
	d->given_back++;
	cuda_done(d, d->library.call.release_host(at), cuda_call_names.release_host);
}

void cuda_upload(struct cuda_device *d, void *to, const void *from, size_t n)
{
	(void)DO(d, upload, (cuda_address(to), from, n, d->stream));
}

void cuda_download(struct cuda_device *d, void *to, const void *from, size_t n)
{
	(void)DO(d, download, (to, cuda_address(from), n, d->stream));
}

void cuda_copy(struct cuda_device *d, void *to, const void *from, size_t n)
{
	(void)DO(d, copy, (cuda_address(to), cuda_address(from), n, d->stream));
}

void cuda_meters(const struct cuda_device *d, struct meters *ret)
{
	nvml_read(d->nvml, ret);
}

/* What was computed since cannot be trusted. */
static bool is_sound(struct cuda_device *d)
{
	uint64_t errors = nvml_new_errors(d->nvml);

	return errors == 0 || cuda_done(d, RESULT_ECC_UNCORRECTABLE, "nvmlDeviceGetTotalEccErrors");
}

int cuda_sync(struct cuda_device *d, struct err *err)
{
	if (DO(d, stream_sync, (d->stream)) && is_sound(d))
		return 0;
	*err = d->failure;
	return -1;
}

/* ---- the queue ---- */

/* CUDA C++ Programming Guide, table of technical specifications: blocks in y and z. */
static bool fits(struct cuda_device *d, const struct cuda_kernel_row *row, const unsigned grid[3])
{
	enum { BLOCKS_MAX = 65535 };

	if (grid[1] <= BLOCKS_MAX && grid[2] <= BLOCKS_MAX)
		return true;
	d->failed = true;
	err_set(&d->failure, ERR_UNSUPPORTED,
	        "kernel '%s' would need %u x %u x %u blocks, more than a GPU takes", row->name,
	        grid[0], grid[1], grid[2]);
	err_hint(&d->failure, "Give a smaller --batch_size.");
	return false;
}

static void launch(struct cuda_queue *q, enum cuda_kernel kernel, const unsigned grid[3],
                   const void *params)
{
	struct cuda_device *d = (struct cuda_device *)q;
	const struct cuda_kernel_row *row = &cuda_kernels[kernel];
	void *one[] = {(void *)(uintptr_t)params}; /* the driver copies, and writes nothing */
	void *function = function_of(d, kernel);

	if (d->failed || function == NULL || !fits(d, row, grid))
		return;
	if (!DO(d, launch,
	        (function, grid[0], grid[1], grid[2], row->threads, 1, 1, (unsigned)row->shared,
	         d->stream, one, NULL)))
		err_wrap(&d->failure, "kernel '%s'", row->name);
}

static void zero(struct cuda_queue *q, void *to, size_t n)
{
	struct cuda_device *d = (struct cuda_device *)q;

	(void)DO(d, set, (cuda_address(to), 0, n, d->stream));
}

/* Grows by whole steps; what used the former one is done when the driver gives it back. */
static void *scratch(struct cuda_queue *q, size_t n)
{
	struct cuda_device *d = (struct cuda_device *)q;

	if (n <= d->scratch_n)
		return d->scratch;
	if (d->recording) {
		d->spoiled = true; /* what was recorded before holds the former one */
		return NULL;
	}
	cuda_release(d, d->scratch);
	d->scratch_n = (n + SCRATCH_STEP - 1) / SCRATCH_STEP * SCRATCH_STEP;
	d->scratch = cuda_allocate(d, d->scratch_n, "scratch");
	if (d->scratch == NULL)
		d->scratch_n = 0;
	return d->scratch;
}

static struct cuda_queue queue_calls(void)
{
	return (struct cuda_queue){.launch = launch, .zero = zero, .scratch = scratch};
}
