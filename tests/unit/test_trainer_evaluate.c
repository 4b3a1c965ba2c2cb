/* Evaluations: the figures, who is the best, averaged weights, ranks that share the clips out, and
 * the loop that evaluates. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/harness.h"
#include "trainer/config/model_file.h"
#include "trainer/model/metrics.h"
#include "trainer/ops/ops.h"
#include "trainer/ops/philox.h"
#include "trainer/session/evaluate.h"
#include "trainer/train/average.h"
#include "trainer/train/best.h"
#include "trainer/train/last_good.h"
#include "trainer/train/loop.h"

static void figures(void)
{
	struct losses a = {.total = 3,
	                   .image = 0.5,
	                   .mse_image = 0.04,
	                   .mse_audio = 0.01,
	                   .power_audio = 1,
	                   .label_hits = 1,
	                   .label_hits5 = 2};
	struct losses b = {.total = 6, .image = 0.2, .mse_image = 0.01, .mse_audio = 0.01};
	struct metric_sums sums = {0}, exact = {0}, other = {0};
	double v[METRICS];
	enum metric m;

	metric_sums_add(&sums, &a, 2);
	metric_sums_add(&other, &b, 1);
	metric_sums_merge(&sums, &other);
	metrics_of(&sums, v);
	CHECK(fabs(v[METRIC_LOSS] - 4) < 1e-12 && fabs(v[METRIC_IMAGE] - 0.4) < 1e-12);
	/* of the mean error, not the mean of the clips' */
	CHECK(fabs(v[METRIC_PSNR] - -10 * log10(0.03)) < 1e-9);
	CHECK(fabs(v[METRIC_PSNR_AUDIO] - 20) < 1e-9);
	CHECK(fabs(v[METRIC_SNR] - 10 * log10(2 / 0.03)) < 1e-9);
	CHECK(fabs(v[METRIC_TOP1] - 1.0 / 3) < 1e-12 && fabs(v[METRIC_TOP5] - 2.0 / 3) < 1e-12);
	b.mse_audio = b.mse_image = 0;
	metric_sums_add(&exact, &b, 1);
	metrics_of(&exact, v);
	CHECK(isinf(v[METRIC_PSNR]) && v[METRIC_PSNR] > 0 && isinf(v[METRIC_SNR]));
	CHECK(metric_find("psnr_audio", &m) && m == METRIC_PSNR_AUDIO);
	CHECK(!metric_find("accuracy", &m) && !metric_find("", &m));
	for (int i = 0; i < METRICS; i++)
		CHECK(metric_find(metric_row((enum metric)i)->name, &m) && (int)m == i);
}

static void judges(void)
{
	struct best_options loss = {.metric = METRIC_LOSS, .min_delta = 0.1, .patience = 3};
	struct best_options top1 = {.metric = METRIC_TOP1, .patience = 1};
	struct best b = {0};

	CHECK(!best_judge(&b, &loss, 5, NAN) && b.stale == 1 && b.step == 0);
	CHECK(best_judge(&b, &loss, 10, 1.0) && b.stale == 0);
	/* Better, but not by 0.1: the best it is, an improvement it is not, until they add up. */
	CHECK(best_judge(&b, &loss, 20, 0.95) && b.step == 20 && b.stale == 1);
	CHECK(best_judge(&b, &loss, 30, 0.91) && b.stale == 2 && !best_is_stale(&b, &loss));
	CHECK(best_judge(&b, &loss, 40, 0.875) && b.step == 40 && b.stale == 0);
	CHECK(!best_judge(&b, &loss, 50, 0.875) && b.step == 40);
	CHECK(!best_judge(&b, &loss, 60, NAN) && !best_judge(&b, &loss, 70, INFINITY));
	CHECK(best_is_stale(&b, &loss) && b.evaluated == 70 && b.value == 0.875);
	/* Of another metric nothing is known. */
	CHECK(!best_is_stale(&b, &top1));
	CHECK(best_judge(&b, &top1, 80, 0) && b.step == 80 && b.metric == METRIC_TOP1);
	CHECK(best_judge(&b, &top1, 90, 0.5) && !best_judge(&b, &top1, 100, 0.25));
	CHECK(best_is_stale(&b, &top1));
	best_forget(&b);
	CHECK(b.step == 0 && b.evaluated == 100 && best_judge(&b, &top1, 110, 0.125));
	top1.patience = 0;
	b.stale = 1000;
	CHECK(!best_is_stale(&b, &top1));
}

