/*
 * 200 random configurations through the whole backend, the driver's and cuBLASLt's libraries by
 * dlopen included (their stand-ins, tests/cuda), beside the CPU's reference: losses, every gradient
 * and what an optimizer makes of them. A fixed tenth of the series, or all of it where
 * SLIPWAY_TEST_LONG is set; SLIPWAY_TEST_ONLY="N N" runs numbers alone. No GPU was ever asked.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "tests/cuda/standin.h"
#include "tests/harness.h"
#include "tests/unit/random_model.h"
#include "trainer/cmd/golden.h"
#include "trainer/cmd/golden_draw.h"
#include "trainer/device/devices.h"
#include "trainer/model/cost.h"
#include "trainer/ops/precision.h"
#include "trainer/train/learner.h"

enum { CONFIGS = 200, SERIES = 1604, STEPS_MAX = 2, MICRO_MAX = 3, DRAWS = GOLDEN_DRAWS };
enum { MEMORY = 512 << 20, CLIPS_MAX = 5, SEEDS_APART = 1000003 };
/* What an emulated GPU does in about a second. */
#define FLOP_MAX 6e6

static struct standin_calls {
	void (*reset)(size_t fail_at, int result, int major, int minor, size_t memory);
	void (*order)(size_t seed);
	struct standin_state (*state)(void);
} standin;

static void load_standins(void)
{
	void *library = dlopen(CUDA_STANDIN, RTLD_NOW);

	if (library == NULL || dlopen(CUBLASLT_STANDIN, RTLD_NOW) == NULL)
		abort();
	*(void **)&standin.reset = dlsym(library, "standin_reset");
	*(void **)&standin.order = dlsym(library, "standin_order");
	*(void **)&standin.state = dlsym(library, "standin_state");
}

/* ---- one of the series ---- */

struct drawn {
	size_t number;
	struct model_config config;
	struct clip_memory clips;
	int major, minor; /* compute capability */
	struct ops_options options;
	struct recompute recompute;
	struct optimizer_options optimizer;
	size_t micro, steps;
	double lr, max_norm, scale; /* scale: of the loss, as f16 has it */
};

static const int computes[][2] = {{7, 5}, {8, 0}, {8, 6}, {8, 9}, {9, 0}};

/* A norm of two channels is nearly a step, whose place decides on its slope: operands of less than
 * float32 show nothing there but how they were rounded. */
static bool is_step(const struct drawn *d)
{
	return d->options.precision != PRECISION_F32 && d->config.d_latents == 2;
}

/* Of what is slow to emulate there is less: a network that costs too much is drawn again. */
static void draw_network(struct philox *r, struct drawn *d)
{
	size_t clips = pick(r, 1, CLIPS_MAX);
	struct err err = {0};

	for (;;) {
		d->config = random_config(r);
		CHECK_OK(model_config_check(&d->config, &err), &err);
		d->clips = random_clips_of(r, &d->config, clips);
		if (!is_step(d) &&
		    model_cost(&d->config, &d->clips.b).plain * (double)(d->micro * d->steps) <=
		            FLOP_MAX)
			return;
		free_clips(&d->clips);
	}
}

static struct recompute draw_recompute(struct philox *r)
{
	size_t kind = pick(r, 0, 3);

	return (struct recompute){kind > 0, kind == 2 ? 1 : kind == 3 ? pick(r, 2, 4) : 0};
}

/* AdamW with an epsilon that keeps the sign of a gradient near 0 from being all that counts. */
static struct optimizer_options draw_optimizer(struct philox *r)
{
	struct optimizer_options o = train_options_default().optimizer;

	o.kind = pick(r, 0, 1) == 0 ? OPTIMIZER_SGD : OPTIMIZER_ADAMW;
	o.eps = 1e-2;
	o.momentum = 0.9;
	o.ema_decay = pick(r, 0, 1) == 0 ? 0.9 : 0;
	return o;
}

