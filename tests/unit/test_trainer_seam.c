/*
 * The seam between a model and the device that computes it: a device whose memory the host cannot
 * touch. It is the CPU's ops on an arena that is locked (PROT_NONE) whenever no op and no transfer
 * is at work, so that a loop of the host over a model's data ends the test at once. Transfers lag:
 * what was downloaded is there after a sync and not before, and pinned memory is read at the sync.
 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "tests/harness.h"
#include "trainer/cmd/golden.h"
#include "trainer/config/model_file.h"
#include "trainer/device/devices.h"
#include "trainer/model/model.h"
#include "trainer/ops/philox.h"
#include "trainer/train/learner.h"
#include "trainer/train/loop.h"
#include "trainer/train/reduce.h"

enum { ARENA = 256 << 20, HUGE = 2 << 20, LINE = 64, LATER_MAX = 64 };

/* A transfer that is made at the next sync. */
struct later {
	void *to;
	const void *from;
	size_t n;
};

struct guard {
	struct ops ops; /* first: an op finds the rest by it */
	struct op_table table;
	struct op_device device;
	const struct op_table *inner;
	const struct op_device *inner_device;
	char *mapped, *arena;
	unsigned depth; /* of ops at work: one may call others */
	void *state; /* of the cross attention: the one pointer to the host's that ops are given */
	size_t used, live, transfers, syncs;
	struct later later[LATER_MAX];
	size_t n_later;
	unsigned fails_in; /* operations; 0: never */
};

static struct guard *guard_of(const struct ops *ops)
{
	return (struct guard *)(uintptr_t)ops;
}

static void lock(struct guard *g)
{
	if (--g->depth > 0)
		return;
	if (mprotect(g->arena, ARENA, PROT_NONE) != 0)
		abort();
}

static void unlock(struct guard *g)
{
	if (g->depth++ > 0)
		return;
	if (mprotect(g->arena, ARENA, PROT_READ | PROT_WRITE) != 0)
		abort();
}

/* Counts the device's work; the operation that is to fail does, and all after it are not done. */
static bool works(struct guard *g)
{
	struct err lost = {0};

	if (g->ops.has_failed)
		return false;
	if (g->fails_in == 0 || --g->fails_in > 0)
		return true;
	err_set(&lost, ERR_MACHINE, "the device fell off the bus");
	ops_fail(&g->ops, &lost);
	return false;
}

static bool is_inside(const struct guard *g, const void *at)
{
	return (const char *)at >= g->arena && (const char *)at < g->arena + ARENA;
}

/* ---- what the model was given by the host, and ops must get from the device ---- */

static void check_inside(const struct guard *g, const void *at)
{
	if (g->depth == 0 && at != NULL)
		CHECK(is_inside(g, at));
}

static void cross_inputs(const struct guard *g, const void *op)
{
	const struct op_cross *p = op;

	for (size_t i = 0; i < OP_TOKEN_GROUPS; i++) {
		check_inside(g, p->groups[i].data);
		check_inside(g, p->groups[i].mask);
		for (size_t d = 0; d < p->groups[i].ndim; d++)
			check_inside(g, p->groups[i].position[d]);
	}
	check_inside(g, p->dropout.sample);
}

static void attention_inputs(const struct guard *g, const void *op)
{
	check_inside(g, ((const struct op_attention *)op)->dropout.sample);
}

static void clip_inputs(const struct guard *g, const void *op)
{
	check_inside(g, ((const struct op_clip *)op)->video);
	check_inside(g, ((const struct op_clip *)op)->sound);
}

static void patches_inputs(const struct guard *g, const void *op)
{
	check_inside(g, ((const struct op_patches *)op)->image);
}

static void onehot_inputs(const struct guard *g, const void *op)
{
	check_inside(g, ((const struct op_onehot *)op)->label);
}

static void queries_inputs(const struct guard *g, const void *op)
{
	const struct op_queries *p = op;

	for (size_t i = 0; i < OP_QUERY_GROUPS; i++) {
		check_inside(g, p->groups[i].point);
		for (size_t d = 0; d < p->groups[i].ndim; d++)
			check_inside(g, p->groups[i].position[d]);
	}
}

