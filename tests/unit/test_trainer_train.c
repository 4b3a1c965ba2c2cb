/* Optimizers, schedules, draws, and the loop with a source, ranks and files that are only
 * pretended. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/harness.h"
#include "trainer/config/model_file.h"
#include "trainer/data/loader.h"
#include "trainer/model/cost.h"
#include "trainer/ops/fast.h"
#include "trainer/ops/ops.h"
#include "trainer/ops/philox.h"
#include "trainer/train/draw.h"
#include "trainer/train/loop.h"
#include "trainer/train/optimizer.h"
#include "trainer/train/schedule.h"

static void schedules(void)
{
	struct schedule_options cosine = {.kind = SCHEDULE_COSINE,
	                                  .warmup_steps = 10,
	                                  .decay_from = 50,
	                                  .total_steps = 100,
	                                  .final_factor = 0.1};
	struct schedule_options constant = {.kind = SCHEDULE_CONSTANT};

	CHECK(schedule_lr(&constant, 2, 0) == 2 && schedule_lr(&constant, 2, 1000000) == 2);
	CHECK(fabs(schedule_lr(&cosine, 1, 0) - 0.1) < 1e-12);
	CHECK(fabs(schedule_lr(&cosine, 1, 9) - 1) < 1e-12);
	CHECK(schedule_lr(&cosine, 1, 49) == 1);
	CHECK(fabs(schedule_lr(&cosine, 1, 75) - 0.55) < 1e-12);
	CHECK(fabs(schedule_lr(&cosine, 1, 100) - 0.1) < 1e-12);
	CHECK(fabs(schedule_lr(&cosine, 1, 5000) - 0.1) < 1e-12);
}

/* Shares follow the run's length; steps stay. */
static void fitted_schedules(void)
{
	struct schedule_options s = {
		.kind = SCHEDULE_COSINE, .warmup_share = 0.0355, .decay_share = 0.5};
	struct schedule_options fixed = {.kind = SCHEDULE_COSINE, .warmup_steps = 30};

	schedule_fit(&s, 28125);
	CHECK_INT(s.warmup_steps, 998);
	CHECK_INT(s.decay_from, 14063);
	schedule_fit(&s, 100);
	CHECK(s.warmup_steps == 4 && s.decay_from == 50 && s.total_steps == 100);
	CHECK(schedule_lr(&s, 1, 100) == 0);
	schedule_fit(&fixed, 100);
	CHECK(fixed.warmup_steps == 30 && fixed.decay_from == 30);
	schedule_fit(&fixed, 10);
	CHECK(schedule_lr(&fixed, 3, 0) == 0.1);
}

static void clipping(void)
{
	CHECK(clip_scale(5, 0) == 1);
	CHECK(clip_scale(5, 10) == 1);
	CHECK(fabs(clip_scale(20, 10) - 0.5) < 1e-6);
}

/* Against the formulas, in double, for 3 steps; and the same bits with 1 and 3 threads. */
static void optimizers(void)
{
	struct optimizer_options adamw = {.kind = OPTIMIZER_ADAMW,
	                                  .lr = 0.01,
	                                  .beta1 = 0.9,
	                                  .beta2 = 0.99,
	                                  .eps = 1e-8,
	                                  .weight_decay = 0.1};
	struct tensors p = {0}, q = {0}, g = {0};
	struct optimizer o, o3;
	struct ops one, three;
	double x = 0.5, m = 0, v = 0;
	enum { N = 100003 };

	tensors_add(&p, "w", 1, (size_t[]){N});
	CHECK(ops_open(&(struct ops_options){.reference = true}, &one));
	CHECK(ops_open(&(struct ops_options){.n_threads = 3}, &three));
	tensors_alloc(&p, &one, "p");
	tensors_like(&p, &three, "q", &q);
	tensors_like(&p, &one, "g", &g);
	for (size_t i = 0; i < N; i++)
		p.data[i] = q.data[i] = 0.5f;
	optimizer_init(&o, &adamw, &p, &one);
	optimizer_init(&o3, &adamw, &q, &three);
	for (int t = 1; t <= 3; t++) {
		for (size_t i = 0; i < N; i++)
			g.data[i] = 0.3f * (float)t;
		optimizer_step(&o, &p, &g, 0.01, 0.5, &one);
		optimizer_step(&o3, &q, &g, 0.01, 0.5, &three);
		double grad = 0.15 * t;

		m = 0.9 * m + 0.1 * grad;
		v = 0.99 * v + 0.01 * grad * grad;
		x = x * (1 - 0.001) -
		    0.01 * (m / (1 - pow(0.9, t))) / (sqrt(v / (1 - pow(0.99, t))) + 1e-8);
	}
	CHECK(fabs(p.data[0] - x) < 1e-6 && fabs(p.data[N - 1] - x) < 1e-6);
	CHECK(memcmp(p.data, q.data, p.n_values * sizeof(float)) == 0);
	CHECK(fabs(grads_norm(&g, &one) - 0.9 * sqrt(N)) < 1e-3);
	CHECK(grads_norm(&g, &one) == grads_norm(&g, &three));
	g.data[17] = NAN;
	CHECK(isnan(grads_norm(&g, &three)));
	optimizer_done(&o);
	optimizer_done(&o3);
	tensors_done(&q);
	tensors_done(&g);
	tensors_done(&p);
	ops_done(&one);
	ops_done(&three);
}

