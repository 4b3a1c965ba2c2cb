/*
 * Products by cuBLASLt and the choice between it and our kernels, on the stand-ins for the driver
 * and for the library (tests/cuda). No GPU was ever asked.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "tests/cuda/cublaslt_standin.h"
#include "tests/cuda/standin.h"
#include "tests/harness.h"
#include "trainer/cmd/golden.h"
#include "trainer/cuda/gemm_file.h"
#include "trainer/cuda/launch_products.h"
#include "trainer/device/devices.h"
#include "trainer/ops/philox.h"
#include "trainer/ops/recording.h"

enum { MEMORY = 256 << 20, VALUES = 1 << 16, EXECUTION_FAILED = 13, INTERNAL = 14 };

static struct gemm_stand_ins {
	void (*reset)(size_t fail_at, int result, int major, int minor, size_t memory);
	struct standin_state (*gpu)(void);
	void (*fail)(const char *call, size_t at, int status);
	struct standin_cublaslt_state (*library)(void);
	char folder[64];
} standin;

static void load_driver(void)
{
	void *library = dlopen(CUDA_STANDIN, RTLD_NOW);

	if (library == NULL)
		abort();
	*(void **)&standin.reset = dlsym(library, "standin_reset");
	*(void **)&standin.gpu = dlsym(library, "standin_state");
}

static void load_cublaslt(void)
{
	void *library = dlopen(CUBLASLT_STANDIN, RTLD_NOW);

	if (library == NULL)
		abort();
	*(void **)&standin.fail = dlsym(library, "standin_cublaslt_fail");
	*(void **)&standin.library = dlsym(library, "standin_cublaslt_state");
}

static void forget_files(void)
{
	char command[128];
	struct err err = {0};

	snprintf(command, sizeof(command), "%s/cache", standin.folder);
	CHECK_OK(fs_remove_tree(command, &err), &err);
}

/* A new device and a new library, which have measured nothing. */
static void begin_with(size_t memory)
{
	standin.reset(0, 0, 8, 6, memory);
	if (standin.fail != NULL)
		standin.fail("", 0, 0);
	forget_files();
}

static int open_by(enum op_gemm gemm, enum op_precision precision, struct ops *ret, struct err *err)
{
	char name[DEVICE_NAME_MAX];

	return device_open(
		&(struct device_choice){"cuda", 0},
		&(struct ops_options){.n_threads = 1, .precision = precision, .gemm = gemm}, ret,
		name, err);
}

static void check_clean(void)
{
	const char *problem = standin.gpu().problem;

	CHECK_STR(problem != NULL ? problem : "", "");
	CHECK_INT(standin.gpu().held, 0);
	if (standin.library == NULL)
		return;
	problem = standin.library().problem;
	CHECK_STR(problem != NULL ? problem : "", "");
	CHECK_INT(standin.library().held, 0);
}

static void check_described(const struct ops *ops, const char *want)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(4096);

	ops_products(ops, &sb);
	CHECK_STR(strbuf_str(&sb), want);
}

/* ---- products ---- */

/* Arrays of one product in the device's memory; what is written, twice. */
struct arrays {
	struct buffer a, b, bias, residual, slope, c[2], gelu[2];
	float host[2][VALUES];
};

static struct buffer random_buffer(struct ops *ops, struct philox *r)
{
	AUTO_FREE float *values = mem_calloc(VALUES, sizeof(*values));
	struct buffer b = buffer_new(ops, VALUES * sizeof(*values), "an array");

	for (size_t i = 0; i < VALUES; i++)
		values[i] = (float)philox_uniform(r) - 0.5f;
	ops_upload(ops, b.at, values, b.bytes);
	return b;
}

static void arrays_new(struct ops *ops, struct arrays *t)
{
	struct philox r = philox_start(7, STREAM_SYNTHETIC, 0);
	struct philox same;

	t->a = random_buffer(ops, &r);
	t->b = random_buffer(ops, &r);
	t->bias = random_buffer(ops, &r);
	t->residual = random_buffer(ops, &r);
	t->slope = random_buffer(ops, &r);
	for (size_t i = 0; i < 2; i++) {
		same = philox_start(8, STREAM_SYNTHETIC, 0);
		t->c[i] = random_buffer(ops, &same);
		t->gelu[i] = random_buffer(ops, &same);
	}
}

