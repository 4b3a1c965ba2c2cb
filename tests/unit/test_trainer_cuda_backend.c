/*
 * A model on a GPU, by way of the whole backend: the driver's library is found by its name (this
 * test loads the stand-in of tests/cuda/standin.h first, so that it is the one that is there), and
 * every op is launches on it. No GPU was ever asked.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/cuda/standin.h"
#include "tests/harness.h"
#include "trainer/cmd/golden.h"
#include "trainer/cuda/launch.h"
#include "trainer/device/devices.h"
#include "trainer/model/model.h"
#include "trainer/ops/philox.h"
#include "trainer/train/learner.h"

enum { MEMORY = 256 << 20, FATAL = 719, NO_MEMORY = 2, OTHER = 999 };

static struct standin_calls {
	void (*reset)(size_t fail_at, int result, int major, int minor, size_t memory);
	void (*devices)(unsigned n);
	struct standin_state (*state)(void);
} standin;

static void load_standin(void)
{
	void *library = dlopen(CUDA_STANDIN, RTLD_NOW);

	if (library == NULL)
		abort();
	*(void **)&standin.reset = dlsym(library, "standin_reset");
	*(void **)&standin.devices = dlsym(library, "standin_devices");
	*(void **)&standin.state = dlsym(library, "standin_state");
}

static int open_named(const char *name, unsigned local_rank, enum op_precision precision,
                      struct ops *ret, char ret_name[DEVICE_NAME_MAX], struct err *err)
{
	return device_open(&(struct device_choice){name, local_rank},
	                   &(struct ops_options){.n_threads = 1, .precision = precision}, ret,
	                   ret_name, err);
}

static struct ops open_ops(const char *name)
{
	char got[DEVICE_NAME_MAX];
	struct ops ops = {0};
	struct err err = {0};

	CHECK_OK(open_named(name, 0, PRECISION_F32, &ops, got, &err), &err);
	return ops;
}

/* Nothing was asked for that a driver would refuse, and all was given back. */
static void check_clean(void)
{
	struct standin_state s = standin.state();

	CHECK_STR(s.problem != NULL ? s.problem : "", "");
	CHECK_INT(s.held, 0);
}

/* ---- goldens ---- */

static void check_golden_by(const char *dir, int major, int minor, enum op_precision precision,
                            bool by_three)
{
	char name[DEVICE_NAME_MAX];
	struct golden_report report = {0};
	struct err err = {0};
	struct golden g;
	struct ops ops;

	standin.reset(0, 0, major, minor, MEMORY);
	CHECK_OK(open_named("cuda", 0, precision, &ops, name, &err), &err);
	((struct cuda_queue *)ops.own)->by_three = by_three;
	CHECK_OK(golden_open(dir, &g, &err), &err);
	CHECK_OK(golden_compare(&g, &ops, &report, &err), &err);
	CHECK(!report.failed && report.n > 9);
	for (size_t i = 0; i < report.n; i++)
		if (report.checks[i].failed)
			printf("# %s: %g beyond %g, %s\n", report.checks[i].kind,
			       report.checks[i].error, report.checks[i].limit,
			       report.checks[i].worst);
	golden_done(&g);
	ops_done(&ops);
	check_clean();
}

static void check_golden(const char *dir, int major, int minor, enum op_precision precision)
{
	check_golden_by(dir, major, minor, precision, false);
}

/* With the limits of f32 by multiply-adds. */
static void goldens_hold_in_f32_by_three(void)
{
	check_golden_by("tests/golden/perceiver/published", 8, 0, PRECISION_F32, true);
	check_golden_by("tests/golden/perceiver/cross-heads", 8, 6, PRECISION_F32, true);
}

static void goldens_hold_in_f32(void)
{
	check_golden("tests/golden/perceiver/published", 7, 5, PRECISION_F32);
	check_golden("tests/golden/perceiver/cross-heads", 8, 6, PRECISION_F32);
}

/* What devices before 8.0 have instead of bf16. Its limits are its own: bf16 is beyond them. */
static void goldens_hold_in_f16(void)
{
	AUTO(golden_drawn) struct golden_drawn drawn = {0};
	struct golden_report report = {0};
	char name[DEVICE_NAME_MAX];
	struct err err = {0};
	struct golden g;
	struct ops f16, bf16;

	standin.reset(0, 0, 7, 5, MEMORY);
	CHECK_OK(open_named("cuda", 0, PRECISION_F16, &f16, name, &err), &err);
	CHECK(ops_open(&(struct ops_options){.n_threads = 1, .precision = PRECISION_BF16}, &bf16));
	CHECK_OK(golden_open("tests/golden/perceiver/published", &g, &err), &err);
	CHECK_OK(golden_draw(&g, PRECISION_F16, &drawn, &err), &err);
	CHECK_OK(golden_hold(&g, &f16, &drawn, &report, &err), &err);
	CHECK(!report.failed && report.n > 9);
	CHECK_OK(golden_hold(&g, &bf16, &drawn, &report, &err), &err);
	CHECK(report.failed);
	golden_done(&g);
	ops_done(&bf16);
	ops_done(&f16);
	check_clean();
}