static void draws(void)
{
	int32_t a[1000], b[1000];
	float mask[2000];
	double sum = 0;

	draw_points(1, 5, 37, a, 1000);
	draw_points(1, 5, 37, b, 1000);
	CHECK(memcmp(a, b, sizeof(a)) == 0);
	draw_points(1, 6, 37, b, 1000);
	CHECK(memcmp(a, b, sizeof(a)) != 0);
	for (size_t i = 0; i < 1000; i++)
		CHECK(a[i] >= 0 && a[i] < 37);
	draw_mask(1, 3, 0, 0.25, mask, 2000);
	for (size_t i = 0; i < 2000; i++)
		sum += (double)mask[i];
	CHECK(fabs(sum / 2000 - 0.25) < 0.05);
	draw_mask(1, 3, 0, 1, mask, 2000);
	CHECK(mask[0] == 1 && mask[1999] == 1);
}

/* ---- the loop ----------------------------------------------------------------------------------
 */

struct world {
	struct model_config config;
	struct model_dims dims;
	struct ops ops;
	struct learner *learner;
	float *image, *audio;
	int32_t label[8];
	unsigned steps, saves, stop_at, backoffs;
	uint64_t poison, healed; /* from which clip on everything is NaN, and up to which; 0: on */
	uint64_t unreadable;     /* the clip from which on nothing can be read; 0: none */
	uint64_t saved_step;
	double loss[64], lr[64];
	bool skipped[64], last_saved, saved_finite;
};

/* Clip i is drawn from its number, whoever asks for it. */
static int give_clips(void *ctx, uint64_t first, size_t n, struct clips *ret, uint64_t *wait,
                      struct err *err)
{
	struct world *w = ctx;
	size_t pixels = 3 * w->dims.n_pixels;

	*wait += 5;
	if (w->unreadable > 0 && first + n > w->unreadable)
		return err_set(err, ERR_FORMAT, "a shard was cut off");
	for (size_t i = 0; i < n; i++) {
		struct philox r = philox_start(6, STREAM_SYNTHETIC, first + i);

		for (size_t k = 0; k < pixels; k++)
			w->image[i * pixels + k] = (float)philox_uniform(&r);
		for (size_t k = 0; k < w->dims.audio_samples; k++)
			w->audio[i * w->dims.audio_samples + k] = (float)philox_uniform(&r);
		if (w->poison > 0 && first + i >= w->poison &&
		    (w->healed == 0 || first + i < w->healed))
			w->image[i * pixels] = NAN;
		w->label[i] = (int32_t)philox_below(&r, 10);
	}
	*ret = (struct clips){.image = w->image, .audio = w->audio, .label = w->label};
	return 0;
}

static int on_step(void *ctx, const struct step_stats *s, struct err *err)
{
	struct world *w = ctx;

	(void)err;
	w->loss[w->steps] = s->losses.total;
	w->lr[w->steps] = s->lr;
	w->skipped[w->steps++] = s->skipped;
	return 0;
}

static struct tensors *weights_of(const struct world *w)
{
	return model_params(learner_model(w->learner));
}

