/*
 * The driver's binding on a stand-in for libcuda.so.1 (tests/cuda/standin.h), dlopen included: an
 * op's results, every call failing once, and what is said of it. No real driver was ever asked.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/standin.h"
#include "tests/harness.h"
#include "trainer/cuda/driver.h"
#include "trainer/cuda/failure.h"

enum { ROWS = 70, IN = 36, OUT = 40 };

struct standin_calls {
	void (*reset)(size_t fail_at, int result, int major, int minor, size_t memory);
	struct standin_state (*state)(void);
};

static struct standin_calls standin(void)
{
	void *library = dlopen(CUDA_STANDIN, RTLD_NOW);
	struct standin_calls calls = {0};

	if (library == NULL)
		abort();
	*(void **)&calls.reset = dlsym(library, "standin_reset");
	*(void **)&calls.state = dlsym(library, "standin_state");
	return calls;
}

/* A linear layer forward and backward: uploaded, computed, downloaded. */
struct layer {
	float x[ROWS * IN], w[OUT * IN], bias[OUT], dy[ROWS * OUT];
	float y[ROWS * OUT], dx[ROWS * IN], dw[OUT * IN], dbias[OUT];
};

static const struct {
	size_t offset, n;
	bool result;
} arrays[] = {
	{offsetof(struct layer, x), ROWS *IN, false},
	{offsetof(struct layer, w), OUT *IN, false},
	{offsetof(struct layer, bias), OUT, false},
	{offsetof(struct layer, dy), ROWS *OUT, false},
	{offsetof(struct layer, y), ROWS *OUT, true},
	{offsetof(struct layer, dx), ROWS *IN, true},
	{offsetof(struct layer, dw), OUT *IN, true},
	{offsetof(struct layer, dbias), OUT, true},
};

static struct op_linear op_of(const struct layer *l)
{
	/* The device's addresses are never looked through here. */
	struct layer *p = (struct layer *)(uintptr_t)l;

	return (struct op_linear){.rows = ROWS,
	                          .in = IN,
	                          .out = OUT,
	                          .x = p->x,
	                          .w = p->w,
	                          .bias = p->bias,
	                          .y = p->y,
	                          .dy = p->dy,
	                          .dx = p->dx,
	                          .dw = p->dw,
	                          .dbias = p->dbias};
}

static void compute(struct cuda_device *d, struct layer *host)
{
	struct layer *at = cuda_allocate(d, sizeof(*at), "a layer");
	float *pinned = cuda_allocate_pinned(d, sizeof(host->y), "results");
	struct op_linear op = op_of(at);

	for (size_t i = 0; i < ARRAY_LEN(arrays) && at != NULL; i++)
		cuda_upload(d, (char *)at + arrays[i].offset, (char *)host + arrays[i].offset,
		            arrays[i].n * sizeof(float));
	if (at != NULL) {
		cuda_queue_of(d)->zero(cuda_queue_of(d), op.dw, sizeof(host->dw));
		cuda_queue_of(d)->zero(cuda_queue_of(d), op.dbias, sizeof(host->dbias));
		cuda_linear_forward(cuda_queue_of(d), &op);
		cuda_linear_backward(cuda_queue_of(d), &op);
	}
	for (size_t i = 0; i < ARRAY_LEN(arrays) && at != NULL; i++)
		if (arrays[i].result)
			cuda_download(d, (char *)host + arrays[i].offset,
			              (char *)at + arrays[i].offset, arrays[i].n * sizeof(float));
	cuda_release(d, at);
	cuda_release_pinned(d, pinned);
}

static void fill(struct layer *l)
{
	float *values = (float *)l;

	memset(l, 0, sizeof(*l));
	for (size_t i = 0; i < offsetof(struct layer, y) / sizeof(float); i++)
		values[i] = (float)(i * 37 % 101) / 50 - 1;
}

static int run_layer(struct layer *host, struct cuda_about *about, struct err *err)
{
	struct cuda_device *d;
	int ok;

	if (cuda_open(CUDA_STANDIN, 0, &d, err) != 0)
		return -1;
	*about = *cuda_about(d);
	compute(d, host);
	ok = cuda_sync(d, err);
	cuda_close(d);
	return ok;
}

static void computes_on_the_device(void)
{
	static const int devices[][2] = {{7, 5}, {8, 0}, {9, 0}};
	struct standin_calls s = standin();

	for (size_t i = 0; i < ARRAY_LEN(devices); i++) {
		struct layer got, want;
		struct cuda_about about;
		struct ops ops;
		struct err err = {0};
		struct op_linear op = op_of(&want);

		s.reset(0, 0, devices[i][0], devices[i][1], 32 << 20);
		fill(&got);
		fill(&want);
		CHECK(ops_open(&(struct ops_options){.reference = true}, &ops));
		ops_reference.linear_forward(&ops, &op);
		ops_reference.linear_backward(&ops, &op);
		ops_done(&ops);
		CHECK_OK(run_layer(&got, &about, &err), &err);
		CHECK_STR(about.name, "Stand-in");
		CHECK_INT(about.major, devices[i][0]);
		CHECK_INT(about.driver, 12040);
		for (size_t k = 0; k < sizeof(got) / sizeof(float); k++)
			CHECK(fabsf(((float *)&got)[k] - ((float *)&want)[k]) < 1e-4f);
		CHECK_STR(s.state().problem != NULL ? s.state().problem : "", "");
		CHECK_INT(s.state().held, 0);
	}
}