static void goldens_hold_in_bf16(void)
{
	check_golden("tests/golden/perceiver/published", 8, 0, PRECISION_BF16);
}

static void goldens_hold_in_tf32(void)
{
	check_golden("tests/golden/perceiver/published", 8, 0, PRECISION_TF32);
	check_golden("tests/golden/perceiver/cross-heads", 8, 6, PRECISION_TF32);
}

/* ---- a course of training ---- */

enum { AUDIO, IMAGE, LABEL, MODALITIES };
enum { CLIPS = 3, STEPS = 3, IMAGE_POINTS = 7, AUDIO_POINTS = 4, SETS = LEARNER_SETS };

struct course {
	struct model_config config;
	struct learner *learner;
	float *image, *audio, *masks[MODALITIES];
	int32_t label[CLIPS], points[IMAGE_POINTS + AUDIO_POINTS];
	uint64_t sample[CLIPS];
	struct batch batch;
	double loss[STEPS], norm[STEPS];
	struct losses measured;
	struct tensors sets[SETS];
};

/* Smaller than the tiny one, with everything in it: heads, dropout, padding, an odd number of
 * clips. */
static struct model_config course_config(void)
{
	struct model_config c = model_config_tiny();
	struct err err = {0};

	c.image_height = c.image_width = 16;
	c.image_size = 4;
	c.audio_samples_per_frame = 160;
	c.num_latents = 9;
	c.d_latents = 20;
	c.num_self_attends_per_block = 1;
	c.audio_num_bands = 5;
	c.image_num_bands = 3;
	c.output_num_channels = 12;
	c.label_query_channels = 10;
	c.attention_probs_dropout_prob = 0.1;
	CHECK_OK(model_config_check(&c, &err), &err);
	return c;
}

static float *draw(struct philox *r, size_t n, float from, float to)
{
	float *values = mem_calloc(n, sizeof(*values));

	for (size_t i = 0; i < n; i++)
		values[i] = from + (to - from) * (float)philox_uniform(r);
	return values;
}

static float *draw_mask(struct philox *r, size_t n)
{
	float *values = mem_calloc(n, sizeof(*values));

	for (size_t i = 0; i < n; i++)
		values[i] = philox_uniform(r) < 0.3 ? 1 : 0;
	return values;
}

static void fill_batch(struct course *c)
{
	struct model_dims d = model_dims(&c->config);
	struct philox r = philox_start(11, STREAM_SYNTHETIC, 0);

	c->image = draw(&r, CLIPS * 3 * d.n_pixels, 0, 1);
	c->audio = draw(&r, CLIPS * d.audio_samples, -1, 1);
	c->masks[AUDIO] = draw_mask(&r, CLIPS * d.n_audio);
	c->masks[IMAGE] = draw_mask(&r, CLIPS * d.n_image);
	c->masks[LABEL] = draw_mask(&r, CLIPS);
	for (size_t i = 0; i < CLIPS; i++) {
		c->label[i] = (int32_t)philox_below(&r, (uint32_t)c->config.num_labels);
		c->sample[i] = (uint64_t)i << 33 | 5;
	}
	for (size_t i = 0; i < IMAGE_POINTS + AUDIO_POINTS; i++)
		c->points[i] = (int32_t)philox_below(
			&r, (uint32_t)(i < IMAGE_POINTS ? d.n_pixels : d.n_audio));
	c->batch = (struct batch){.n = CLIPS,
	                          .image = c->image,
	                          .audio = c->audio,
	                          .label = c->label,
	                          .mask_audio = c->masks[AUDIO],
	                          .mask_image = c->masks[IMAGE],
	                          .mask_label = c->masks[LABEL],
	                          .out_image = c->points,
	                          .out_audio = c->points + IMAGE_POINTS,
	                          .n_out_image = IMAGE_POINTS,
	                          .n_out_audio = AUDIO_POINTS,
	                          .decode_label = true,
	                          .dropout_seed = 99,
	                          .dropout_sample = c->sample};
}