/* What devices before 8.0 are asked for instead of what they do not have. */
static const enum op_precision before_8[PRECISIONS] = {[PRECISION_F32] = PRECISION_F32,
                                                       [PRECISION_BF16] = PRECISION_F16,
                                                       [PRECISION_F16] = PRECISION_F16,
                                                       [PRECISION_TF32] = PRECISION_F32};

static struct drawn draw(size_t number)
{
	struct philox r = philox_start(SERIES, STREAM_SYNTHETIC, number);
	struct drawn d = {.number = number, .micro = pick(&r, 1, MICRO_MAX)};
	const int *compute = computes[pick(&r, 0, ARRAY_LEN(computes) - 1)];

	d.steps = pick(&r, 1, STEPS_MAX);
	d.major = compute[0];
	d.minor = compute[1];
	d.options.n_threads = 1;
	d.options.precision = (enum op_precision)pick(&r, 0, PRECISIONS - 1);
	if (d.major < 8)
		d.options.precision = before_8[d.options.precision];
	d.options.gemm = (enum op_gemm)pick(&r, 0, OP_GEMMS - 1);
	d.options.unrecorded = pick(&r, 0, 3) == 0;
	d.scale = d.options.precision == PRECISION_F16 ? 1024 : 1;
	d.recompute = draw_recompute(&r);
	d.optimizer = draw_optimizer(&r);
	d.lr = 1e-2;
	d.max_norm = pick(&r, 0, 1) == 0 ? 0.7 : 0;
	draw_network(&r, &d);
	return d;
}

static const char *const gemms[OP_GEMMS] = {
	[OP_GEMM_AUTO] = "auto", [OP_GEMM_OWN] = "own", [OP_GEMM_CUBLASLT] = "cublaslt"};

static void describe(const struct drawn *d, const char *result)
{
	const struct model_config *c = &d->config;
	char recompute[RECOMPUTE_TEXT_MAX];

	printf("# configuration %zu: %s: %s on %d.%d, products %s, %zu clips, %zu x %zu steps, %s, "
	       "checkpointing %s, %zu latents of %zu, heads %zu and %zu, dropout %g\n",
	       d->number, result, precision_name(d->options.precision), d->major, d->minor,
	       gemms[d->options.gemm], d->clips.b.n, d->steps, d->micro,
	       d->optimizer.kind == OPTIMIZER_SGD ? "sgd" : "adamw",
	       recompute_text(d->recompute, recompute), c->num_latents, c->d_latents,
	       c->num_cross_attention_heads, c->num_self_attention_heads,
	       c->attention_probs_dropout_prob);
}

/* ---- a run of it ---- */

enum { SETS_AT_END = 4 };
static const enum learner_set at_end[SETS_AT_END] = {LEARNER_WEIGHTS, LEARNER_MOMENT1,
                                                     LEARNER_MOMENT2, LEARNER_AVERAGE};

struct outcome {
	float losses[STEPS_MAX * MICRO_MAX], norms[STEPS_MAX];
	struct tensors gradients[STEPS_MAX], end[SETS_AT_END];
};

static void outcome_done(struct outcome *o)
{
	for (size_t i = 0; i < STEPS_MAX; i++)
		tensors_done(&o->gradients[i]);
	for (size_t i = 0; i < SETS_AT_END; i++)
		tensors_done(&o->end[i]);
}

/* A neighbour of x in float32, or x itself; another for every draw, and for draw 0 x. */
static float neighbour(float x, struct philox *r, uint32_t draw)
{
	size_t way = draw == 0 ? 1 : pick(r, 0, 2);

	return way == 1 ? x : nextafterf(x, way == 0 ? -INFINITY : INFINITY);
}