static int on_save(void *ctx, struct learner *l, const struct train_state *state, bool last,
                   struct err *err)
{
	struct world *w = ctx;

	(void)err;
	w->saves++;
	w->saved_step = state->step;
	w->saved_finite = isfinite(grads_norm(model_params(learner_model(l)), &w->ops));
	w->last_saved = last;
	return 0;
}

static void on_backoff(void *ctx, const struct train_state *state)
{
	struct world *w = ctx;

	w->backoffs = (unsigned)state->backoffs;
}

static bool on_stop(void *ctx)
{
	const struct world *w = ctx;

	return w->stop_at > 0 && w->steps + 1 >= w->stop_at;
}

static void world_start(struct world *w, const struct train_options *o)
{
	*w = (struct world){.config = model_config_tiny()};
	w->config.attention_probs_dropout_prob = 0.1;
	w->dims = model_dims(&w->config);
	CHECK(ops_open(&(struct ops_options){.n_threads = 1, .precision = o->precision}, &w->ops));
	w->learner = learner_new(&w->config, &w->ops, (struct recompute){0});
	learner_init(w->learner, o->seed);
	learner_prepare(w->learner, &o->optimizer);
	w->image = mem_calloc(8 * 3 * w->dims.n_pixels, sizeof(float));
	w->audio = mem_calloc(8 * w->dims.audio_samples, sizeof(float));
}

static void world_end(struct world *w)
{
	learner_free(w->learner);
	ops_done(&w->ops);
	free(w->image);
	free(w->audio);
}

static struct train_options small_options(void)
{
	struct train_options o = train_options_default();

	o.batch_size = 2;
	o.label_mask_prob = 0.5;
	o.image_points = 16;
	o.audio_points = 8;
	o.max_steps = 6;
	o.optimizer.lr = 1e-3;
	o.schedule = (struct schedule_options){.kind = SCHEDULE_CONSTANT};
	return o;
}

static int run(struct world *w, const struct train_options *o, struct train_state *state,
               enum train_end *end, struct err *err)
{
	struct clip_source source = {give_clips, w, 100, NULL};
	struct train_hooks hooks = {w, on_step, on_save, on_stop, on_backoff, NULL};
	struct train t = {w->learner, o, &source, NULL, &hooks};

	return train_run(&t, state, end, err);
}

static bool same_params(struct world *a, struct world *b)
{
	return memcmp(weights_of(a)->data, weights_of(b)->data,
	              weights_of(a)->n_values * sizeof(float)) == 0;
}

/* Stopped after two steps and gone on with, a run ends with the bits of an unbroken one. */
static void check_continues(enum op_precision precision)
{
	struct train_options o = small_options();
	struct world whole, parts;
	struct train_state a = {0}, b = {0};
	enum train_end end;
	struct err err = {0};

	o.precision = precision;
	world_start(&whole, &o);
	world_start(&parts, &o);
	CHECK_OK(run(&whole, &o, &a, &end, &err), &err);
	CHECK(end == TRAIN_COMPLETE && whole.steps == 6 && whole.last_saved);
	o.stop_after = 2;
	CHECK_OK(run(&parts, &o, &b, &end, &err), &err);
	CHECK(end == TRAIN_STOPPED && b.step == 2 && b.sample == 4);
	CHECK(!same_params(&whole, &parts));
	o.stop_after = 0;
	CHECK_OK(run(&parts, &o, &b, &end, &err), &err);
	CHECK(end == TRAIN_COMPLETE && b.step == 6);
	CHECK(same_params(&whole, &parts));
	world_end(&whole);
	world_end(&parts);
}

static void continues_exactly(void)
{
	check_continues(PRECISION_F32);
	check_continues(PRECISION_BF16);
}

/* ---- the scale of the loss in f16 -------------------------------------------------------------
 */

/* Ops that say f16 and compute in f32, where a power of two changes no bit; the sum of squares of
 * gradients is infinite while the loss is scaled by more than f16 is pretended to bear. */
static struct {
	struct op_table table;
	void (*sum_squares)(struct ops *ops, const struct op_sum_squares *p);
	const struct train_state *state;
	int bears; /* log2 */
	unsigned overflows;
} pretended;

