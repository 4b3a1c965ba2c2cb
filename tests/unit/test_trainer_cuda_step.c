/*
 * A step on the tests' stand-in for a GPU (tests/cuda/standin.h): batches that travel ahead, as
 * bytes and as numbers; micro-steps that are recorded; and what the stand-in says of a backend that
 * does either wrongly. No GPU was ever asked.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/cuda/standin.h"
#include "tests/harness.h"
#include "trainer/cuda/driver_internal.h"
#include "trainer/device/devices.h"
#include "trainer/model/model.h"
#include "trainer/ops/philox.h"
#include "trainer/train/learner.h"
#include "trainer/train/optimizer.h"

enum { MEMORY = 256 << 20, CLIPS = 2, STEPS = 4, IMAGE_POINTS = 5, AUDIO_POINTS = 3 };
#define MAX_NORM 0.05 /* below what the courses have */

static struct standin_calls {
	void (*reset)(size_t fail_at, int result, int major, int minor, size_t memory);
	void (*fail_call)(const char *name);
	struct standin_state (*state)(void);
} standin;

static void load_standin(void)
{
	void *library = dlopen(CUDA_STANDIN, RTLD_NOW);

	if (library == NULL)
		abort();
	*(void **)&standin.reset = dlsym(library, "standin_reset");
	*(void **)&standin.fail_call = dlsym(library, "standin_fail_call");
	*(void **)&standin.state = dlsym(library, "standin_state");
}

static void check_clean(void)
{
	struct standin_state s = standin.state();

	CHECK_STR(s.problem != NULL ? s.problem : "", "");
	CHECK_INT(s.held, 0);
}

/* ---- a course ---- */

/* How its steps are made. */
struct way {
	bool bytes, unrecorded, ahead;
	bool judged;       /* the device decides on the update, else the host does */
	size_t spike_at;   /* the norm of this step, from 1, is above the limit; judged alone */
	size_t barred_at;  /* this one is thrown away by the host */
	size_t keep_every; /* judged alone; 0: the first step keeps */
	size_t micro;      /* micro-steps in a step; 0: one */
	size_t fewer_from; /* from this step on, one clip less; 0: never */
	size_t steps;      /* 0: three */
};

struct course {
	struct model_config config;
	struct learner *learner;
	uint8_t *video;
	int16_t *sound;
	float *image, *audio;
	int32_t label[CLIPS], points[IMAGE_POINTS + AUDIO_POINTS];
	uint64_t sample[CLIPS];
	double loss[STEPS], norm[STEPS];
	bool updated[STEPS];
	size_t allocations[STEPS], launches[STEPS];
	struct standin_state end; /* before anything was given back */
	struct tensors weights;
};

static struct model_config small_config(void)
{
	struct model_config c = model_config_tiny();
	struct err err = {0};

	c.image_height = c.image_width = 8;
	c.image_size = 4;
	c.audio_samples_per_frame = 64;
	c.num_latents = 5;
	c.d_latents = 12;
	c.num_self_attends_per_block = 1;
	c.audio_num_bands = 3;
	c.image_num_bands = 2;
	c.output_num_channels = 8;
	c.label_query_channels = 8;
	c.attention_probs_dropout_prob = 0.1;
	CHECK_OK(model_config_check(&c, &err), &err);
	return c;
}

/* The numbers are those of the bytes, by the CPU's op. */
static void make_clips(struct course *c)
{
	struct model_dims d = model_dims(&c->config);
	struct op_clip p = {.frames = CLIPS * c->config.num_frames,
	                    .plane = c->config.image_height * c->config.image_width,
	                    .samples = CLIPS * d.audio_samples};
	size_t pixels = CLIPS * 3 * d.n_pixels;
	struct ops cpu;

	c->video = mem_calloc(pixels, 1);
	c->sound = mem_calloc(p.samples, sizeof(*c->sound));
	c->image = mem_calloc(pixels, sizeof(*c->image));
	c->audio = mem_calloc(p.samples, sizeof(*c->audio));
	p.video = c->video;
	p.sound = c->sound;
	p.image = c->image;
	p.audio = c->audio;
	for (size_t i = 0; i < pixels; i++)
		c->video[i] = (uint8_t)(i * 131 + i / 7);
	for (size_t i = 0; i < p.samples; i++)
		c->sound[i] = (int16_t)(i * 977);
	CHECK(ops_open(&(struct ops_options){.reference = true}, &cpu));
	cpu.table->clip(&cpu, &p);
	ops_done(&cpu);
}