/* Parameters large enough that every path of the gradient is felt. */
static int set_weights(struct learner *l, uint32_t draw, struct err *err)
{
	struct philox near = philox_start(draw, STREAM_INIT, 999);
	struct tensors w = {0};
	int rc;

	learner_init(l, 5);
	tensors_like(learner_table(l), NULL, NULL, &w);
	rc = learner_get(l, LEARNER_WEIGHTS, &w, err);
	for (size_t i = 0; i < w.n; i++) {
		struct philox r = philox_start(5, STREAM_INIT, 1000 + i);

		for (size_t k = 0; k < w.at[i].n; k++)
			w.at[i].data[k] =
				neighbour(w.at[i].data[k] * 4 + (float)(0.05 * philox_normal(&r)),
			                  &near, draw);
	}
	if (rc == 0)
		rc = learner_set(l, LEARNER_WEIGHTS, &w, err);
	tensors_done(&w);
	return rc;
}

/* Tensors' names, which a learner takes with it; of the configuration that is compared. */
enum { TENSORS_MAX = 512, NAME_MAX_HERE = 160 };
static char names[TENSORS_MAX][NAME_MAX_HERE];

static void keep_names(struct tensors *t)
{
	CHECK(t->n <= TENSORS_MAX);
	for (size_t i = 0; i < t->n && i < TENSORS_MAX; i++) {
		snprintf(names[i], sizeof(names[i]), "%s", t->at[i].name);
		t->at[i].name = names[i];
	}
}

static int get_set(struct learner *l, enum learner_set which, double scale, struct tensors *ret,
                   struct err *err)
{
	tensors_like(learner_table(l), NULL, NULL, ret);
	keep_names(ret);
	if (!learner_has(l, which))
		return 0; /* zeros, on every device */
	if (learner_get(l, which, ret, err) != 0)
		return -1;
	for (size_t i = 0; i < ret->n_values; i++)
		ret->data[i] = (float)(ret->data[i] * scale);
	return 0;
}

/* Other labels and other dropout in every micro-step. */
static struct batch batch_of(const struct drawn *d, size_t k)
{
	struct batch b = d->clips.b;

	for (size_t i = 0; i < b.n; i++)
		d->clips.ints[i] = (int32_t)((i * 3 + k) % d->config.num_labels);
	b.dropout_seed = 77 + k;
	return b;
}

static int run_step(const struct drawn *d, struct learner *l, size_t step, struct outcome *ret,
                    struct err *err)
{
	static const struct loss_weights weights = {0.5, 1, 0.3};
	struct learner_update u = {.lr = d->lr,
	                           .unscale = 1 / d->scale,
	                           .max_norm = d->max_norm,
	                           .limit = (double)INFINITY};
	struct learner_verdict verdict;

	learner_begin(l);
	for (size_t k = 0; k < d->micro; k++) {
		size_t n = step * d->micro + k;
		struct batch b = batch_of(d, n);
		struct losses losses;

		learner_stage(l, &b);
		if (k + 1 == d->micro)
			learner_plan(l, &u);
		learner_start(l, &weights, d->scale / (double)d->micro);
		if (learner_finish(l, &weights, &losses, err) != 0)
			return -1;
		ret->losses[n] = (float)losses.total;
	}
	if (learner_conclude(l, &u, &verdict, err) != 0)
		return -1;
	CHECK(verdict.updated);
	ret->norms[step] = (float)verdict.norm;
	return get_set(l, LEARNER_GRADIENTS, 1 / d->scale, &ret->gradients[step], err);
}

/* With neighbours of the weights, unless the draw is 0. */
static int run(const struct drawn *d, struct ops *ops, uint32_t draw, struct outcome *ret,
               struct err *err)
{
	struct learner *l = learner_new(&d->config, ops, d->recompute);
	int rc;

	*ret = (struct outcome){0};
	learner_prepare(l, &d->optimizer);
	rc = set_weights(l, draw, err);
	for (size_t i = 0; rc == 0 && i < d->steps; i++)
		rc = run_step(d, l, i, ret, err);
	for (size_t i = 0; rc == 0 && i < SETS_AT_END; i++)
		rc = get_set(l, at_end[i], 1, &ret->end[i], err);
	learner_free(l);
	return rc;
}