static void arrays_free(struct ops *ops, struct arrays *t)
{
	struct buffer *all[] = {&t->a,    &t->b,    &t->bias,    &t->residual, &t->slope,
	                        &t->c[0], &t->c[1], &t->gelu[0], &t->gelu[1]};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		buffer_free(ops, all[i]);
}

static float *at(const struct buffer *b, size_t offset)
{
	return (float *)b->at + offset;
}

/* A case's product; which: of the two results. */
struct gemm_case {
	enum product_form form;
	uint32_t m, n, k, ldc, ways, offset;
};

static struct product_launch launch_of(const struct arrays *t, const struct gemm_case *c,
                                       size_t which)
{
	return (struct product_launch){
		.a = at(&t->a, c->offset),
		.b = at(&t->b, c->offset),
		.c = at(&t->c[which], c->offset),
		.m = c->m,
		.n = c->n,
		.k = c->k,
		.lda = c->form == PRODUCT_TN ? c->m : c->k,
		.ldb = c->form == PRODUCT_NT ? c->k : c->n,
		.ldc = c->ldc != 0 ? c->ldc : c->n,
		.bias = c->ways & WAY_BIAS ? at(&t->bias, c->offset) : NULL,
		.residual = c->ways & WAY_RESIDUAL ? at(&t->residual, c->offset) : NULL,
		.slope = c->ways & WAY_SLOPE ? at(&t->slope, c->offset) : NULL,
		.gelu = c->ways & WAY_GELU ? at(&t->gelu[which], c->offset) : NULL,
		.accumulate = (c->ways & WAY_ADD) != 0,
	};
}

static double difference(struct ops *ops, struct arrays *t, const struct buffer *one,
                         const struct buffer *other)
{
	struct err err = {0};
	double worst = 0;

	ops_download(ops, t->host[0], one->at, one->bytes);
	ops_download(ops, t->host[1], other->at, other->bytes);
	CHECK_OK(ops_sync(ops, &err), &err);
	for (size_t i = 0; i < VALUES; i++)
		worst = fmax(worst, fabs((double)t->host[0][i] - t->host[1][i]));
	return worst;
}

/* Whether the library computed it; in any case it is what the kernels make of it, and so is all
 * around it. */
static bool check_case(struct ops *ops, const struct gemm_case *c)
{
	struct arrays *t = mem_zalloc(sizeof(*t));
	struct cuda_queue *q = ops->own;
	struct product_launch l;
	bool computed;

	arrays_new(ops, t);
	l = launch_of(t, c, 0);
	cuda_product(q, c->form, &l);
	l = launch_of(t, c, 1);
	computed = q->product(q, c->form, &l);
	if (!computed)
		cuda_product(q, c->form, &l);
	CHECK(difference(ops, t, &t->c[0], &t->c[1]) < 1e-5);
	CHECK(difference(ops, t, &t->gelu[0], &t->gelu[1]) < 1e-5);
	arrays_free(ops, t);
	free(t);
	return computed;
}

static void products_are_those_of_the_kernels(void)
{
	static const struct gemm_case cases[] = {
		{PRODUCT_NT, 33, 20, 48, 0, WAY_BIAS, 0},
		{PRODUCT_NT, 5, 7, 3, 0, WAY_BIAS | WAY_RESIDUAL, 1},
		{PRODUCT_NT, 65, 40, 16, 44, WAY_ADD | WAY_BIAS, 4},
		{PRODUCT_NT, 12, 9, 20, 0, WAY_BIAS | WAY_GELU, 0},
		{PRODUCT_NN, 33, 20, 48, 0, 0, 0},
		{PRODUCT_NN, 1, 1, 1, 0, WAY_ADD, 2},
		{PRODUCT_NN, 18, 70, 24, 0, WAY_SLOPE | WAY_BIAS, 3},
		{PRODUCT_TN, 20, 33, 48, 0, WAY_ADD, 0},
		{PRODUCT_TN, 7, 66, 600, 0, WAY_ADD, 1},
		{PRODUCT_TN, 31, 64, 17, 80, WAY_RESIDUAL, 8},
	};
	/* What it cannot do in one call, or at all. */
	static const struct gemm_case others[] = {
		{PRODUCT_NT, 12, 9, 20, 0, WAY_RESIDUAL | WAY_ADD, 0},
		{PRODUCT_NN, 12, 9, 20, 12, WAY_GELU, 0},
		{PRODUCT_NN, 12, 9, 20, 0, WAY_SLOPE | WAY_ADD, 0},
	};
	struct err err = {0};
	struct ops ops;

	for (enum op_precision p = PRECISION_F32; p < PRECISIONS; p++) {
		begin_with(MEMORY);
		CHECK_OK(open_by(OP_GEMM_CUBLASLT, p, &ops, &err), &err);
		for (size_t i = p; i < ARRAY_LEN(cases); i += p == PRECISION_F32 ? 1 : 2)
			CHECK(check_case(&ops, &cases[i]));
		for (size_t i = 0; i < ARRAY_LEN(others) && p == PRECISION_F32; i++)
			CHECK(!check_case(&ops, &others[i]));
		ops_done(&ops);
		check_clean();
	}
}