static int step(struct course *c, size_t i, struct err *err)
{
	struct loss_weights weights = {0.03, 1, 1e-4};
	struct losses losses;

	learner_begin(c->learner);
	for (size_t k = 0; k < 2; k++) {
		if (learner_accumulate(c->learner, &c->batch, &weights, 0.5, &losses, err) != 0)
			return -1;
		c->loss[i] += losses.total;
		c->batch.dropout_seed++;
	}
	if (learner_norm(c->learner, &c->norm[i], err) != 0 ||
	    learner_apply(c->learner, 1e-2, 0.9, err) != 0)
		return -1;
	if (i == 0)
		learner_keep(c->learner, 1);
	return 0;
}

static int take_sets(struct course *c, struct err *err)
{
	for (enum learner_set k = 0; k < LEARNER_SETS; k++) {
		if (!learner_has(c->learner, k))
			continue;
		tensors_like(learner_table(c->learner), NULL, NULL, &c->sets[k]);
		if (learner_get(c->learner, k, &c->sets[k], err) != 0)
			return -1;
	}
	return 0;
}

/* Steps, what they left, and a measurement with the averaged weights after going back. */
static int course_run(struct course *c, struct ops *ops, enum optimizer_kind kind, size_t steps,
                      struct err *err)
{
	struct optimizer_options o = train_options_default().optimizer;
	struct loss_weights weights = {0.03, 1, 1e-4};
	double norm_mean;

	o.kind = kind;
	o.ema_decay = 0.9;
	*c = (struct course){.config = course_config()};
	fill_batch(c);
	c->learner = learner_new(&c->config, ops, (struct recompute){true, 0});
	learner_init(c->learner, 3);
	learner_prepare(c->learner, &o);
	for (size_t i = 0; i < steps; i++)
		if (step(c, i, err) != 0)
			return -1;
	if (take_sets(c, err) != 0)
		return -1;
	CHECK(learner_go_back(c->learner, &norm_mean));
	CHECK(learner_exchange_average(c->learner));
	return learner_measure(c->learner, &c->batch, &weights, &c->measured, err);
}

static void course_end(struct course *c)
{
	learner_free(c->learner);
	for (size_t k = 0; k < SETS; k++)
		tensors_done(&c->sets[k]);
	for (size_t k = 0; k < MODALITIES; k++)
		free(c->masks[k]);
	free(c->image);
	free(c->audio);
}

static bool near(double a, double b, double tolerance)
{
	return fabs(a - b) <= tolerance * (1 + fabs(b));
}

static void check_near(const struct course *got, const struct course *want, bool sgd)
{
	for (size_t i = 0; i < STEPS; i++) {
		CHECK(near(got->loss[i], want->loss[i], 2e-6));
		CHECK(near(got->norm[i], want->norm[i], 2e-5));
	}
	CHECK(near(got->measured.total, want->measured.total, 1e-5));
	CHECK(got->measured.label_hits5 == want->measured.label_hits5);
	/* AdamW makes whole steps of rounding noise; its losses have shown that it is right. */
	for (size_t k = 0; k < SETS && sgd; k++) {
		double worst = 0;

		CHECK(got->sets[k].n_values == want->sets[k].n_values);
		for (size_t i = 0; i < got->sets[k].n_values; i++)
			worst = fmax(worst,
			             fabs((double)got->sets[k].data[i] - want->sets[k].data[i]));
		CHECK(worst < 2e-6);
	}
}

static void trains_as_the_cpu(void)
{
	for (enum optimizer_kind k = OPTIMIZER_SGD; k <= OPTIMIZER_ADAMW; k++) {
		struct ops cpu = open_ops("cpu"), gpu;
		struct course near, far;
		struct err err = {0};

		standin.reset(0, 0, 8, 6, MEMORY);
		gpu = open_ops("cuda");
		CHECK_OK(course_run(&near, &cpu, k, STEPS, &err), &err);
		CHECK_OK(course_run(&far, &gpu, k, STEPS, &err), &err);
		check_near(&far, &near, k == OPTIMIZER_SGD);
		course_end(&near);
		course_end(&far);
		ops_done(&cpu);
		ops_done(&gpu);
		check_clean();
	}
}

/* The stand-in runs threads in another order each time. */
static void the_same_bits_again(void)
{
	struct course first, again;
	struct err err = {0};
	struct ops gpu;

	standin.reset(0, 0, 8, 6, MEMORY);
	gpu = open_ops("cuda");
	CHECK_OK(course_run(&first, &gpu, OPTIMIZER_ADAMW, 1, &err), &err);
	CHECK_OK(course_run(&again, &gpu, OPTIMIZER_ADAMW, 1, &err), &err);
	CHECK(memcmp(first.loss, again.loss, sizeof(first.loss)) == 0);
	CHECK(first.measured.total == again.measured.total);
	for (size_t k = 0; k < SETS; k++)
		CHECK(memcmp(first.sets[k].data, again.sets[k].data,
		             first.sets[k].n_values * sizeof(float)) == 0);
	course_end(&first);
	course_end(&again);
	ops_done(&gpu);
}