/* Another batch for every step: other samples, points and labels at the same addresses. */
static struct batch batch_of(struct course *c, const struct way *way, size_t step)
{
	struct model_dims d = model_dims(&c->config);

	for (size_t i = 0; i < CLIPS; i++) {
		c->label[i] = (int32_t)((step + i) % c->config.num_labels);
		c->sample[i] = step * CLIPS + i;
	}
	for (size_t i = 0; i < IMAGE_POINTS + AUDIO_POINTS; i++)
		c->points[i] = (int32_t)((step * 11 + i * 5) %
		                         (i < IMAGE_POINTS ? d.n_pixels : d.n_audio));
	return (struct batch){.n = way->fewer_from > 0 && step >= way->fewer_from ? CLIPS - 1
	                                                                          : CLIPS,
	                      .image = way->bytes ? NULL : c->image,
	                      .audio = way->bytes ? NULL : c->audio,
	                      .video = way->bytes ? c->video : NULL,
	                      .sound = way->bytes ? c->sound : NULL,
	                      .label = c->label,
	                      .out_image = c->points,
	                      .out_audio = c->points + IMAGE_POINTS,
	                      .n_out_image = IMAGE_POINTS,
	                      .n_out_audio = AUDIO_POINTS,
	                      .decode_label = true,
	                      .dropout_seed = 9,
	                      .dropout_sample = c->sample};
}

static struct learner_update plan_of(const struct way *way, size_t i)
{
	size_t every = way->keep_every;

	return (struct learner_update){.lr = 1e-2 / (double)(i + 1),
	                               .unscale = 1,
	                               .max_norm = MAX_NORM,
	                               .limit = i + 1 == way->spike_at ? 1e-9 : (double)INFINITY,
	                               .barred = i + 1 == way->barred_at,
	                               .keep = every > 0 ? i % every == 0 : i == 0};
}

/* As the loop does it, and as it did when the host decided. */
static int end_step(struct course *c, const struct way *way, size_t i, struct err *err)
{
	struct learner_update plan = plan_of(way, i);
	struct learner_verdict v = {0};

	if (way->judged) {
		if (learner_conclude(c->learner, &plan, &v, err) != 0)
			return -1;
		c->norm[i] = v.norm;
		c->updated[i] = v.updated;
		return 0;
	}
	c->updated[i] = !plan.barred && i + 1 != way->spike_at;
	if (learner_norm(c->learner, &c->norm[i], err) != 0)
		return -1;
	return c->updated[i]
	               ? learner_apply(c->learner, plan.lr, clip_scale(c->norm[i], MAX_NORM), err)
	               : 0;
}

static int micro_step(struct course *c, const struct way *way, size_t i, bool last, struct err *err)
{
	struct learner_update plan = plan_of(way, i);
	struct loss_weights w = {0.03, 1, 1e-4};
	struct losses losses;
	struct batch b;

	if (i == 0 || !way->ahead) {
		b = batch_of(c, way, i);
		learner_stage(c->learner, &b);
	}
	if (last && way->judged)
		learner_plan(c->learner, &plan);
	learner_start(c->learner, &w, 1);
	if (way->ahead && i + 1 < STEPS) { /* what this step was given is changed meanwhile */
		b = batch_of(c, way, i + 1);
		learner_stage(c->learner, &b);
	}
	if (learner_finish(c->learner, &w, &losses, err) != 0)
		return -1;
	c->loss[i] += losses.total;
	return 0;
}

static int one_step(struct course *c, const struct way *way, size_t i, struct err *err)
{
	size_t micro = way->micro > 0 ? way->micro : 1;

	learner_begin(c->learner);
	for (size_t k = 0; k < micro; k++)
		if (micro_step(c, way, i, k + 1 == micro, err) != 0)
			return -1;
	return end_step(c, way, i, err);
}