/* How many of the shapes that were met are the library's. */
static void count_shapes(const struct ops *ops, unsigned *ret_its, unsigned *ret_all)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(4096);

	ops_products(ops, &sb);
	CHECK(sscanf(strbuf_str(&sb), "cuBLASLt 12.4.5 for %u of %u shapes", ret_its, ret_all) ==
	      2);
}

static void goldens_hold(enum op_gemm gemm, enum op_precision precision, bool all)
{
	unsigned its = 0, shapes = 0;
	struct golden_report report = {0};
	struct err err = {0};
	struct golden g;
	struct ops ops;

	begin_with(MEMORY);
	CHECK_OK(open_by(gemm, precision, &ops, &err), &err);
	CHECK_OK(golden_open("tests/golden/perceiver/cross-heads", &g, &err), &err);
	CHECK_OK(golden_compare(&g, &ops, &report, &err), &err);
	CHECK(!report.failed && report.n > 9);
	count_shapes(&ops, &its, &shapes);
	CHECK(its > 0 && (its == shapes) == all);
	golden_done(&g);
	ops_done(&ops);
	CHECK(standin.library().products > 100);
	check_clean();
}

static void goldens_hold_by_the_library(void)
{
	goldens_hold(OP_GEMM_CUBLASLT, PRECISION_F32, true);
}

static void goldens_hold_by_the_faster(void)
{
	goldens_hold(OP_GEMM_AUTO, PRECISION_BF16, false);
}

/* ---- the choice ---- */

/* Of those, the library is slower at the second. */
static const struct gemm_case quick = {PRODUCT_NT, 33, 20, 48, 0, WAY_BIAS, 0};
static const struct gemm_case shallow = {PRODUCT_NT, 33, 20, 8, 0, WAY_BIAS, 0};

/* Products that the library was asked for, of the two cases on a device of its own. */
static size_t run_both(void)
{
	struct err err = {0};
	struct ops ops;

	standin.fail("", 0, 0);
	CHECK_OK(open_by(OP_GEMM_AUTO, PRECISION_F32, &ops, &err), &err);
	check_described(&ops, "cuBLASLt 12.4.5 or own kernels, whichever is faster");
	CHECK(check_case(&ops, &quick));
	CHECK(!check_case(&ops, &shallow));
	check_described(&ops, "cuBLASLt 12.4.5 for 1 of 2 shapes");
	ops_done(&ops);
	check_clean();
	return standin.library().products;
}

enum { MEASURED = 11, KNOWN = 1 }; /* five for each shape, and one product */

static void the_faster_is_kept(void)
{
	begin_with(MEMORY);
	CHECK_INT(run_both(), MEASURED);
	CHECK_INT(run_both(), KNOWN);
}

static const char title[] = "Stand-in, compute capability 8.6, CUDA 12.4, cuBLASLt 12.4.5, f32";