/* Other orders of blocks, warps and lanes by another seed. */
static bool run_on_gpu(const struct drawn *d, size_t seed, struct outcome *ret)
{
	char name[DEVICE_NAME_MAX];
	struct standin_state s;
	struct err err = {0};
	struct ops ops;
	int rc;

	standin.reset(0, 0, d->major, d->minor, MEMORY);
	standin.order(seed);
	rc = device_open(&(struct device_choice){"cuda", 0}, &d->options, &ops, name, &err);
	if (rc == 0) {
		rc = run(d, &ops, 0, ret, &err);
		ops_done(&ops);
	}
	s = standin.state();
	if (rc != 0 || s.problem != NULL || s.held != 0)
		printf("# %s; held %zu, %s\n", rc != 0 ? err.msg : "no error", s.held,
		       s.problem != NULL ? s.problem : "no problem");
	return rc == 0 && s.problem == NULL && s.held == 0;
}

static void run_reference(const struct drawn *d, struct outcome *ret)
{
	struct err err = {0};
	struct ops ops;

	CHECK(ops_open(&(struct ops_options){.reference = true}, &ops));
	CHECK_OK(run(d, &ops, 0, ret, &err), &err);
	ops_done(&ops);
}

/* ---- how far apart two runs are ---- */

/* One array that is compared. */
struct part {
	const char *of, *name;
	const float *got, *want;
	size_t n;
};

/* Calls each for all that two outcomes have; false when one of the calls was. */
static bool each_part(const struct drawn *d, const struct outcome *got, const struct outcome *want,
                      bool (*each)(void *ctx, size_t i, const struct part *p), void *ctx)
{
	static const char *const ends[SETS_AT_END] = {"weight", "moment 1", "moment 2", "average"};
	bool ok = each(ctx, 0,
	               &(struct part){"losses", "of all micro-steps", got->losses, want->losses,
	                              d->steps * d->micro}) &&
	          each(ctx, 1,
	               &(struct part){"norms", "of all steps", got->norms, want->norms, d->steps});
	size_t n = 2;

	for (size_t s = 0; s < d->steps + SETS_AT_END; s++) {
		bool step = s < d->steps;
		const struct tensors *a = step ? &got->gradients[s] : &got->end[s - d->steps];
		const struct tensors *b = step ? &want->gradients[s] : &want->end[s - d->steps];

		for (size_t i = 0; i < a->n && ok; i++, n++)
			ok = each(ctx, n,
			          &(struct part){step ? "gradient" : ends[s - d->steps],
			                         a->at[i].name, a->at[i].data, b->at[i].data,
			                         a->at[i].n});
	}
	return ok;
}

static double rms_of(const float *x, size_t n)
{
	double squares = 0;

	for (size_t i = 0; i < n; i++)
		squares += (double)x[i] * x[i];
	return sqrt(squares / (double)n);
}

static double largest_of(const float *x, size_t n)
{
	double largest = 0;

	for (size_t i = 0; i < n; i++)
		largest = fmax(largest, fabs((double)x[i]));
	return largest;
}

static struct golden_error error_of(const struct part *p)
{
	struct golden_error e = {{0}};
	double squares = 0, common = 0, size = 0;

	for (size_t i = 0; i < p->n; i++) {
		double difference = (double)p->got[i] - p->want[i];

		squares += difference * difference;
		common += difference * p->want[i];
		size += (double)p->want[i] * p->want[i];
		e.of[GOLDEN_LARGEST] = fmax(e.of[GOLDEN_LARGEST], fabs(difference));
		if (!(fabs(difference) < (double)INFINITY))
			e.of[GOLDEN_LARGEST] = (double)INFINITY;
	}
	e.of[GOLDEN_RMS] = sqrt(squares / (double)p->n);
	e.of[GOLDEN_FACTOR] = size > 0 ? fabs(common / size) : 0;
	return e;
}