static int steps(struct course *c, const struct way *way, struct err *err)
{
	struct optimizer_options o = train_options_default().optimizer;

	o.ema_decay = 0.9;
	learner_init(c->learner, 3);
	learner_prepare(c->learner, &o);
	for (size_t i = 0; i < (way->steps > 0 ? way->steps : 3); i++) {
		if (one_step(c, way, i, err) != 0)
			return -1;
		c->allocations[i] = standin.state().allocations;
		c->launches[i] = standin.state().launches;
	}
	learner_keep(c->learner, 0);
	tensors_like(learner_table(c->learner), NULL, NULL, &c->weights);
	return learner_get(c->learner, LEARNER_WEIGHTS, &c->weights, err);
}

static int course_run(struct course *c, const struct way *way, struct err *err)
{
	char name[DEVICE_NAME_MAX];
	struct ops_options o = {.n_threads = 1, .unrecorded = way->unrecorded};
	struct ops ops;
	int rc;

	*c = (struct course){.config = small_config()};
	make_clips(c);
	if (device_open(&(struct device_choice){"cuda", 0}, &o, &ops, name, err) != 0)
		return -1;
	c->learner = learner_new(&c->config, &ops, (struct recompute){true, 0});
	rc = steps(c, way, err);
	c->end = standin.state();
	learner_free(c->learner);
	ops_done(&ops);
	return rc;
}

static void course_end(struct course *c)
{
	tensors_done(&c->weights);
	free(c->video);
	free(c->sound);
	free(c->image);
	free(c->audio);
}

static struct course course_of(const struct way *way)
{
	struct course c;
	struct err err = {0};

	standin.reset(0, 0, 8, 6, MEMORY);
	CHECK_OK(course_run(&c, way, &err), &err);
	check_clean();
	return c;
}

static void check_same_bits(const struct way *one, const struct way *other)
{
	struct course a = course_of(one), b = course_of(other);

	CHECK(memcmp(a.loss, b.loss, sizeof(a.loss)) == 0);
	CHECK(memcmp(a.norm, b.norm, sizeof(a.norm)) == 0);
	CHECK(memcmp(a.updated, b.updated, sizeof(a.updated)) == 0);
	CHECK(a.loss[0] != a.loss[1] && a.norm[0] != a.norm[1]);
	CHECK_INT(a.weights.n_values, b.weights.n_values);
	CHECK(memcmp(a.weights.data, b.weights.data, a.weights.n_values * sizeof(float)) == 0);
	course_end(&a);
	course_end(&b);
}

static void recorded_steps_have_the_same_bits(void)
{
	check_same_bits(&(struct way){.bytes = true},
	                &(struct way){.bytes = true, .unrecorded = true});
}

/* The whole step as one graph, each operation by itself, and with the host deciding. */
static void recorded_updates_have_the_same_bits(void)
{
	struct way judged = {.bytes = true, .judged = true, .steps = STEPS};
	struct way apart = judged, hosts = judged;

	for (size_t i = 0; i < 4; i++) {
		judged.spike_at = apart.spike_at = hosts.spike_at = i == 1 ? 3 : 0;
		judged.barred_at = apart.barred_at = hosts.barred_at = i == 2 ? 3 : 0;
		judged.micro = apart.micro = hosts.micro = i == 3 ? 2 : 1;
		apart.unrecorded = true;
		hosts.unrecorded = true;
		hosts.judged = false;
		check_same_bits(&judged, i == 0 ? &apart : &hosts);
	}
}

/* What is kept is what was there before the update. */
static void steps_that_keep_have_the_same_bits(void)
{
	struct way way = {.bytes = true, .judged = true, .steps = STEPS, .keep_every = 2};
	struct way apart = way;

	apart.unrecorded = true;
	check_same_bits(&way, &apart);
}

static void bytes_have_the_bits_of_numbers(void)
{
	check_same_bits(&(struct way){.bytes = true}, &(struct way){.bytes = false});
}