static void a_file_that_is_not_ours_is_measured_again(void)
{
	static const char *const texts[] = {
		"", "slipway products 2: another GPU\n",
		"slipway products 1: Stand-in, compute capability 8.6, CUDA 12.4, cuBLASLt "
		"12.4.5, f32\nnt 33 20 48 48 48 20 ways 1 aligned 256 256 256 own 1.000 cublaslt "
		"2.000\n",
		"slipway products 2: Stand-in, compute capability 8.6, CUDA 12.4, cuBLASLt "
		"12.4.5, f32\nnt 33 20 48 48 48 20 ways 1 aligned 256 256 256 own nan three 0.000 "
		"cublaslt 1\n",
		"slipway products 2: Stand-in, compute capability 8.6, CUDA 12.4, cuBLASLt "
		"12.4.5, f32\nnt 33 20 48 48 48 20 ways 1 aligned 256 256 256 own 1.000 three "
		"0.000 cublaslt 2.000"};
	struct err err = {0};
	char path[PATH_MAX];

	CHECK(gemm_file_path(title, path));
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		begin_with(MEMORY);
		CHECK_INT(run_both(), MEASURED);
		CHECK_OK(fs_write_file(path, texts[i], strlen(texts[i]), 0600, &err), &err);
		CHECK_INT(run_both(), MEASURED);
		CHECK_INT(run_both(), KNOWN);
	}
	/* Neither is waited for a pipe, nor a link followed. */
	CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0);
	CHECK_INT(run_both(), MEASURED);
	CHECK(unlink(path) == 0 && symlink("/dev/zero", path) == 0);
	CHECK_INT(run_both(), MEASURED);
	CHECK_INT(run_both(), KNOWN);
}

/* A folder that cannot be written costs the next run its measurements, and this one nothing. */
static void without_a_folder_nothing_is_kept(void)
{
	begin_with(MEMORY);
	setenv("CUDA_CACHE_PATH", "/proc/nowhere", 1);
	CHECK_INT(run_both(), MEASURED);
	CHECK_INT(run_both(), MEASURED);
	setenv("CUDA_CACHE_PATH", "relative", 1);
	unsetenv("HOME");
	CHECK_INT(run_both(), MEASURED);
}

static void a_file_is_its_text(void)
{
	static const char *const broken[] = {
		" ",
		"tt 1 1 1 1 1 1 ways 0 aligned 4 4 4 own 1.000 three 1.000 cublaslt 1.000\n",
		"tn 1 1 1 1 1 1 ways 0 aligned 4 4 4 own 0.000 three 1.000 cublaslt 1.000\n",
		"tn 1 1 1 1 1 1 ways 0 aligned 4 4 4 own -1.000 three 1.000 cublaslt 1.000\n",
		"tn 1 1 1 1 1 1 ways 0 aligned 4 4 4 own 1.000 three -1.000 cublaslt 1.000\n",
		"tn 01 1 1 1 1 1 ways 0 aligned 4 4 4 own 1.000 three 1.000 cublaslt 1.000\n",
		"tn 4294967297 1 1 1 1 1 ways 0 aligned 4 4 4 own 1.000 three 1.000 cublaslt "
		"1.000\n",
		"tn 1 1 1 1 1 1 ways 0 aligned 4 4 4 own 1.000 three 1.000 cublaslt 1.000 \n",
		"tn 1 1 1 1 1 1 ways 0 aligned 4 4 4 own 1.000 cublaslt 1.000\n",
		"\n"};
	struct gemm_times times[] = {
		{{.form = PRODUCT_TN, .m = 1, .k = 4294967295u}, 12.5, 0, 0.001},
		{{.form = PRODUCT_NT, .ways = 31}, 1e9, 2, 0}};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(4096);
	struct gemm_times_list got;

	gemm_file_text("a title", times, 2, &text);
	CHECK(gemm_file_parse(strbuf_str(&text), "a title", &got));
	CHECK(got.all.n == 2 && memcmp(got.all.at, times, sizeof(times)) == 0);
	vec_done(&got.all);
	CHECK(!gemm_file_parse(strbuf_str(&text), "a titl", &got));
	CHECK(!gemm_file_parse(strbuf_str(&text), "another", &got));
	for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
		strbuf_reset(&text);
		gemm_file_text("a title", times, 2, &text);
		strbuf_adds(&text, broken[i]);
		CHECK(!gemm_file_parse(strbuf_str(&text), "a title", &got));
		CHECK(got.all.n == 0 && got.all.at == NULL);
	}
}

/* ---- f32 by three products of tf32 ---- */

/* Of a size at which the stand-in's time, its count of threads, is less in large tiles. The library
 * takes neither: the second is too small to be measured. */