/* Each call in turn: an error with a hint, nothing asked for that a failed device would refuse, and
 * nothing kept that could be given back. */
static void every_call_may_fail(void)
{
	struct standin_calls s = standin();
	struct layer host;
	struct cuda_about about;
	struct err err = {0};
	size_t calls, failed = 0;

	s.reset(0, 0, 8, 6, 32 << 20);
	fill(&host);
	CHECK_OK(run_layer(&host, &about, &err), &err);
	calls = s.state().calls;
	CHECK(calls > 40);
	for (size_t i = 1; i <= calls; i++) {
		err = (struct err){0};
		s.reset(i, 999, 8, 6, 32 << 20);
		if (run_layer(&host, &about, &err) == 0)
			continue; /* of giving back, after the last wait */
		failed++;
		CHECK_INT(err.code, ERR_MACHINE);
		CHECK(strstr(err.msg, "the GPU's driver refuses cu") != NULL);
		CHECK(err.hint[0] != '\0');
		CHECK(s.state().problem == NULL);
		CHECK(s.state().held <= 1); /* what could not be given back */
	}
	CHECK(failed > 40 && calls - failed < MODULES + 5);
}

static void says_what_went_wrong(void)
{
	struct standin_calls s = standin();
	struct cuda_device *d;
	struct err err = {0};

	CHECK(cuda_open("/nowhere/libcuda.so.1", 0, &d, &err) != 0);
	CHECK_INT(err.code, ERR_NOT_FOUND);
	CHECK(strstr(err.msg, "there is no driver for NVIDIA's GPUs") != NULL);
	s.reset(0, 0, 8, 0, 32 << 20);
	CHECK(cuda_open(CUDA_STANDIN, 3, &d, &err) != 0);
	CHECK_STR(err.msg, "open GPU 3: there is no GPU of that number (cuDeviceGet: "
	                   "CUDA_ERROR_PLANTED, 101)");
	s.reset(0, 0, 7, 0, 32 << 20);
	CHECK(cuda_open(CUDA_STANDIN, 0, &d, &err) != 0);
	CHECK_INT(err.code, ERR_UNSUPPORTED);
	CHECK_STR(err.msg, "open GPU 0: the GPU Stand-in has compute capability 7.0, below 7.5");
	CHECK_INT(s.state().held, 0);
}

static void memory_that_is_not_there_is_named(void)
{
	struct standin_calls s = standin();
	struct cuda_device *d;
	struct err err = {0};

	s.reset(0, 0, 8, 0, 5 << 20);
	CHECK_OK(cuda_open(CUDA_STANDIN, 0, &d, &err), &err);
	CHECK(cuda_allocate(d, 40 << 20, "activations") == NULL);
	CHECK(cuda_sync(d, &err) != 0);
	CHECK_INT(err.code, ERR_MEMORY);
	CHECK_STR(err.msg, "41 MiB for activations: the GPU has no memory left (cuMemAlloc_v2: "
	                   "CUDA_ERROR_OUT_OF_MEMORY, 2)");
	CHECK_STR(err.hint, "Give a smaller --batch_size.");
	cuda_close(d);
	CHECK_INT(s.state().held, 0);
}

static void a_device_without_bf16_says_so(void)
{
	struct standin_calls s = standin();
	struct cuda_device *d;
	struct layer host;
	struct err err = {0};

	s.reset(0, 0, 7, 5, 32 << 20);
	fill(&host);
	CHECK_OK(cuda_open(CUDA_STANDIN, 0, &d, &err), &err);
	cuda_queue_of(d)->operands = OPERANDS_BF16;
	compute(d, &host);
	CHECK(cuda_sync(d, &err) != 0);
	CHECK_STR(err.msg, "the GPU Stand-in has no kernel 'product_bf16_64_nt'");
	cuda_close(d);
	CHECK_INT(s.state().held, 0);
}

int main(void)
{
	TEST("driver: a layer computed on the stand-in is the CPU's", computes_on_the_device);
	TEST("driver: every call may fail, and says so once", every_call_may_fail);
	TEST("driver: no driver, no such device, too old a device", says_what_went_wrong);
	TEST("driver: memory that is not there is named with who asked",
	     memory_that_is_not_there_is_named);
	TEST("driver: bf16 on a device before 8.0 is an error", a_device_without_bf16_says_so);
	return test_done();
}