static void l1_inputs(const struct guard *g, const void *op)
{
	const struct op_l1 *p = op;

	check_inside(g, p->target);
	check_inside(g, p->point);
}

static void entropy_inputs(const struct guard *g, const void *op)
{
	check_inside(g, ((const struct op_entropy *)op)->label);
}

static void no_inputs(const struct guard *g, const void *op)
{
	(void)g;
	(void)op;
}

#define INPUTS_OF(p)                                                                               \
	_Generic((p),                                                                              \
	         const struct op_cross * : cross_inputs,                                           \
	         const struct op_attention * : attention_inputs,                                   \
	         const struct op_clip * : clip_inputs,                                             \
	         const struct op_patches * : patches_inputs,                                       \
	         const struct op_onehot * : onehot_inputs,                                         \
	         const struct op_queries * : queries_inputs,                                       \
	         const struct op_l1 * : l1_inputs,                                                 \
	         const struct op_entropy * : entropy_inputs,                                       \
	         default : no_inputs)

#define GUARDED(op, type)                                                                          \
	static void guarded_##op(struct ops *ops, const struct type *p)                            \
	{                                                                                          \
		struct guard *g = guard_of(ops);                                                   \
                                                                                                   \
		if (!works(g))                                                                     \
			return;                                                                    \
		INPUTS_OF(p)(g, p);                                                                \
		unlock(g);                                                                         \
		g->inner->op(ops, p);                                                              \
		lock(g);                                                                           \
	}

EACH_OP(GUARDED)

/* ---- memory ---- */

static void allocate(struct ops *ops, struct buffer *b, const char *what)
{
	struct guard *g = guard_of(ops);
	size_t takes = (b->bytes + LINE - 1) / LINE * LINE;

	CHECK(what != NULL && what[0] != '\0');
	if (!works(g))
		return;
	if (b->pinned) {
		b->at = mem_calloc(1, b->bytes);
	} else {
		CHECK(g->used + takes <= ARENA);
		b->at = g->arena + g->used;
		g->used += takes;
		/* What was there before is nobody's: a read of it must not go unseen. */
		unlock(g);
		memset(b->at, 0xFF, takes);
		lock(g);
	}
	g->live++;
}

static void release(struct ops *ops, struct buffer *b)
{
	struct guard *g = guard_of(ops);

	CHECK(b->pinned != is_inside(g, b->at));
	if (b->pinned)
		free(b->at);
	g->live--;
}

static void zero(struct ops *ops, void *to, size_t n)
{
	struct guard *g = guard_of(ops);

	CHECK(is_inside(g, to));
	if (!works(g))
		return;
	unlock(g);
	memset(to, 0, n);
	lock(g);
}

static void copy(struct ops *ops, void *to, const void *from, size_t n)
{
	struct guard *g = guard_of(ops);

	CHECK(is_inside(g, to) && is_inside(g, from));
	if (!works(g))
		return;
	unlock(g);
	memcpy(to, from, n);
	lock(g);
}

static void upload(struct ops *ops, void *to, const void *from, size_t n)
{
	struct guard *g = guard_of(ops);

	CHECK(is_inside(g, to) && !is_inside(g, from));
	if (!works(g))
		return;
	g->transfers++;
	unlock(g);
	memcpy(to, from, n);
	lock(g);
}

/* The device's content of now, which the host gets at the sync. */
static void download(struct ops *ops, void *to, const void *from, size_t n)
{
	struct guard *g = guard_of(ops);
	char *now;

	CHECK(!is_inside(g, to) && is_inside(g, from));
	if (!works(g))
		return;
	CHECK(g->n_later < LATER_MAX);
	g->transfers++;
	now = mem_calloc(1, n);
	unlock(g);
	memcpy(now, from, n);
	lock(g);
	memset(to, 0xFF, n);
	g->later[g->n_later++] = (struct later){to, now, n};
}

static void finish(struct ops *ops)
{
	struct guard *g = guard_of(ops);

	g->syncs++;
	for (size_t i = 0; i < g->n_later; i++) {
		memcpy(g->later[i].to, g->later[i].from, g->later[i].n);
		free((void *)(uintptr_t)g->later[i].from);
	}
	g->n_later = 0;
}