static void averages(void)
{
	struct optimizer_options sgd = {.kind = OPTIMIZER_SGD, .ema_decay = 0.9};
	struct tensors p = {0}, q = {0}, g = {0};
	struct optimizer one, three;
	struct ops alone, team;
	struct last_good good = {0};
	double x = 1, mean = 0, norm = 0;
	enum { N = 70001, STEPS = 120 };

	CHECK(average_decay(0.9, 0) == 0 && average_decay(0.9, 1) == 2.0 / 11);
	CHECK(average_decay(0.9, 1000) == 0.9);
	tensors_add(&p, "w", 1, (size_t[]){N});
	CHECK(ops_open(&(struct ops_options){.reference = true}, &alone));
	CHECK(ops_open(&(struct ops_options){.n_threads = 3}, &team));
	tensors_alloc(&p, &alone, "p");
	tensors_like(&p, &team, "q", &q);
	tensors_like(&p, &alone, "g", &g);
	for (size_t i = 0; i < N; i++) {
		p.data[i] = q.data[i] = 1;
		g.data[i] = 0.5f;
	}
	optimizer_init(&one, &sgd, &p, &alone);
	optimizer_init(&three, &sgd, &q, &team);
	for (int t = 0; t < STEPS; t++) {
		double d = t == 0 ? 0 : fmin(0.9, (1.0 + t) / (10.0 + t));

		optimizer_step(&one, &p, &g, 0.01, 1, &alone);
		optimizer_step(&three, &q, &g, 0.01, 1, &team);
		x -= 0.01 * 0.5;
		mean = d * mean + (1 - d) * x;
		if (t == 60)
			last_good_take(&good, &p, &one, 0);
	}
	CHECK(one.averaged == STEPS && fabs(one.average.data[0] - mean) < 1e-5);
	CHECK(fabs(one.average.data[N - 1] - mean) < 1e-5 && fabs(mean - x) > 0.01);
	CHECK(memcmp(one.average.data, three.average.data, N * sizeof(float)) == 0);
	average_exchange(&q, &three.average, &team);
	CHECK(memcmp(q.data, one.average.data, N * sizeof(float)) == 0);
	average_exchange(&q, &three.average, &alone);
	CHECK(memcmp(q.data, p.data, N * sizeof(float)) == 0);
	/* What goes back to the last good weights takes their average along. */
	one.average.data[3] = NAN;
	last_good_restore(&good, &p, &one, &norm);
	CHECK(one.averaged == 61 && isfinite(one.average.data[3]));
	last_good_done(&good);
	optimizer_done(&one);
	optimizer_done(&three);
	tensors_done(&q);
	tensors_done(&g);
	tensors_done(&p);
	ops_done(&alone);
	ops_done(&team);
}

/* ---- a model with clips ------------------------------------------------------------------------
 */

enum { CLIPS = 11, BATCH = 2, RANKS_MAX = 3 };

struct bench {
	struct model_config config;
	struct model_dims dims;
	struct ops ops;
	struct learner *learner;
	float *image, *audio;
	int32_t label[BATCH];
	uint64_t unreadable; /* the clip that cannot be read; 0: none */
	bool stops;
	struct reducer reducer;
	struct metric_sums sums;
	struct err err;
	int rc;
};

static int give(void *ctx, uint64_t first, size_t n, struct clips *ret, uint64_t *wait,
                struct err *err)
{
	struct bench *w = ctx;
	size_t pixels = 3 * w->dims.n_pixels;

	(void)wait;
	for (size_t i = 0; i < n; i++) {
		uint64_t clip = (first + i) % CLIPS;
		struct philox r = philox_start(6, STREAM_SYNTHETIC, clip);

		if (w->unreadable > 0 && clip == w->unreadable)
			return err_set(err, ERR_FORMAT, "clip %d is damaged", (int)clip);
		for (size_t k = 0; k < pixels; k++)
			w->image[i * pixels + k] = (float)philox_uniform(&r);
		for (size_t k = 0; k < w->dims.audio_samples; k++)
			w->audio[i * w->dims.audio_samples + k] = (float)philox_uniform(&r) - 0.5f;
		w->label[i] = (int32_t)philox_below(&r, 10);
	}
	*ret = (struct clips){.image = w->image, .audio = w->audio, .label = w->label};
	return 0;
}