static bool raise_drawn(void *ctx, size_t i, const struct part *p)
{
	struct golden_error e = error_of(p);

	golden_drawn_raise(ctx, i, &e);
	return true;
}

/* What runs are off by that err as the precision does, and what they may be off by besides: what
 * roundings to float32 in another order come to, as a share of the largest value. */
struct allowed {
	struct golden_drawn drawn;
	double share;
};

/* As `selftest` has it (trainer/README.md, "Accuracy"): one more draw, so off by three times the
 * largest of them, beside what float32 is off by. */
static bool near_as_drawn(void *ctx, size_t i, const struct part *p)
{
	static const char *const measures[] = {"root mean square", "largest", "common factor"};
	const struct allowed *allowed = ctx;
	const struct golden_error *drawn = &allowed->drawn.at[i];
	double size = rms_of(p->want, p->n),
	       f32 = 2e-6 + allowed->share * largest_of(p->want, p->n);
	double own[GOLDEN_MEASURES] = {f32, f32, size > 0 ? f32 / size : 0};
	struct golden_error e = error_of(p);

	for (size_t k = 0; k < GOLDEN_MEASURES; k++) {
		double limit = own[k] + GOLDEN_MULTIPLE * drawn->of[k];

		if (e.of[k] <= limit)
			continue;
		printf("# %s %s: %s %g, at most %g\n", p->of, p->name, measures[k], e.of[k], limit);
		return false;
	}
	return true;
}

static void run_drawn(const struct drawn *d, struct ops *ops, uint32_t neighbours,
                      const struct outcome *want, struct golden_drawn *ret)
{
	struct outcome one;
	struct err err = {0};

	CHECK_OK(run(d, ops, neighbours, &one, &err), &err);
	(void)each_part(d, &one, want, raise_drawn, ret);
	outcome_done(&one);
}

static void draw_errors(const struct drawn *d, const struct outcome *want, struct golden_drawn *ret)
{
	struct drawn_ops ops;

	drawn_ops_open(d->options.precision, &ops);
	for (ops.seed = 1; ops.seed <= DRAWS; ops.seed++)
		run_drawn(d, &ops.ops, 0, want, ret);
	ops_done(&ops.ops);
}

/* A layer norm of two channels makes much of a rounding: what a network in float32 may be off by is
 * what the CPU's kernels, which round as well, are off by for neighbours of the weights. */
static void draw_neighbours(const struct drawn *d, const struct outcome *want,
                            struct golden_drawn *ret)
{
	struct ops ops;

	CHECK(ops_open(&(struct ops_options){.n_threads = 1}, &ops));
	for (uint32_t seed = 1; seed <= DRAWS; seed++)
		run_drawn(d, &ops, seed, want, ret);
	ops_done(&ops);
}

static bool is_near(const struct drawn *d, const struct outcome *got, const struct outcome *want)
{
	bool f32 = d->options.precision == PRECISION_F32, near;
	struct allowed allowed = {.share = f32 ? 5e-5 : 2e-4};

	draw_neighbours(d, want, &allowed.drawn);
	if (!f32)
		draw_errors(d, want, &allowed.drawn);
	near = each_part(d, got, want, near_as_drawn, &allowed);
	golden_drawn_done(&allowed.drawn);
	return near;
}

static bool same_part(void *ctx, size_t i, const struct part *p)
{
	(void)ctx;
	(void)i;
	if (memcmp(p->got, p->want, p->n * sizeof(float)) == 0)
		return true;
	printf("# %s %s: other bits in another order of threads\n", p->of, p->name);
	return false;
}

/* Products that are chosen by measuring depend on what was measured; one in four is enough. */
static bool is_same_again(const struct drawn *d, const struct outcome *first)
{
	struct outcome again = {0};
	bool ok;

	if (d->number / 10 % 4 != 0)
		return true;
	ok = run_on_gpu(d, SEEDS_APART, &again) && each_part(d, &again, first, same_part, NULL);
	outcome_done(&again);
	return ok;
}