static void close_guard(struct ops *ops)
{
	struct guard *g = guard_of(ops);

	for (size_t i = 0; i < g->n_later; i++)
		free((void *)(uintptr_t)g->later[i].from);
	CHECK_INT(g->live, 0);
	munmap(g->mapped, ARENA + HUGE);
	g->inner_device->close(ops);
}

static void guard_open(struct guard *g)
{
	*g = (struct guard){0};
	CHECK(ops_open(&(struct ops_options){.n_threads = 1}, &g->ops));
	g->inner = g->ops.table;
	g->inner_device = g->ops.device;
	g->table = *g->inner;
#define PUT(op, type) g->table.op = guarded_##op;
	EACH_OP(PUT)
#undef PUT
	g->device = *g->inner_device;
	g->device.shared = false;
	g->device.allocate = allocate;
	g->device.release = release;
	g->device.zero = zero;
	g->device.copy = copy;
	g->device.upload = upload;
	g->device.download = download;
	g->device.sync = finish;
	g->device.close = close_guard;
	g->ops.table = &g->table;
	g->ops.device = &g->device;
	g->mapped = mmap(NULL, ARENA + HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	                 -1, 0);
	CHECK(g->mapped != MAP_FAILED);
	g->arena = g->mapped + (HUGE - (uintptr_t)g->mapped % HUGE) % HUGE;
	/* Few pages, since they are locked and unlocked at every op. */
	(void)madvise(g->arena, ARENA, MADV_HUGEPAGE);
}

/* ---- a run ---- */

struct course {
	struct model_config config;
	struct model_dims dims;
	struct learner *learner;
	struct train_state state;
	float *image, *audio;
	int32_t label[4];
	double loss[16], norm[16];
	size_t steps;
	struct tensors sets[LEARNER_SETS];
	struct metric_sums sums;
	struct err err;
	int rc;
};

static int give(void *ctx, uint64_t first, size_t n, struct clips *ret, uint64_t *wait,
                struct err *err)
{
	struct course *c = ctx;
	size_t pixels = 3 * c->dims.n_pixels, samples = c->dims.audio_samples;

	(void)wait;
	(void)err;
	for (size_t i = 0; i < n; i++) {
		struct philox r = philox_start(6, STREAM_SYNTHETIC, first + i);

		for (size_t k = 0; k < pixels; k++)
			c->image[i * pixels + k] = (float)philox_uniform(&r);
		for (size_t k = 0; k < samples; k++)
			c->audio[i * samples + k] = (float)philox_uniform(&r) - 0.5f;
		c->label[i] = (int32_t)philox_below(&r, 10);
	}
	*ret = (struct clips){.image = c->image, .audio = c->audio, .label = c->label};
	return 0;
}

static int on_step(void *ctx, const struct step_stats *s, struct err *err)
{
	struct course *c = ctx;

	(void)err;
	c->loss[c->steps] = s->losses.total;
	c->norm[c->steps++] = s->grad_norm;
	return 0;
}

static int on_save(void *ctx, struct learner *l, const struct train_state *state, bool last,
                   struct err *err)
{
	struct course *c = ctx;

	(void)state;
	(void)last;
	for (enum learner_set k = 0; k < LEARNER_SETS; k++) {
		if (!learner_has(l, k))
			continue;
		if (c->sets[k].n == 0)
			tensors_like(learner_table(l), NULL, NULL, &c->sets[k]);
		if (learner_get(l, k, &c->sets[k], err) != 0)
			return -1;
	}
	return 0;
}

/* Two ranks with the same gradients. */
static int twice_f32(void *ctx, float *values, size_t n, struct err *err)
{
	(void)ctx;
	(void)err;
	for (size_t i = 0; i < n; i++)
		values[i] += values[i];
	return 0;
}

static int twice_f64(void *ctx, double *values, size_t n, struct err *err)
{
	(void)ctx;
	(void)err;
	for (size_t i = 0; i < n; i++)
		values[i] += values[i];
	return 0;
}