/* ---- faults ---- */

/* A short run from the device's opening to its end; 0 when nothing failed. */
static int short_run(struct err *err)
{
	char name[DEVICE_NAME_MAX];
	struct course c;
	struct ops ops;
	int rc;

	if (open_named("cuda", 0, PRECISION_F32, &ops, name, err) != 0)
		return -1;
	rc = ops_check_machine(&ops, err);
	if (rc == 0) {
		rc = course_run(&c, &ops, OPTIMIZER_ADAMW, 1, err);
		course_end(&c);
	}
	ops_done(&ops);
	return rc;
}

/* Call number `at` has this result: the run ends with the error of this code, or was over. */
static bool fails_at(size_t at, int result, enum err_code code)
{
	struct err err = {0};
	struct standin_state s;

	standin.reset(at, result, 8, 6, MEMORY);
	if (short_run(&err) == 0)
		return false;
	s = standin.state();
	CHECK_INT(err.code, code);
	CHECK(err.msg[0] != '\0' && err.hint[0] != '\0');
	CHECK(strstr(err.msg, "(cu") != NULL || strstr(err.msg, " refuses cu") != NULL);
	CHECK(s.problem == NULL);
	if (result != FATAL) /* a lost context gives nothing back, and ends with the process */
		CHECK(s.held <= 1);
	return true;
}

/* Every call of the opening and of the first launches, then some of every part of a run. */
static void every_call_may_fail(void)
{
	static const struct {
		int result;
		enum err_code code;
	} kinds[] = {{OTHER, ERR_MACHINE}, {NO_MEMORY, ERR_MEMORY}, {FATAL, ERR_MACHINE}};
	struct err err = {0};
	size_t calls, failed = 0;

	standin.reset(0, 0, 8, 6, MEMORY);
	CHECK_OK(short_run(&err), &err);
	check_clean();
	calls = standin.state().calls;
	for (size_t at = 1, i = 0; at <= calls; at += at < 60 ? 1 : at / 8, i++)
		failed += fails_at(at, kinds[i % 3].result, kinds[i % 3].code);
	CHECK(calls > 500 && failed > 60);
}

static void memory_that_is_not_there_is_named(void)
{
	struct err err = {0};

	standin.reset(0, 0, 8, 6, 1 << 20);
	CHECK(short_run(&err) != 0);
	CHECK_INT(err.code, ERR_MEMORY);
	CHECK(strstr(err.msg, "the GPU has no memory left") != NULL);
	CHECK(strstr(err.msg, "MiB for ") != NULL);
	check_clean();
}

/* ---- the choice ---- */

static void ranks_take_their_own(void)
{
	char name[DEVICE_NAME_MAX];
	struct err err = {0};
	struct ops ops;

	standin.reset(0, 0, 8, 6, MEMORY);
	standin.devices(4);
	for (unsigned rank = 0; rank < 4; rank++) {
		char want[DEVICE_NAME_MAX];

		snprintf(want, sizeof(want), "cuda:%u", rank);
		CHECK_OK(open_named(rank % 2 ? "auto" : "cuda", rank, PRECISION_F32, &ops, name,
		                    &err),
		         &err);
		CHECK_STR(name, want);
		ops_done(&ops);
	}
	CHECK_OK(open_named("cuda:3", 1, PRECISION_F32, &ops, name, &err), &err);
	CHECK_STR(name, "cuda:3");
	ops_done(&ops);
	CHECK(open_named("cuda", 4, PRECISION_F32, &ops, name, &err) != 0);
	CHECK_STR(err.msg, "rank 4 of this node has no NVIDIA GPU of its own: there are 4 here");
	CHECK(open_named("cuda:4", 0, PRECISION_F32, &ops, name, &err) != 0);
	CHECK_STR(err.msg, "--device cuda:4: there are 4 NVIDIA GPUs here");
	check_clean();
}

/* A launcher that shows each rank one device has chosen already. */
static void a_rank_that_sees_one_takes_it(void)
{
	char name[DEVICE_NAME_MAX];
	struct err err = {0};
	struct ops ops;

	standin.reset(0, 0, 8, 6, MEMORY);
	CHECK(open_named("cuda", 3, PRECISION_F32, &ops, name, &err) != 0);
	setenv("CUDA_VISIBLE_DEVICES", "3", 1);
	CHECK_OK(open_named("cuda", 3, PRECISION_F32, &ops, name, &err), &err);
	unsetenv("CUDA_VISIBLE_DEVICES");
	CHECK_STR(name, "cuda:0");
	ops_done(&ops);
}