static const struct gemm_case large = {PRODUCT_NT, 256, 256, 64, 0, WAY_RESIDUAL | WAY_ADD, 0};
static const struct gemm_case less = {PRODUCT_NT, 256, 256, 63, 0, WAY_RESIDUAL | WAY_ADD, 0};

static void three_are_measured(unsigned major, enum op_gemm gemm, enum op_precision precision,
                               bool expected, const char *said)
{
	struct err err = {0};
	struct ops ops;

	standin.reset(0, 0, (int)major, major == 7 ? 5 : 0, MEMORY);
	CHECK_OK(open_by(gemm, precision, &ops, &err), &err);
	if (((struct cuda_queue *)ops.own)->product != NULL) {
		CHECK(check_case(&ops, &large) == expected);
		CHECK(!check_case(&ops, &less));
	} else {
		CHECK(!expected);
	}
	check_described(&ops, said);
	ops_done(&ops);
	check_clean();
}

/* Without the library, which is not there yet. */
static void three_are_used_where_they_are_faster(void)
{
	static const char by_three[] = "own kernels, three products in tf32 for 1 of 1";

	begin_with(MEMORY);
	three_are_measured(8, OP_GEMM_AUTO, PRECISION_F32, true, by_three);
	three_are_measured(8, OP_GEMM_AUTO, PRECISION_F32, true, by_three); /* as is known */
	three_are_measured(7, OP_GEMM_AUTO, PRECISION_F32, false, "own kernels");
	three_are_measured(8, OP_GEMM_OWN, PRECISION_F32, false, "own kernels");
	three_are_measured(8, OP_GEMM_AUTO, PRECISION_TF32, false, "own kernels");
}

/* Measured once, and never while recording. */
static void a_recording_has_three(void)
{
	struct arrays *t = mem_zalloc(sizeof(*t));
	struct product_launch l;
	struct err err = {0};
	struct cuda_queue *q;
	struct ops ops;
	size_t launches;

	begin_with(MEMORY);
	CHECK_OK(open_by(OP_GEMM_AUTO, PRECISION_F32, &ops, &err), &err);
	q = ops.own;
	arrays_new(&ops, t);
	l = launch_of(t, &large, 0);
	CHECK(ops_record(&ops));
	CHECK(q->product(q, PRODUCT_NT, &l));
	CHECK(ops_record_end(&ops) == NULL);
	CHECK(q->product(q, PRODUCT_NT, &l));
	launches = standin.gpu().launches;
	CHECK(q->product(q, PRODUCT_NT, &l));
	CHECK_OK(ops_sync(&ops, &err), &err);
	CHECK_INT(standin.gpu().launches, launches + 1);
	arrays_free(&ops, t);
	free(t);
	ops_done(&ops);
	check_clean();
}

/* ---- recordings ---- */

static void a_recording_has_the_librarys_products(void)
{
	struct arrays *t = mem_zalloc(sizeof(*t));
	struct product_launch l, fresh;
	struct err err = {0};
	struct cuda_queue *q;
	struct ops ops;
	void *recording;

	begin_with(MEMORY);
	CHECK_OK(open_by(OP_GEMM_AUTO, PRECISION_F32, &ops, &err), &err);
	q = ops.own;
	arrays_new(&ops, t);
	l = launch_of(t, &quick, 0);
	fresh = launch_of(t, &shallow, 0);
	/* A shape that was never met is not measured while recording. */
	CHECK(ops_record(&ops));
	CHECK(q->product(q, PRODUCT_NT, &fresh));
	CHECK(ops_record_end(&ops) == NULL);
	CHECK(q->product(q, PRODUCT_NT, &l));
	CHECK(ops_record(&ops));
	CHECK(q->product(q, PRODUCT_NT, &l));
	recording = ops_record_end(&ops);
	CHECK(recording != NULL);
	CHECK_INT(standin.library().recorded, 1);
	ops_zero(&ops, t->c[0].at, t->c[0].bytes);
	ops_zero(&ops, t->c[1].at, t->c[1].bytes);
	CHECK(ops_replay(&ops, recording));
	l = launch_of(t, &quick, 1);
	cuda_product(q, PRODUCT_NT, &l);
	CHECK(difference(&ops, t, &t->c[0], &t->c[1]) < 1e-5);
	ops_forget(&ops, recording);
	arrays_free(&ops, t);
	free(t);
	ops_done(&ops);
	check_clean();
}