static struct train_options options_of(enum optimizer_kind kind)
{
	struct train_options o = train_options_default();

	o.batch_size = 2;
	o.accumulate = 2;
	o.label_mask_prob = 0.5;
	o.image_mask_prob = o.audio_mask_prob = 0.1;
	o.image_points = 16;
	o.audio_points = 8;
	o.max_steps = 4;
	o.optimizer.kind = kind;
	o.optimizer.lr = 1e-3;
	o.optimizer.ema_decay = 0.9;
	o.recompute = (struct recompute){true, 0};
	return o;
}

static void course_run(struct course *c, struct ops *ops, const struct train_options *o,
                       const struct reducer *reducer)
{
	struct clip_source source = {give, c, 100, NULL};
	struct train_hooks hooks = {.ctx = c, .on_step = on_step, .save = on_save};
	struct train t = {NULL, o, &source, reducer, &hooks};
	enum train_end end;

	*c = (struct course){.config = model_config_tiny()};
	c->config.attention_probs_dropout_prob = 0.1;
	c->dims = model_dims(&c->config);
	c->image = mem_calloc(4 * 3 * c->dims.n_pixels, sizeof(float));
	c->audio = mem_calloc(4 * c->dims.audio_samples, sizeof(float));
	t.learner = c->learner = learner_new(&c->config, ops, o->recompute);
	learner_init(c->learner, 7);
	learner_prepare(c->learner, &o->optimizer);
	c->rc = train_run(&t, &c->state, &end, &c->err);
}

static void course_end(struct course *c)
{
	learner_free(c->learner);
	for (size_t k = 0; k < LEARNER_SETS; k++)
		tensors_done(&c->sets[k]);
	free(c->image);
	free(c->audio);
}

static bool same_sets(const struct course *a, const struct course *b)
{
	for (size_t k = 0; k < LEARNER_SETS; k++) {
		if (a->sets[k].n != b->sets[k].n)
			return false;
		if (a->sets[k].n > 0 && memcmp(a->sets[k].data, b->sets[k].data,
		                               a->sets[k].n_values * sizeof(float)) != 0)
			return false;
	}
	return true;
}

/* A run on a device with a memory of its own has the bits of one on the CPU. */
static void check_course(enum optimizer_kind kind, const struct reducer *reducer)
{
	struct train_options o = options_of(kind);
	struct course near, far;
	struct guard g;
	struct ops cpu;

	guard_open(&g);
	CHECK(ops_open(&(struct ops_options){.n_threads = 1}, &cpu));
	course_run(&near, &cpu, &o, reducer);
	course_run(&far, &g.ops, &o, reducer);
	CHECK_OK(near.rc, &near.err);
	CHECK_OK(far.rc, &far.err);
	CHECK(near.steps == 4 && far.steps == 4 && g.transfers > 0);
	CHECK(memcmp(near.loss, far.loss, sizeof(near.loss)) == 0);
	CHECK(memcmp(near.norm, far.norm, sizeof(near.norm)) == 0);
	CHECK(near.sets[LEARNER_AVERAGE].n > 0 && same_sets(&near, &far));
	course_end(&near);
	course_end(&far);
	ops_done(&cpu);
	ops_done(&g.ops);
}

static void trains_alike(void)
{
	check_course(OPTIMIZER_ADAMW, NULL);
	check_course(OPTIMIZER_SGD, NULL);
}

static void sums_alike(void)
{
	struct reducer after = {0, 2, twice_f32, twice_f64, NULL, NULL, NULL, false};

	check_course(OPTIMIZER_ADAMW, &after);
}

/* ---- use ---- */

struct answer {
	struct losses losses;
	float *image, *audio, *label, *more;
};

enum { POINTS = 6 };