/* ---- the series ---- */

/* How often each choice was drawn: a series that lacks one shows nothing of it. */
struct seen {
	size_t precision[PRECISIONS], gemm[OP_GEMMS], optimizer[2], clips[CLIPS_MAX + 1];
	size_t steps[STEPS_MAX + 1], micro[MICRO_MAX + 1], plain[2], dropout[2], selective[2];
	size_t layers[2], recorded[2], old[2];
};

static void count(struct seen *s, const struct drawn *d)
{
	s->precision[d->options.precision]++;
	s->gemm[d->options.gemm]++;
	s->optimizer[d->optimizer.kind == OPTIMIZER_ADAMW]++;
	s->clips[d->clips.b.n]++;
	s->steps[d->steps]++;
	s->micro[d->micro]++;
	s->plain[d->config.num_cross_attention_heads > 1]++;
	s->dropout[d->config.attention_probs_dropout_prob > 0]++;
	s->selective[d->recompute.selective]++;
	s->layers[d->recompute.every > 0]++;
	s->recorded[!d->options.unrecorded]++;
	s->old[d->major < 8]++;
}

/* From `first` on: there is no batch of 0 clips. */
static bool all(const size_t *counts, size_t first, size_t n)
{
	for (size_t i = first; i < n; i++)
		if (counts[i] == 0)
			return false;
	return true;
}

static bool saw_all(const struct seen *s)
{
	return all(s->precision, 0, PRECISIONS) && all(s->gemm, 0, OP_GEMMS) &&
	       all(s->optimizer, 0, 2) && all(s->clips, 1, CLIPS_MAX + 1) &&
	       all(s->steps, 1, STEPS_MAX + 1) && all(s->micro, 1, MICRO_MAX + 1) &&
	       all(s->plain, 0, 2) && all(s->dropout, 0, 2) && all(s->selective, 0, 2) &&
	       all(s->layers, 0, 2) && all(s->recorded, 0, 2) && all(s->old, 0, 2);
}

static void check_one(size_t number, struct seen *seen)
{
	struct drawn d = draw(number);
	struct outcome got = {0}, want;
	bool ok;

	count(seen, &d);
	run_reference(&d, &want);
	ok = run_on_gpu(&d, number, &got) && is_near(&d, &got, &want) && is_same_again(&d, &got);
	describe(&d, ok ? "ok" : "FAILS");
	if (!ok) {
		printf("# again: SLIPWAY_TEST_ONLY=%zu build/unit/test_trainer_cuda_random\n",
		       number);
		test_fail(__FILE__, __LINE__, "a configuration of the series");
	}
	outcome_done(&got);
	outcome_done(&want);
	free_clips(&d.clips);
}

/* Numbers from 0, with spaces between them. */
static void check_only(const char *numbers)
{
	struct seen seen = {.precision = {0}};
	char *end;

	for (;; numbers = end) {
		unsigned long number = strtoul(numbers, &end, 10);

		if (end == numbers)
			return;
		check_one(number, &seen);
	}
}

static void random_networks_are_the_cpus(void)
{
	const char *only = getenv("SLIPWAY_TEST_ONLY");
	size_t every = getenv("SLIPWAY_TEST_LONG") != NULL ? 1 : 10;
	struct seen seen = {.precision = {0}};

	printf("# series %d\n", SERIES);
	if (only != NULL) {
		check_only(only);
		return;
	}
	for (size_t i = 0; i < CONFIGS; i += every)
		check_one(i, &seen);
	CHECK(saw_all(&seen));
}

int main(void)
{
	char cache[4096];
	struct err err = {0};

	test_tmpdir(cache);
	setenv("CUDA_CACHE_PATH", cache, 1);
	load_standins();
	TEST("random: networks of all kinds train on a GPU as on the CPU",
	     random_networks_are_the_cpus);
	CHECK_OK(fs_remove_tree(cache, &err), &err);
	return test_done();
}