static void what_is_sent_ahead_is_not_changed(void)
{
	check_same_bits(&(struct way){.bytes = true, .ahead = true}, &(struct way){.bytes = true});
}

static void a_step_is_recorded_once(void)
{
	struct course c = course_of(&(struct way){.bytes = true, .ahead = true});

	CHECK_INT(c.end.recordings, 1);
	CHECK_INT(c.end.replays, 2);
	CHECK_INT(c.allocations[1], c.allocations[0]);
	CHECK_INT(c.allocations[2], c.allocations[0]);
	course_end(&c);
}

/* Two ends of a micro-step: with the update, and without where there is more to come. */
static void a_whole_step_is_one_graph(void)
{
	struct way way = {.bytes = true, .ahead = true, .judged = true, .steps = STEPS};
	struct course c = course_of(&way);
	struct way two = {.bytes = true, .judged = true, .steps = STEPS, .micro = 2};

	CHECK_INT(c.end.recordings, 1);
	CHECK_INT(c.end.replays, STEPS - 1);
	CHECK_INT(c.end.launches, c.launches[0]);
	for (size_t i = 1; i < STEPS; i++)
		CHECK_INT(c.allocations[i], c.allocations[0]);
	course_end(&c);
	c = course_of(&two);
	CHECK_INT(c.end.recordings, 2);
	CHECK_INT(c.end.replays, 2 * STEPS - 1);
	for (size_t i = 1; i < STEPS; i++)
		CHECK_INT(c.allocations[i], c.allocations[0]);
	course_end(&c);
}

static void another_shape_is_recorded_anew(void)
{
	struct way way = {.bytes = true, .fewer_from = 2, .steps = 4}, plain = way;
	struct course c = course_of(&way);

	CHECK_INT(c.end.recordings, 2);
	CHECK_INT(c.end.replays, 2); /* of steps 2 and 4; 1 and 3 are the first of their shapes */
	course_end(&c);
	plain.unrecorded = true;
	check_same_bits(&way, &plain);
}

/* To the byte: the same code asks for it. */
static void a_rehearsal_counts_what_a_run_takes(void)
{
	struct way way = {.bytes = true, .ahead = true};
	struct course c = course_of(&way);
	struct optimizer_options o = train_options_default().optimizer;
	struct batch b = batch_of(&c, &way, 0);
	struct tally t = {.now = 0};
	struct ops ops;

	o.ema_decay = 0.9;
	device_row_of("cuda:0")->rehearse(&(struct ops_options){.n_threads = 1}, &t, &ops);
	c.learner = learner_new(&c.config, &ops, (struct recompute){true, 0});
	learner_prepare(c.learner, &o);
	learner_rehearse(c.learner, &b);
	learner_free(c.learner);
	ops_done(&ops);
	CHECK_INT(t.most, c.end.most);
	CHECK(t.parts.n > 6 && t.now == 0);
	CHECK(device_row_of("cpu")->rehearse == NULL && device_row_of("abacus") == NULL);
	tally_done(&t);
	course_end(&c);
}

/* ---- faults ---- */

/* Use number `at` of a call fails; false: there was no such use. */
static bool fails_at(const char *call, size_t at)
{
	struct way way = {.bytes = true, .ahead = true, .judged = true, .steps = 2};
	struct course c;
	struct err err = {0};
	size_t uses;
	int rc;

	standin.reset(at, 999, 8, 6, MEMORY);
	standin.fail_call(call);
	rc = course_run(&c, &way, &err);
	uses = standin.state().counted;
	CHECK_STR(standin.state().problem != NULL ? standin.state().problem : "", "");
	if (rc != 0) {
		CHECK_INT(err.code, ERR_MACHINE);
		CHECK(strstr(err.msg, call) != NULL && err.hint[0] != '\0');
		CHECK(standin.state().held <= 1);
	} /* else the call gave something back, after the last wait */
	course_end(&c);
	return uses >= at;
}

/* Functions that steps alone use; the others are made to fail by test_trainer_cuda_backend.c. */
static bool is_of_steps(const char *call)
{
	return strstr(call, "Event") != NULL || strstr(call, "Capture") != NULL ||
	       strstr(call, "Graph") != NULL || strcmp(call, "cuMemcpyDtoDAsync_v2") == 0;
}