static void ask(struct ops *ops, struct answer *ret)
{
	static int32_t points[2 * POINTS] = {5, 0, 3, 2, 1, 4, 9, 8, 7, 6, 11, 10};
	struct course c = {.config = model_config_tiny()};
	struct loss_weights weights = {0.03, 1, 1e-4};
	struct batch b = {.n = 2,
	                  .out_image = points,
	                  .n_out_image = POINTS,
	                  .out_audio = points,
	                  .n_out_audio = POINTS,
	                  .decode_label = true};
	size_t image = 2 * POINTS * 3, audio = 2 * POINTS * c.config.samples_per_patch;
	struct clips clips;
	struct logits logits;
	struct err err = {0};
	uint64_t wait = 0;

	c.dims = model_dims(&c.config);
	c.image = mem_calloc(4 * 3 * c.dims.n_pixels, sizeof(float));
	c.audio = mem_calloc(4 * c.dims.audio_samples, sizeof(float));
	c.learner = learner_new(&c.config, ops, (struct recompute){0});
	learner_init(c.learner, 7);
	CHECK_OK(give(&c, 0, 2, &clips, &wait, &err), &err);
	b.image = clips.image;
	b.audio = clips.audio;
	b.label = clips.label;
	CHECK_OK(learner_measure(c.learner, &b, &weights, &ret->losses, &err), &err);
	CHECK_OK(learner_forward(c.learner, &b, &logits, &err), &err);
	ret->image = mem_calloc(image, sizeof(float));
	ret->audio = mem_calloc(audio, sizeof(float));
	ret->label = mem_calloc(2 * c.config.num_labels, sizeof(float));
	ret->more = mem_calloc(image, sizeof(float));
	memcpy(ret->image, logits.image, image * sizeof(float));
	memcpy(ret->audio, logits.audio, audio * sizeof(float));
	memcpy(ret->label, logits.label, 2 * c.config.num_labels * sizeof(float));
	b.out_image = points + POINTS;
	b.n_out_audio = 0;
	b.decode_label = false;
	CHECK_OK(learner_decode(c.learner, &b, &logits, &err), &err);
	CHECK(logits.label == NULL);
	memcpy(ret->more, logits.image, image * sizeof(float));
	course_end(&c);
}

static void answers_alike(void)
{
	struct model_config config = model_config_tiny();
	size_t image = 2 * POINTS * 3, audio = 2 * POINTS * config.samples_per_patch;
	struct answer a, b;
	struct guard g;
	struct ops cpu;

	guard_open(&g);
	CHECK(ops_open(&(struct ops_options){.n_threads = 1}, &cpu));
	ask(&cpu, &a);
	ask(&g.ops, &b);
	CHECK(a.losses.total == b.losses.total && a.losses.label_hits5 == b.losses.label_hits5);
	CHECK(memcmp(a.image, b.image, image * sizeof(float)) == 0);
	CHECK(memcmp(a.audio, b.audio, audio * sizeof(float)) == 0);
	CHECK(memcmp(a.label, b.label, 2 * config.num_labels * sizeof(float)) == 0);
	CHECK(memcmp(a.more, b.more, image * sizeof(float)) == 0);
	CHECK(memcmp(a.more, a.image, image * sizeof(float)) != 0);
	for (struct answer *x = &a; x != NULL; x = x == &a ? &b : NULL) {
		free(x->image);
		free(x->audio);
		free(x->label);
		free(x->more);
	}
	ops_done(&cpu);
	ops_done(&g.ops);
}

/* The published numbers, by way of every set of tensors, activation and output that is fetched. */
static void goldens_hold(void)
{
	static const char *const dirs[] = {"tests/golden/perceiver/published",
	                                   "tests/golden/perceiver/cross-heads"};

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		struct golden_report report;
		struct err err = {0};
		struct golden g;
		struct guard guard;

		guard_open(&guard);
		CHECK_OK(golden_open(dirs[i], &g, &err), &err);
		CHECK_OK(golden_hold(&g, &guard.ops, NULL, &report, &err), &err);
		CHECK(!report.failed && report.n > 0);
		golden_done(&g);
		ops_done(&guard.ops);
	}
}

/* ---- faults ---- */

/* Whatever the operation that fails, the run ends with its error, and what it took is given back.
 */