static void bench_start(struct bench *w)
{
	*w = (struct bench){.config = model_config_tiny()};
	w->dims = model_dims(&w->config);
	CHECK(ops_open(&(struct ops_options){.n_threads = 1}, &w->ops));
	w->learner = learner_new(&w->config, &w->ops, (struct recompute){0});
	learner_init(w->learner, 1);
	w->image = mem_calloc(BATCH * 3 * w->dims.n_pixels, sizeof(float));
	w->audio = mem_calloc(BATCH * w->dims.audio_samples, sizeof(float));
}

static void bench_end(struct bench *w)
{
	learner_free(w->learner);
	ops_done(&w->ops);
	free(w->image);
	free(w->audio);
}

/* Counted again from the logits, one by one. */
static void label_places(void)
{
	int32_t points[4] = {0, 1, 2, 3};
	struct loss_weights weights = {0.03, 1, 1e-4};
	struct batch b = {.n = BATCH,
	                  .out_image = points,
	                  .n_out_image = 4,
	                  .out_audio = points,
	                  .n_out_audio = 1,
	                  .decode_label = true};
	struct bench w;
	struct clips clips;
	struct logits logits;
	struct losses l;
	struct err err = {0};
	uint64_t wait = 0;
	size_t hits = 0, hits5 = 0, seen5 = 0, n;
	double power = 0;

	bench_start(&w);
	CHECK_OK(give(&w, 0, BATCH, &clips, &wait, &err), &err);
	b.image = clips.image;
	b.audio = clips.audio;
	b.label = w.label;
	n = w.config.num_labels;
	for (int32_t label = 0; label < (int32_t)n; label++) {
		w.label[0] = label;
		w.label[1] = (int32_t)n - 1 - label;
		CHECK_OK(learner_forward(w.learner, &b, &logits, &err), &err);
		model_loss(learner_model(w.learner), &weights, &l);
		hits = hits5 = 0;
		for (size_t i = 0; i < BATCH; i++) {
			const float *x = logits.label + i * n;
			size_t larger = 0;

			for (size_t k = 0; k < n; k++)
				larger += x[k] > x[w.label[i]];
			hits += larger == 0;
			hits5 += larger < 5;
		}
		seen5 += l.label_hits5;
		CHECK(l.label_hits == hits && l.label_hits5 == hits5);
	}
	CHECK_INT(seen5, 5 * BATCH);
	for (size_t i = 0; i < BATCH; i++)
		for (size_t k = 0; k < w.config.samples_per_patch; k++) {
			double x = (double)w.audio[i * w.dims.audio_samples + k];

			power += x * x / (double)(BATCH * w.config.samples_per_patch);
		}
	CHECK(fabs(l.power_audio - power) < 1e-9);
	bench_end(&w);
}

/* ---- ranks, as threads ---- */