static void bounded_sum_squares(struct ops *ops, const struct op_sum_squares *p)
{
	pretended.sum_squares(ops, p);
	if (LOSS_SCALE_FIRST + pretended.state->scale.moved <= pretended.bears)
		return;
	pretended.overflows++;
	*p->sum = INFINITY;
}

static void pretend_f16(struct world *w, const struct train_state *state, int bears)
{
	pretended.table = *w->ops.table;
	pretended.sum_squares = w->ops.table->sum_squares;
	pretended.table.sum_squares = bounded_sum_squares;
	pretended.state = state;
	pretended.bears = bears;
	pretended.overflows = 0;
	w->ops.table = &pretended.table;
	w->ops.rounds = PRECISION_F16;
}

/* Four overflows cost no step, no clip and no bit; nor does a resume forget what was learnt. */
static void overflows_are_done_again(void)
{
	struct train_options o = small_options();
	struct world plain, scaled;
	struct train_state a = {0}, b = {0};
	enum train_end end;
	struct err err = {0};

	o.max_steps = 6;
	world_start(&plain, &o);
	world_start(&scaled, &o);
	CHECK_OK(run(&plain, &o, &a, &end, &err), &err);
	pretend_f16(&scaled, &b, 12);
	o.stop_after = 3;
	CHECK_OK(run(&scaled, &o, &b, &end, &err), &err);
	CHECK(b.step == 3 && b.scale.moved == -4 && b.scale.good == 3);
	o.stop_after = 0;
	CHECK_OK(run(&scaled, &o, &b, &end, &err), &err);
	CHECK_INT(pretended.overflows, 4);
	CHECK(b.step == 6 && b.sample == a.sample && b.scale.good == 6 && b.bad_steps == 0);
	CHECK(same_params(&plain, &scaled));
	for (size_t i = 0; i < 6; i++)
		CHECK(plain.loss[i] == scaled.loss[i]);
	world_end(&plain);
	world_end(&scaled);
}

/* A gradient that no scale makes finite is a bad step, as in every precision. */
static void an_overflow_at_scale_1_is_a_bad_step(void)
{
	struct train_options o = small_options();
	struct world w;
	struct train_state state = {0};
	enum train_end end;
	struct err err = {0};

	o.max_steps = 2;
	world_start(&w, &o);
	pretend_f16(&w, &state, -1);
	CHECK_OK(run(&w, &o, &state, &end, &err), &err);
	CHECK(w.skipped[0] && w.skipped[1] && state.bad_steps == 2 && state.step == 2);
	CHECK_INT(state.scale.moved, -LOSS_SCALE_FIRST);
	/* at 2^16 to 2^0, again at 2^0, and the last when saving looks at the weights */
	CHECK_INT(pretended.overflows, LOSS_SCALE_FIRST + 1 + 1 + 1);
	world_end(&w);
}

static void the_scale_grows(void)
{
	struct loss_scale s = {0};

	for (unsigned i = 1; i < LOSS_SCALE_RAISE; i++)
		loss_scale_update(&s, PRECISION_F16);
	CHECK(loss_scale_of(&s, PRECISION_F16) == 65536 && loss_scale_of(&s, PRECISION_BF16) == 1);
	loss_scale_update(&s, PRECISION_F16);
	CHECK(loss_scale_of(&s, PRECISION_F16) == 131072 && s.good == 0);
	for (unsigned i = 0; i < 20 * LOSS_SCALE_RAISE; i++)
		loss_scale_update(&s, PRECISION_F16);
	CHECK(loss_scale_of(&s, PRECISION_F16) == 0x1p24);
	loss_scale_update(&s, PRECISION_F32);
	CHECK(!loss_scale_lower(&s, PRECISION_F32) && loss_scale_lower(&s, PRECISION_F16));
	CHECK(loss_scale_of(&s, PRECISION_F16) == 0x1p23 && s.good == 0);
}