static void faults_end_a_run(void)
{
	struct train_options o = options_of(OPTIMIZER_ADAMW);
	unsigned at = 1, ended = 0;

	o.max_steps = 2;
	for (bool whole = false; !whole && at < 100000; at += at < 60 ? 1 : at / 8) {
		struct course c;
		struct guard g;

		guard_open(&g);
		g.fails_in = at;
		course_run(&c, &g.ops, &o, NULL);
		whole = c.rc == 0;
		ended += !whole;
		if (!whole) {
			CHECK_INT(c.err.code, ERR_MACHINE);
			CHECK(strstr(c.err.msg, "fell off the bus") != NULL);
		}
		course_end(&c);
		ops_done(&g.ops);
	}
	CHECK(ended > 60);
}

static void the_first_error_stays(void)
{
	struct err first = {0}, second = {0}, got = {0};
	struct ops cpu;
	double figure = 0;

	CHECK(ops_open(&(struct ops_options){.n_threads = 1}, &cpu));
	*ops_figures(&cpu) = 3;
	ops_read_figures(&cpu, &figure, 1);
	CHECK(figure == 3);
	CHECK_OK(ops_sync(&cpu, &got), &got);
	err_set(&first, ERR_MEMORY, "no memory for weights");
	err_set(&second, ERR_MACHINE, "lost");
	ops_fail(&cpu, &first);
	ops_fail(&cpu, &second);
	CHECK(ops_failed(&cpu) && ops_sync(&cpu, &got) != 0);
	CHECK_INT(got.code, ERR_MEMORY);
	ops_read_figures(&cpu, &figure, 1);
	CHECK(isnan(figure));
	struct buffer none = buffer_new(&cpu, 64, "anything");
	CHECK(none.at == NULL && none.bytes == 0);
	ops_done(&cpu);
}

/* ---- the choice of a device ---- */

static void check_refused(const char *choice, enum err_code code, const char *says)
{
	struct ops ops;
	char name[DEVICE_NAME_MAX];
	struct err err = {0};

	CHECK(device_open(&(struct device_choice){choice, 0}, &(struct ops_options){.n_threads = 1},
	                  &ops, name, &err) != 0);
	CHECK_INT(err.code, code);
	CHECK(strstr(err.msg, says) != NULL);
	CHECK(err.hint[0] != '\0');
}

static void devices_are_chosen(void)
{
	static const char *const here[] = {"auto", "cpu", "cpu:0"};
	char name[DEVICE_NAME_MAX];
	struct err err = {0};
	struct ops ops;

	for (size_t i = 0; i < ARRAY_LEN(here); i++) {
		CHECK_OK(device_open(&(struct device_choice){here[i], 2},
		                     &(struct ops_options){.n_threads = 1}, &ops, name, &err),
		         &err);
		CHECK_STR(name, "cpu:0");
		ops_done(&ops);
	}
	device_auto(name);
	CHECK_STR(name, "cpu:0");
	check_refused("cpu:1", ERR_NOT_FOUND, "there is 1 processor here");
	check_refused("cuda", ERR_NOT_FOUND, "there is no driver for NVIDIA's GPUs");
	check_refused("cuda:3", ERR_NOT_FOUND, "there is no driver for NVIDIA's GPUs");
	check_refused("cuda:-1", ERR_USAGE, "expected auto, cpu, cuda, cuda:N, neuron or neuron:N");
	check_refused("cuda:", ERR_USAGE, "cuda:");
	check_refused("cuda:x", ERR_USAGE, "cuda:x");
	check_refused("cuda:99999", ERR_USAGE, "cuda:99999");
	check_refused("gpu", ERR_USAGE, "'gpu'");
	check_refused("", ERR_USAGE, "''");
}

int main(void)
{
	TEST("device: a run in a memory that the host cannot touch has the CPU's bits",
	     trains_alike);
	TEST("device: so has one whose gradients are summed over ranks", sums_alike);
	TEST("device: so have losses and outputs", answers_alike);
	TEST("device: goldens hold there", goldens_hold);
	TEST("device: whatever fails ends the run with its error, and nothing is lost",
	     faults_end_a_run);
	TEST("device: the first error stays", the_first_error_stays);
	TEST("device: --device names one that is here, or says why not", devices_are_chosen);
	return test_done();
}