static struct {
	pthread_barrier_t barrier;
	double sum[256];
	pthread_mutex_t lock;
} room = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int sum_f64(void *ctx, double *values, size_t n, struct err *err)
{
	(void)ctx;
	(void)err;
	pthread_barrier_wait(&room.barrier);
	pthread_mutex_lock(&room.lock);
	for (size_t i = 0; i < n; i++)
		room.sum[i] += values[i];
	pthread_mutex_unlock(&room.lock);
	pthread_barrier_wait(&room.barrier);
	memcpy(values, room.sum, n * sizeof(*values));
	if (pthread_barrier_wait(&room.barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
		memset(room.sum, 0, sizeof(room.sum));
	pthread_barrier_wait(&room.barrier);
	return 0;
}

static bool asked_to_stop(void *ctx)
{
	return ((struct bench *)ctx)->stops;
}

static void *evaluate_here(void *arg)
{
	struct bench *w = arg;
	struct clip_source source = {give, w, CLIPS, NULL};
	struct evaluate_options o = {.seed = 3,
	                             .batch_size = BATCH,
	                             .clips = CLIPS,
	                             .image_points = 8,
	                             .audio_points = 4,
	                             .weights = {0.03, 1, 1e-4},
	                             .reducer = &w->reducer,
	                             .stop = asked_to_stop,
	                             .ctx = w};

	w->err = (struct err){0};
	w->rc = evaluate(w->learner, &source, &o, &w->sums, &w->err);
	return NULL;
}

static void evaluate_on(struct bench *w, unsigned n)
{
	pthread_t threads[RANKS_MAX];

	pthread_barrier_init(&room.barrier, NULL, n);
	for (unsigned i = 0; i < n; i++) {
		w[i].reducer = (struct reducer){.rank = i, .n_ranks = n, .sum_f64 = sum_f64};
		CHECK(pthread_create(&threads[i], NULL, evaluate_here, &w[i]) == 0);
	}
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&room.barrier);
}

static void ranks_agree(void)
{
	struct bench w[RANKS_MAX];
	struct metric_sums one;

	for (int i = 0; i < RANKS_MAX; i++)
		bench_start(&w[i]);
	evaluate_on(w, 1);
	CHECK_OK(w[0].rc, &w[0].err);
	one = w[0].sums;
	CHECK(one.clips == CLIPS && one.total > 0 && one.power_audio > 0);
	for (unsigned n = 2; n <= RANKS_MAX; n++) {
		evaluate_on(w, n);
		for (unsigned i = 0; i < n; i++) {
			CHECK_OK(w[i].rc, &w[i].err);
			CHECK(memcmp(&w[i].sums, &one, sizeof(one)) == 0);
		}
	}
	w[1].unreadable = 3;
	evaluate_on(w, 3);
	CHECK(w[0].rc != 0 && w[1].rc != 0 && w[2].rc != 0);
	CHECK_STR(w[1].err.msg, "clip 3 is damaged");
	CHECK_STR(w[2].err.msg, "another rank could not read its clips");
	w[1].unreadable = 0;
	w[2].stops = true;
	evaluate_on(w, 3);
	for (int i = 0; i < RANKS_MAX; i++)
		CHECK(w[i].rc != 0 && w[i].err.code == ERR_INTERRUPTED);
	for (int i = 0; i < RANKS_MAX; i++)
		bench_end(&w[i]);
}

/* ---- the loop ---- */

struct course {
	struct bench bench;
	struct best_options best;
	double value[64]; /* the evaluations' results, by step */
	unsigned evaluations, saves;
	uint64_t evaluated[64], saved[64], stop_in; /* the step that is the last before a stop */
	bool interrupts, fails;                     /* what the next evaluation does */
};

static int on_step(void *ctx, const struct step_stats *s, struct err *err)
{
	(void)ctx;
	(void)s;
	(void)err;
	return 0;
}

static int on_save(void *ctx, struct learner *l, const struct train_state *state, bool last,
                   struct err *err)
{
	struct course *c = ctx;

	(void)l;
	(void)last;
	(void)err;
	c->saved[c->saves++] = state->step;
	return 0;
}

static int on_evaluate(void *ctx, struct train_state *state, struct err *err)
{
	struct course *c = ctx;

	if (c->fails)
		return err_set(err, ERR_FORMAT, "a shard was cut off");
	if (c->interrupts)
		return 0;
	c->evaluated[c->evaluations++] = state->step;
	best_judge(&state->best, &c->best, state->step, c->value[state->step]);
	return 0;
}

static void course_start(struct course *c, const struct train_options *o)
{
	*c = (struct course){.best = o->best};
	bench_start(&c->bench);
	learner_prepare(c->bench.learner, &o->optimizer);
	for (unsigned i = 0; i < ARRAY_LEN(c->value); i++)
		c->value[i] = i <= 6 ? 10 - i : 5;
}

static bool same_average(struct learner *a, struct learner *b)
{
	struct tensors x, y;
	struct err err = {0};
	bool same;

	tensors_like(learner_table(a), NULL, NULL, &x);
	tensors_like(learner_table(b), NULL, NULL, &y);
	CHECK_OK(learner_get(a, LEARNER_AVERAGE, &x, &err), &err);
	CHECK_OK(learner_get(b, LEARNER_AVERAGE, &y, &err), &err);
	same = memcmp(x.data, y.data, x.n_values * sizeof(float)) == 0;
	tensors_done(&x);
	tensors_done(&y);
	return same;
}

static void course_end(struct course *c)
{
	bench_end(&c->bench);
}

static int go(struct course *c, const struct train_options *o, struct train_state *state,
              enum train_end *end, struct err *err)
{
	struct clip_source source = {give, &c->bench, CLIPS, NULL};
	struct train_hooks hooks = {c, on_step, on_save, NULL, NULL, on_evaluate};
	struct train t = {c->bench.learner, o, &source, NULL, &hooks};

	return train_run(&t, state, end, err);
}

static struct train_options course_options(void)
{
	struct train_options o = train_options_default();

	o.batch_size = BATCH;
	o.image_points = 8;
	o.audio_points = 4;
	o.max_steps = 9;
	o.optimizer.ema_decay = 0.5;
	o.eval_every = 2;
	return o;
}

static void evaluates_in_time(void)
{
	static const uint64_t when[] = {2, 4, 6, 8, 9}, kept[] = {2, 4, 5, 6, 9};
	struct train_options o = course_options();
	struct train_state state = {0};
	enum train_end end;
	struct err err = {0};
	struct course c;

	o.checkpoint_steps = 5;
	course_start(&c, &o);
	CHECK_OK(go(&c, &o, &state, &end, &err), &err);
	CHECK(end == TRAIN_COMPLETE && state.step == 9);
	CHECK_INT(c.evaluations, ARRAY_LEN(when));
	CHECK(memcmp(c.evaluated, when, sizeof(when)) == 0);
	CHECK_INT(c.saves, ARRAY_LEN(kept));
	CHECK(memcmp(c.saved, kept, sizeof(kept)) == 0);
	CHECK(state.best.step == 6 && state.best.value == 4 && state.best.stale == 2);
	CHECK_INT(learner_counts(c.bench.learner).averaged, 9);
	course_end(&c);
}

static void stops_early(void)
{
	struct train_options o = course_options();
	struct train_state state = {0};
	enum train_end end;
	struct err err = {0};
	struct course c;

	o.max_steps = 60;
	o.best.patience = 3;
	course_start(&c, &o);
	CHECK_OK(go(&c, &o, &state, &end, &err), &err);
	CHECK(end == TRAIN_EARLY && state.step == 12 && state.best.step == 6);
	CHECK_INT(c.saved[c.saves - 1], 12);
	/* Resumed, it is still at its end; with more patience it goes on. */
	CHECK_OK(go(&c, &o, &state, &end, &err), &err);
	CHECK(end == TRAIN_EARLY && state.step == 12);
	o.best.patience = 4;
	c.best = o.best;
	CHECK_OK(go(&c, &o, &state, &end, &err), &err);
	CHECK(end == TRAIN_EARLY && state.step == 14);
	course_end(&c);
}

/* Interrupted in an evaluation, a run makes it when it goes on, before the next step. */
static void makes_up_for_it(void)
{
	struct train_options o = course_options();
	struct train_state state = {0}, whole = {0};
	enum train_end end;
	struct err err = {0};
	struct course c, unbroken;

	course_start(&c, &o);
	course_start(&unbroken, &o);
	CHECK_OK(go(&unbroken, &o, &whole, &end, &err), &err);
	c.interrupts = true;
	CHECK_OK(go(&c, &o, &state, &end, &err), &err);
	CHECK(end == TRAIN_STOPPED && state.step == 2 && state.best.evaluated == 0);
	CHECK(c.saves == 1 && c.saved[0] == 2);
	c.interrupts = false;
	o.stop_after = 2;
	CHECK_OK(go(&c, &o, &state, &end, &err), &err);
	CHECK(end == TRAIN_STOPPED && state.step == 4 && state.best.evaluated == 4);
	o.stop_after = 0;
	CHECK_OK(go(&c, &o, &state, &end, &err), &err);
	CHECK(end == TRAIN_COMPLETE && c.evaluations == unbroken.evaluations);
	CHECK(memcmp(c.evaluated, unbroken.evaluated, sizeof(c.evaluated)) == 0);
	CHECK(state.best.step == whole.best.step && state.best.stale == whole.best.stale);
	CHECK(same_average(c.bench.learner, unbroken.bench.learner));
	course_end(&unbroken);
	course_end(&c);
}

static void fails_with_a_checkpoint(void)
{
	struct train_options o = course_options();
	struct train_state state = {0};
	enum train_end end;
	struct err err = {0};
	struct course c;

	course_start(&c, &o);
	c.fails = true;
	CHECK(go(&c, &o, &state, &end, &err) != 0);
	CHECK_STR(err.msg, "evaluate after step 2: a shard was cut off");
	CHECK(c.saves == 1 && c.saved[0] == 2);
	course_end(&c);
}

int main(void)
{
	TEST("metrics: means, decibels of means, shares", figures);
	TEST("metrics: a label's place among the logits, the power of the sound", label_places);
	TEST("best: any gain makes the best, min_delta an improvement", judges);
	TEST("average: the formula, the same bits on any threads, back with the weights", averages);
	TEST("evaluate: two and three ranks get one rank's bits, and end together", ranks_agree);
	TEST("loop: evaluates when due and at the end, and saves the best", evaluates_in_time);
	TEST("loop: ends early without improvements, and stays ended", stops_early);
	TEST("loop: an evaluation that was interrupted is made on resuming", makes_up_for_it);
	TEST("loop: an evaluation that fails leaves a checkpoint", fails_with_a_checkpoint);
	return test_done();
}