/* Noise has a mean to be learnt; 60 steps of two micro-steps of two clips. */
static void learns(void)
{
	struct train_options o = small_options();
	struct world w;
	struct train_state state = {0};
	enum train_end end;
	struct err err = {0};

	o.max_steps = 60;
	o.accumulate = 2;
	o.checkpoint_steps = 25;
	world_start(&w, &o);
	CHECK_OK(run(&w, &o, &state, &end, &err), &err);
	CHECK_INT(state.sample, 240);
	CHECK_INT(w.saves, 3);
	CHECK(w.loss[59] < 0.95 * w.loss[0]);
	world_end(&w);
}

/* The same run over synthetic clips in bf16: every step's loss within 3 % of float32's, the last ten
 * together within 1 %, while they fall by a fifth and more. */
static void bf16_learns_alike(void)
{
	struct train_options o = small_options();
	struct world w[2];
	struct err err = {0};
	double end_sum[2] = {0}, begin_sum = 0, largest = 0;
	enum { STEPS = 60 };

	o.max_steps = STEPS;
	o.weights = (struct loss_weights){1, 0.1, 1e-3}; /* pictures are learnt first */
	for (int i = 0; i < 2; i++) {
		struct train_hooks hooks = {&w[i], on_step, on_save, on_stop, on_backoff, NULL};
		struct train_state state = {0};
		enum train_end end;
		struct dataset *data;
		struct clip_loader *loader;

		o.precision = i == 0 ? PRECISION_F32 : PRECISION_BF16;
		world_start(&w[i], &o);
		struct clip_shape shape = model_clip_shape(&w[i].config);
		struct loader_options read = {.samples = {.seed = 1, .shape = shape},
		                              .batch = o.batch_size,
		                              .stride = o.batch_size,
		                              .threads = 1,
		                              .ahead = 2};

		data = dataset_synthetic(1, &shape, (uint32_t)w[i].config.num_labels, 8);
		loader = loader_new(data, &read);
		struct clip_source source = {loader_next, loader, 8, NULL};
		struct train t = {w[i].learner, &o, &source, NULL, &hooks};

		CHECK_OK(train_run(&t, &state, &end, &err), &err);
		loader_free(loader);
		dataset_free(data);
	}
	for (int s = 0; s < STEPS; s++) {
		largest = fmax(largest, fabs(w[1].loss[s] / w[0].loss[s] - 1));
		for (int i = 0; i < 2 && s >= STEPS - 10; i++)
			end_sum[i] += w[i].loss[s];
		begin_sum += s < 10 ? w[0].loss[s] : 0;
	}
	printf("# largest difference of a step's loss %.2f %%, of the last ten %.2f %%; loss %.4f "
	       "to %.4f\n",
	       100 * largest, 100 * fabs(end_sum[1] / end_sum[0] - 1), begin_sum / 10,
	       end_sum[0] / 10);
	CHECK(end_sum[0] < 0.8 * begin_sum);
	CHECK(largest > 0 && largest < 0.03);
	CHECK(fabs(end_sum[1] / end_sum[0] - 1) < 0.01);
	world_end(&w[0]);
	world_end(&w[1]);
}

static void stops_when_asked(void)
{
	struct train_options o = small_options();
	struct world w;
	struct train_state state = {0};
	enum train_end end;
	struct err err = {0};

	world_start(&w, &o);
	w.stop_at = 3;
	CHECK_OK(run(&w, &o, &state, &end, &err), &err);
	CHECK(end == TRAIN_STOPPED && state.step == 3 && w.last_saved && w.saves == 1);
	world_end(&w);
}

/* Clips of NaN change no weight; too many in a row halve the rate, and again, and end the run with
 * the last good weights saved and the clips named. */
static void survives_nan(void)
{
	struct train_options o = small_options();
	struct world w;
	struct train_state state = {0};
	enum train_end end;
	struct err err = {0};

	o.max_bad_steps = 3;
	o.max_backoffs = 2;
	o.max_steps = 60;
	o.checkpoint_steps = 1;
	world_start(&w, &o);
	w.poison = 4;
	CHECK(run(&w, &o, &state, &end, &err) != 0);
	CHECK(err.code == ERR_LIMIT && err.hint[0] != '\0');
	CHECK(strstr(err.msg, "clip 20, clip 21") != NULL);
	CHECK(!w.skipped[1] && w.skipped[2] && w.skipped[10] && w.steps == 11);
	CHECK(w.lr[4] == 1e-3 && w.lr[5] == 5e-4 && w.lr[8] == 2.5e-4);
	CHECK_INT(w.backoffs, 2);
	/* steps 1 and 2, none of the bad ones, each back-off, and the last good state */
	CHECK_INT(w.saves, 5);
	CHECK(w.saved_finite && w.last_saved && w.saved_step == 11);
	world_end(&w);
}