/* ---- failures ---- */

/* A product of a new device, by the library where it can: 0, or the run's error. */
static int one_product(enum op_gemm gemm, char *ret_described, size_t room, struct err *err)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(4096);
	struct arrays *t = mem_zalloc(sizeof(*t));
	struct product_launch l;
	struct cuda_queue *q;
	struct ops ops;
	int rc;

	if (open_by(gemm, PRECISION_F32, &ops, err) != 0) {
		free(t);
		return -1;
	}
	q = ops.own;
	arrays_new(&ops, t);
	l = launch_of(t, &quick, 0);
	if (q->product == NULL || !q->product(q, PRODUCT_NT, &l))
		cuda_product(q, PRODUCT_NT, &l);
	rc = ops_sync(&ops, err);
	ops_products(&ops, &sb);
	snprintf(ret_described, room, "%s", strbuf_str(&sb));
	arrays_free(&ops, t);
	free(t);
	ops_done(&ops);
	return rc;
}

static void every_call_may_fail(void)
{
	static const char *const calls[] = {
		"cublasLtCreate",
		"cublasLtMatmulDescCreate",
		"cublasLtMatmulDescSetAttribute",
		"cublasLtMatrixLayoutCreate",
		"cublasLtMatmulPreferenceCreate",
		"cublasLtMatmulPreferenceSetAttribute",
		"cublasLtMatmulAlgoGetHeuristic",
		"cublasLtMatmul",
	};
	static const int statuses[] = {1, 3, 7, 8, EXECUTION_FAILED, INTERNAL, 15};
	char said[1024], want[128];
	struct err err;

	for (size_t i = 0; i < ARRAY_LEN(calls) * 3; i++) {
		const char *call = calls[i / 3];
		size_t use = i % 3 + 1; /* the third, of those that are called so often */
		int status = statuses[i % ARRAY_LEN(statuses)];

		err = (struct err){0};
		snprintf(want, sizeof(want), "%s", call);
		begin_with(MEMORY);
		standin.fail(call, use, status);
		CHECK_OK(one_product(OP_GEMM_AUTO, said, sizeof(said), &err), &err);
		CHECK((strncmp(said, "own kernels (", 13) == 0 ||
		       strncmp(said, "cuBLASLt 12.4.5 for 0 of 1 shapes (", 35) == 0) ==
		      (strstr(said, want) != NULL));
		CHECK(use > 1 || strstr(said, want) != NULL);
		check_clean();
		begin_with(MEMORY);
		standin.fail(call, use, status);
		if (one_product(OP_GEMM_CUBLASLT, said, sizeof(said), &err) != 0) {
			CHECK(strstr(err.msg, want) != NULL && err.hint[0] != '\0');
			CHECK(strstr(err.msg, "cuBLASLt") != NULL);
		} else {
			CHECK(use > 1);
		}
		check_clean();
	}
}

/* What is given back is gone, whatever the library says of it. */
static void giving_back_may_fail(void)
{
	static const char *const calls[] = {"cublasLtDestroy", "cublasLtMatmulDescDestroy",
	                                    "cublasLtMatrixLayoutDestroy",
	                                    "cublasLtMatmulPreferenceDestroy"};
	struct err err = {0};
	char said[1024];

	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		begin_with(MEMORY);
		standin.fail(calls[i], 1, INTERNAL);
		CHECK_OK(one_product(OP_GEMM_CUBLASLT, said, sizeof(said), &err), &err);
		check_clean();
	}
}

static void a_shape_that_it_lacks_is_the_kernels(void)
{
	struct err err = {0};
	char said[1024];

	setenv("STANDIN_LT_LACKS", "48", 1);
	begin_with(MEMORY);
	CHECK_OK(one_product(OP_GEMM_AUTO, said, sizeof(said), &err), &err);
	CHECK_STR(said,
	          "cuBLASLt 12.4.5 for 0 of 1 shapes (a product of 33 x 20 by 48: cuBLASLt: it has "
	          "no product of this kind (cublasLtMatmulAlgoGetHeuristic, 15))");
	CHECK(one_product(OP_GEMM_CUBLASLT, said, sizeof(said), &err) != 0);
	CHECK_INT(err.code, ERR_UNSUPPORTED);
	CHECK_STR(err.hint, "Give --gemm auto, which takes it where it can, or --gemm own.");
	unsetenv("STANDIN_LT_LACKS");
	check_clean();
}