/* Their first uses; where there is time for it, every use of every function. */
static void every_call_may_fail(void)
{
#define NAME_OF(member, name, parameters) #name,
	static const char *const calls[] = {CUDA_CALLS(NAME_OF)};
	bool all = getenv("SLIPWAY_TEST_LONG") != NULL;

	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		size_t at = 1;

		if (!all && !is_of_steps(calls[i]))
			continue;
		while (fails_at(calls[i], at) && all)
			at++;
	}
}

/* ---- what a backend must not do ---- */

static struct cuda_device *open_device(void)
{
	struct cuda_device *d = NULL;
	struct err err = {0};

	standin.reset(0, 0, 8, 6, MEMORY);
	CHECK_OK(cuda_open(CUDA_STANDIN, 0, &d, &err), &err);
	return d;
}

static void check_problem(const char *says)
{
	struct standin_state s = standin.state();

	CHECK(s.problem != NULL && strstr(s.problem, says) != NULL);
}

/* Block, pinned block and another: n bytes of each. */
struct memory {
	char *there, *pinned, *other;
	size_t n;
};

static struct memory take_memory(struct cuda_device *d)
{
	enum { N = 1000 };
	struct memory m = {.there = cuda_allocate(d, N, "a block"),
	                   .pinned = cuda_allocate_pinned(d, N, "a block"),
	                   .other = cuda_allocate(d, N, "another"),
	                   .n = N};

	memset(m.pinned, 7, N);
	return m;
}

static void give_back(struct cuda_device *d, struct memory *m)
{
	cuda_release(d, m->there);
	cuda_release(d, m->other);
	cuda_release_pinned(d, m->pinned);
	cuda_close(d);
}

static void a_use_before_its_event_is_seen(void)
{
	struct cuda_device *d = open_device();
	struct memory m = take_memory(d);
	struct err err = {0};

	cuda_send(d, 0, m.there, m.pinned, m.n);
	cuda_take(d, 0, m.other, m.there, m.n);
	CHECK_OK(cuda_sync(d, &err), &err);
	CHECK(standin.state().problem == NULL);
	cuda_send(d, 1, m.there, m.pinned, m.n);
	cuda_copy(d, m.other, m.there, m.n); /* and not cuda_take, which waits */
	CHECK_OK(cuda_sync(d, &err), &err);
	check_problem("two streams use the same memory without an event");
	give_back(d, &m);
}

static void a_lane_that_is_used_too_early_is_seen(void)
{
	struct cuda_device *d = open_device();
	struct memory m = take_memory(d);

	cuda_copy(d, m.other, m.there, m.n);
	cuda_send(d, 0, m.there, m.pinned, m.n); /* of which no take has read */
	cuda_sent(d, 0);
	check_problem("two streams use the same memory without an event");
	give_back(d, &m);
}

static void pinned_memory_that_changes_too_early_is_seen(void)
{
	struct cuda_device *d = open_device();
	struct memory m = take_memory(d);

	cuda_send(d, 0, m.there, m.pinned, m.n);
	m.pinned[17]++;
	cuda_sent(d, 0);
	check_problem("pinned memory was changed before its upload");
	give_back(d, &m);
}

static struct cuda_graph *record_copy(struct cuda_device *d, const struct memory *m)
{
	CHECK(cuda_record(d));
	cuda_copy(d, m->other, m->there, m->n);
	return cuda_record_end(d);
}

static void a_graph_holds_nothing_that_was_given_back(void)
{
	struct cuda_device *d = open_device();
	struct memory m = take_memory(d);
	struct cuda_graph *g = record_copy(d, &m);

	CHECK(g != NULL && cuda_replay(d, g));
	cuda_release(d, m.other);
	m.other = cuda_allocate(d, m.n, "at the same place");
	CHECK(!cuda_replay(d, g));
	CHECK(standin.state().problem == NULL);
	d->given_back--; /* as if it had not been noticed */
	CHECK(cuda_replay(d, g));
	check_problem("a graph holds memory that is not there any more");
	cuda_forget(d, g);
	give_back(d, &m);
}