/* A reducer of two ranks that notes, at each meeting, what was saved by then. */
struct meeting {
	const struct world *w;
	unsigned saves_at_last;
};

static int note_saves(void *ctx, double *values, size_t n, struct err *err)
{
	struct meeting *m = ctx;

	(void)values;
	(void)n;
	(void)err;
	m->saves_at_last = m->w->saves;
	return 0;
}

static int leave_f32(void *ctx, float *values, size_t n, struct err *err)
{
	(void)ctx;
	(void)values;
	(void)n;
	(void)err;
	return 0;
}

/* The first rank that leaves ends the others: none does before the last good weights are there. */
static void gives_up_together(void)
{
	struct train_options o = small_options();
	struct world w;
	struct meeting meeting = {.w = &w};
	struct reducer two = {0, 2, leave_f32, note_saves, NULL, NULL, &meeting, false};
	struct clip_source source = {give_clips, &w, 100, NULL};
	struct train_hooks hooks = {&w, on_step, on_save, on_stop, on_backoff, NULL};
	struct train_state state = {0};
	enum train_end end;
	struct err err = {0};

	o.max_bad_steps = 2;
	o.max_backoffs = 0;
	world_start(&w, &o);
	struct train t = {w.learner, &o, &source, &two, &hooks};

	w.poison = 8;
	CHECK(train_run(&t, &state, &end, &err) != 0);
	CHECK(err.code == ERR_LIMIT && w.saves == 1 && w.last_saved);
	CHECK_INT(meeting.saves_at_last, 1);
	world_end(&w);
}

static void heals(void)
{
	struct train_options o = small_options();
	struct world w;
	struct train_state state = {0};
	enum train_end end;
	struct err err = {0};

	o.max_bad_steps = 3;
	o.max_steps = 10;
	world_start(&w, &o);
	w.poison = 4;
	w.healed = 12;
	CHECK_OK(run(&w, &o, &state, &end, &err), &err);
	CHECK(end == TRAIN_COMPLETE && state.backoffs == 1 && state.bad_steps == 0);
	CHECK(w.skipped[4] && w.skipped[5] && !w.skipped[6] && w.lr[6] == 5e-4);
	CHECK(w.saved_finite);
	world_end(&w);
}

/* An update that leaves no number behind: the weights before it come back. */
static void takes_back_weights(void)
{
	struct train_options o = small_options();
	struct world w;
	struct train_state state = {0};
	enum train_end end;
	struct err err = {0};

	o.max_bad_steps = 2;
	o.max_backoffs = 0;
	o.optimizer.lr = 1e39; /* infinite as a float */
	world_start(&w, &o);
	CHECK(run(&w, &o, &state, &end, &err) != 0);
	CHECK(!w.skipped[0] && w.skipped[1]);
	CHECK(w.saves == 1 && w.saved_finite);
	world_end(&w);
}

static void saves_before_unreadable_clips(void)
{
	struct train_options o = small_options();
	struct world w;
	struct train_state state = {0};
	enum train_end end;
	struct err err = {0};

	world_start(&w, &o);
	w.unreadable = 6;
	CHECK(run(&w, &o, &state, &end, &err) != 0);
	CHECK(err.code == ERR_FORMAT && strstr(err.msg, "cut off") != NULL);
	CHECK(w.saves == 1 && w.last_saved && w.saved_step == 3 && state.sample == 6);
	world_end(&w);
}

/* A reducer of two ranks whose other half saw the same clips: sums are doubled. */
static int twice_f32(void *ctx, float *values, size_t n, struct err *err)
{
	(void)ctx;
	(void)err;
	for (size_t i = 0; i < n; i++)
		values[i] *= 2;
	return 0;
}

static int twice_f64(void *ctx, double *values, size_t n, struct err *err)
{
	(void)ctx;
	(void)err;
	for (size_t i = 0; i < n; i++)
		values[i] *= 2;
	return 0;
}