static void a_gpu_that_does_not_work_is_not_replaced(void)
{
	char name[DEVICE_NAME_MAX];
	struct err err = {0};
	struct ops ops;

	standin.reset(1, 802, 8, 0, MEMORY); /* cuInit */
	CHECK(open_named("auto", 0, PRECISION_F32, &ops, name, &err) != 0);
	CHECK_INT(err.code, ERR_MACHINE);
	CHECK_STR(err.msg, "look for a NVIDIA GPU: the node's GPUs are not connected yet (cuInit: "
	                   "CUDA_ERROR_PLANTED, 802)");
	CHECK(strstr(err.hint, "fabric manager") != NULL);
	device_auto(name);
	CHECK_STR(name, "cuda:0"); /* the call after the planted one */
	standin.reset(0, 0, 8, 0, MEMORY);
	standin.devices(0);
	device_auto(name);
	CHECK_STR(name, "cpu:0");
	CHECK(open_named("cuda", 0, PRECISION_F32, &ops, name, &err) != 0);
	CHECK_INT(err.code, ERR_NOT_FOUND);
}

static void options_of_a_processor_choose_it(void)
{
	static const struct ops_options some[] = {{.reference = true}, {.isa = "generic"}};
	char name[DEVICE_NAME_MAX];
	struct err err = {0};
	struct ops ops;

	standin.reset(0, 0, 7, 5, MEMORY);
	for (size_t i = 0; i < ARRAY_LEN(some); i++) {
		struct ops_options o = some[i];

		o.n_threads = 1;
		CHECK_OK(device_open(&(struct device_choice){"auto", 0}, &o, &ops, name, &err),
		         &err);
		CHECK_STR(name, "cpu:0");
		ops_done(&ops);
		CHECK(device_open(&(struct device_choice){"cuda", 0}, &o, &ops, name, &err) != 0);
		CHECK_INT(err.code, ERR_USAGE);
	}
	CHECK(open_named("cuda", 0, PRECISION_BF16, &ops, name, &err) != 0);
	CHECK_STR(err.msg, "the GPU Stand-in has compute capability 7.5: bf16 needs 8.0");
	CHECK_STR(err.hint, "Give --precision f16, which this GPU has, or f32.");
	err = (struct err){0};
	CHECK(open_named("cuda", 0, PRECISION_TF32, &ops, name, &err) != 0);
	CHECK_STR(err.msg, "the GPU Stand-in has compute capability 7.5: tf32 needs 8.0");
	CHECK_STR(err.hint, "Give --precision f32, or f16, which this GPU has.");
	check_clean();
}

static void describes_itself(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(256);
	struct ops gpu;

	standin.reset(0, 0, 8, 6, MEMORY);
	gpu = open_ops("auto");
	ops_describe(&gpu, &sb);
	CHECK_STR(strbuf_str(&sb), "Stand-in, compute capability 8.6, CUDA 12.4, f32");
	CHECK(!gpu.device->shared);
	ops_done(&gpu);
}

int main(void)
{
	load_standin();
	TEST("backend: goldens hold in f32 on 7.5 and 8.6", goldens_hold_in_f32);
	TEST("backend: goldens hold in f32 by three products in tf32",
	     goldens_hold_in_f32_by_three);
	TEST("backend: goldens hold in bf16", goldens_hold_in_bf16);
	TEST("backend: goldens hold in tf32", goldens_hold_in_tf32);
	TEST("backend: goldens hold in f16, with a scaled loss", goldens_hold_in_f16);
	TEST("backend: training, averages and going back are the CPU's", trains_as_the_cpu);
	TEST("backend: the same run has the same bits", the_same_bits_again);
	TEST("backend: every call of the driver may fail", every_call_may_fail);
	TEST("backend: memory that is not there is named with who asked",
	     memory_that_is_not_there_is_named);
	TEST("backend: each rank of a node has a GPU of its own", ranks_take_their_own);
	TEST("backend: a rank that is shown one GPU takes it", a_rank_that_sees_one_takes_it);
	TEST("backend: a GPU that does not work is not replaced by the CPU",
	     a_gpu_that_does_not_work_is_not_replaced);
	TEST("backend: a processor's options mean the processor", options_of_a_processor_choose_it);
	TEST("backend: it describes itself", describes_itself);
	return test_done();
}