static void uploads(struct cuda_device *d, struct memory *m)
{
	cuda_upload(d, m->there, "host", 4);
}

static void waits(struct cuda_device *d, struct memory *m)
{
	struct err err = {0};

	(void)m;
	CHECK(cuda_sync(d, &err) != 0);
}

static void allocates(struct cuda_device *d, struct memory *m)
{
	(void)m;
	CHECK(cuda_allocate(d, 64, "more") == NULL);
}

static void gives_back(struct cuda_device *d, struct memory *m)
{
	cuda_release(d, m->other);
}

/* The legacy stream, which waits for all others. */
static void uses_the_legacy_stream(struct cuda_device *d, struct memory *m)
{
	(void)DO(d, copy, (cuda_address(m->other), cuda_address(m->there), m->n, NULL));
}

static void a_recording_neither_waits_nor_takes_memory(void)
{
	static const struct {
		void (*breach)(struct cuda_device *d, struct memory *m);
		const char *says;
	} breaches[] = {{uploads, "asked for while a stream records"},
	                {waits, "asked for while a stream records"},
	                {allocates, "asked for while a stream records"},
	                {gives_back, "asked for while a stream records"},
	                {uses_the_legacy_stream, "work for a stream that is not there"}};

	for (size_t i = 0; i < ARRAY_LEN(breaches); i++) {
		struct cuda_device *d = open_device();
		struct memory m = take_memory(d);

		CHECK(cuda_record(d));
		breaches[i].breach(d, &m);
		CHECK(cuda_record_end(d) == NULL);
		check_problem(breaches[i].says);
		give_back(d, &m);
	}
}

/* More scratch than there is: the recording is none, and the device goes on. */
static void a_recording_that_lacks_memory_is_none(void)
{
	struct cuda_device *d = open_device();
	struct memory m = take_memory(d);
	struct cuda_queue *q = cuda_queue_of(d);
	struct err err = {0};

	CHECK(cuda_record(d));
	cuda_copy(d, m.other, m.there, m.n);
	CHECK(q->scratch(q, 4096) == NULL);
	CHECK(cuda_record_end(d) == NULL);
	CHECK(q->scratch(q, 4096) != NULL);
	CHECK_OK(cuda_sync(d, &err), &err);
	give_back(d, &m);
	check_clean();
}

int main(void)
{
	load_standin();
	TEST("step: recorded ones have the same bits", recorded_steps_have_the_same_bits);
	TEST("step: with the update in it, too, made or not", recorded_updates_have_the_same_bits);
	TEST("step: those that keep what was before, too", steps_that_keep_have_the_same_bits);
	TEST("step: clips as bytes have the bits of clips as numbers",
	     bytes_have_the_bits_of_numbers);
	TEST("step: what was sent ahead may be changed", what_is_sent_ahead_is_not_changed);
	TEST("step: recorded once, replayed after, nothing allocated after the first",
	     a_step_is_recorded_once);
	TEST("step: from its batch to its update it is one graph", a_whole_step_is_one_graph);
	TEST("step: another shape is recorded anew", another_shape_is_recorded_anew);
	TEST("step: a rehearsal counts what a run takes", a_rehearsal_counts_what_a_run_takes);
	TEST("step: every call of the driver may fail", every_call_may_fail);
	TEST("stand-in: a use before its event is seen", a_use_before_its_event_is_seen);
	TEST("stand-in: so is a lane that is filled too early",
	     a_lane_that_is_used_too_early_is_seen);
	TEST("stand-in: so is pinned memory that changes too early",
	     pinned_memory_that_changes_too_early_is_seen);
	TEST("stand-in: a graph holds nothing that was given back",
	     a_graph_holds_nothing_that_was_given_back);
	TEST("stand-in: a recording neither waits, nor takes memory, nor uses another stream",
	     a_recording_neither_waits_nor_takes_memory);
	TEST("driver: a recording that lacks memory is none, and the device goes on",
	     a_recording_that_lacks_memory_is_none);
	return test_done();
}