static int wait_all(void *ctx, struct err *err)
{
	(void)err;
	++*(unsigned *)ctx;
	return 0;
}

/* Sums that begin during backward reach every gradient exactly once. */
static void overlapped_equals_plain_reduction(void)
{
	struct train_options o = small_options();
	struct world w[2];
	unsigned waits = 0;
	struct reducer reducers[2] = {
		{0, 2, twice_f32, twice_f64, NULL, NULL, &waits, false},
		{0, 2, twice_f32, twice_f64, twice_f32, wait_all, &waits, false}};
	struct err err = {0};

	for (size_t i = 0; i < 2; i++) {
		struct clip_source source = {give_clips, &w[i], 100, NULL};
		struct train_hooks hooks = {&w[i], on_step, on_save, on_stop, on_backoff, NULL};
		struct train_state state = {0};
		enum train_end end;

		world_start(&w[i], &o);
		struct train t = {w[i].learner, &o, &source, &reducers[i], &hooks};

		CHECK_OK(train_run(&t, &state, &end, &err), &err);
	}
	CHECK_INT(waits, 6);
	CHECK(same_params(&w[0], &w[1]));
	world_end(&w[0]);
	world_end(&w[1]);
}

static void cost_of_a_step(void)
{
	struct model_config c = model_config_full();
	struct batch b = {.n = 1, .n_out_audio = 512, .n_out_image = 512, .decode_label = true};
	struct model_cost cost = model_cost(&c, &b);

	CHECK(fabs(cost.plain / 1e9 - 780) < 5);
	CHECK(cost.executed / 1e9 < 170);
}

/* A unit that gets one product in ten thousand wrong. */
static void forward_wrong(struct ops *ops, const struct op_linear *p)
{
	ops_fast.linear_forward(ops, p);
	p->y[p->rows * p->out - 1] += 0.5f;
}

static void bad_machines(void)
{
	for (enum op_precision k = PRECISION_F32; k <= PRECISION_BF16; k++) {
		struct op_table table = ops_fast;
		struct ops ops;
		struct err err = {0};

		CHECK(ops_open(&(struct ops_options){.n_threads = 1, .precision = k}, &ops));
		CHECK_OK(ops_check_machine(&ops, &err), &err);
		table.linear_forward = forward_wrong;
		ops.table = &table;
		CHECK(ops_check_machine(&ops, &err) != 0);
		CHECK_INT(err.code, ERR_MACHINE);
		ops_done(&ops);
	}
}

int main(void)
{
	TEST("schedule: warm-up, constant, cosine", schedules);
	TEST("schedule: shares of a run follow its length", fitted_schedules);
	TEST("optimizer: clipping", clipping);
	TEST("optimizer: AdamW follows its formulas, whatever the threads", optimizers);
	TEST("draw: points and masks follow from seed and number alone", draws);
	TEST("loop: a run that was stopped ends with the same bits", continues_exactly);
	TEST("loop: the loss falls, checkpoints are due on time", learns);
	TEST("loop: bf16 learns as float32 does", bf16_learns_alike);
	TEST("loop: a request to stop saves and ends", stops_when_asked);
	TEST("loop: gradients that are not finite are skipped, then the run gives up",
	     survives_nan);
	TEST("loop: ranks that give up leave when the last good weights are saved",
	     gives_up_together);
	TEST("loop: after a back-off a run goes on with half the learning rate", heals);
	TEST("f16: steps that overflow are done again at half the scale, to the bit",
	     overflows_are_done_again);
	TEST("f16: a gradient that no scale makes finite is a bad step",
	     an_overflow_at_scale_1_is_a_bad_step);
	TEST("f16: the scale doubles after 2000 good steps, up to 2^24", the_scale_grows);
	TEST("loop: weights that are no numbers are never saved; the last good ones are",
	     takes_back_weights);
	TEST("loop: clips that cannot be read end a run with what came before saved",
	     saves_before_unreadable_clips);
	TEST("loop: a reduction during backward equals one after it",
	     overlapped_equals_plain_reduction);
	TEST("cost: 780 GFLOP as frameworks do it, under 170 here", cost_of_a_step);
	TEST("machine: wrong arithmetic is found before a run begins", bad_machines);
	return test_done();
}