/* 32 MiB of workspace; the arrays are 9 quarters of a MiB. */
static void memory_that_is_not_there_is_done_without(void)
{
	struct err err = {0};
	char said[1024];

	begin_with(16 << 20);
	CHECK_OK(one_product(OP_GEMM_AUTO, said, sizeof(said), &err), &err);
	CHECK(strncmp(said, "own kernels (32 MiB for cuBLASLt's workspace: the GPU has no memory",
	              67) == 0);
	CHECK(one_product(OP_GEMM_CUBLASLT, said, sizeof(said), &err) != 0);
	CHECK_INT(err.code, ERR_MEMORY);
	check_clean();
	begin_with(((size_t)32 << 20) + 9 * VALUES * sizeof(float));
	CHECK_OK(one_product(OP_GEMM_AUTO, said, sizeof(said), &err), &err);
	CHECK(strncmp(said, "cuBLASLt 12.4.5 for 0 of 1 shapes (1 MiB to measure products: the GPU",
	              69) == 0);
	check_clean();
}

/* Before the library is there. */
static void without_the_library_it_is_not_needed(void)
{
	struct err err = {0};
	char said[1024];

	begin_with(MEMORY);
	CHECK_OK(one_product(OP_GEMM_AUTO, said, sizeof(said), &err), &err);
	CHECK_STR(said, "own kernels");
	CHECK(one_product(OP_GEMM_CUBLASLT, said, sizeof(said), &err) != 0);
	CHECK_INT(err.code, ERR_NOT_FOUND);
	CHECK(strstr(err.msg, "--gemm cublaslt: there is no cuBLASLt: libcublasLt.so.12: ") ==
	      err.msg);
	CHECK(strstr(err.hint, "Without it: --gemm own.") != NULL);
	check_clean();
}

static void own_does_not_look_for_it(void)
{
	struct err err = {0};
	char said[1024];

	begin_with(MEMORY);
	CHECK_OK(one_product(OP_GEMM_OWN, said, sizeof(said), &err), &err);
	CHECK_STR(said, "own kernels");
	CHECK_INT(standin.library().calls, 0);
	check_clean();
}

int main(void)
{
	char cache[80];

	snprintf(standin.folder, sizeof(standin.folder), "/tmp/gemm-XXXXXX");
	if (mkdtemp(standin.folder) == NULL)
		abort();
	snprintf(cache, sizeof(cache), "%s/cache", standin.folder);
	setenv("CUDA_CACHE_PATH", cache, 1);
	load_driver();
	TEST("gemm: without cuBLASLt the kernels do, unless it is asked for by name",
	     without_the_library_it_is_not_needed);
	TEST("gemm: a product in f32 is three in tf32 where that is measured to be faster",
	     three_are_used_where_they_are_faster);
	TEST("gemm: three in tf32 are not measured while recording", a_recording_has_three);
	load_cublaslt();
	TEST("gemm: own kernels do not look for it", own_does_not_look_for_it);
	TEST("gemm: its products are those of the kernels, in all forms and on all ways out",
	     products_are_those_of_the_kernels);
	TEST("gemm: goldens hold by cuBLASLt", goldens_hold_by_the_library);
	TEST("gemm: goldens hold by whichever is faster", goldens_hold_by_the_faster);
	TEST("gemm: the faster is kept, and a restart does not measure again", the_faster_is_kept);
	TEST("gemm: a file that is not ours is measured again",
	     a_file_that_is_not_ours_is_measured_again);
	TEST("gemm: a file is its text, byte for byte", a_file_is_its_text);
	TEST("gemm: a recording has its products, and measures none",
	     a_recording_has_the_librarys_products);
	TEST("gemm: every call of it may fail", every_call_may_fail);
	TEST("gemm: what it gives back is gone, whatever it says", giving_back_may_fail);
	TEST("gemm: a shape that it lacks is the kernels'", a_shape_that_it_lacks_is_the_kernels);
	TEST("gemm: memory that is not there is done without",
	     memory_that_is_not_there_is_done_without);
	TEST("gemm: without a folder nothing is kept", without_a_folder_nothing_is_kept);
	forget_files();
	(void)rmdir(standin.folder);
	return test_done();
}
