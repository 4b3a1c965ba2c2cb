/*
 * The order of clips over a run's life: ranks that come and go between its parts, each rank on its
 * own here, with sums that nobody else adds to.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/harness.h"
#include "trainer/data/order.h"
#include "trainer/ops/ops.h"
#include "trainer/train/loop.h"

enum { CLIPS = 20 /* of the dataset */, STEP_CLIPS = 8, STEPS = 9, SEED = 11 };

/* A part of a run: so many ranks, each with micro-steps of some clips, for so many steps. */
struct part {
	unsigned ranks, accumulate, steps;
};

struct log {
	const struct part *part;
	unsigned rank, calls;
	uint64_t begin;                    /* the part's first sample */
	uint64_t clips[STEPS][STEP_CLIPS]; /* as the ranks read them, one after another */
	unsigned n[STEPS];
	float *image, *audio;
	int32_t label[STEP_CLIPS];
};

static size_t batch_of(const struct part *p)
{
	return STEP_CLIPS / (p->ranks * p->accumulate);
}

static int give(void *ctx, uint64_t first, size_t n, struct clips *ret, uint64_t *wait,
                struct err *err)
{
	struct log *l = ctx;
	unsigned step = (unsigned)(l->begin / STEP_CLIPS) + l->calls++ / l->part->accumulate;

	(void)wait;
	(void)err;
	for (size_t i = 0; i < n && l->n[step] < STEP_CLIPS; i++)
		l->clips[step][l->n[step]++] = order_clip(SEED, CLIPS, first + i, true);
	*ret = (struct clips){.image = l->image, .audio = l->audio, .label = l->label};
	return 0;
}

static int alone_f32(void *ctx, float *values, size_t n, struct err *err)
{
	(void)ctx;
	(void)values;
	(void)n;
	(void)err;
	return 0;
}

static int alone_f64(void *ctx, double *values, size_t n, struct err *err)
{
	(void)ctx;
	(void)values;
	(void)n;
	(void)err;
	return 0;
}

static int on_step(void *ctx, const struct step_stats *s, struct err *err)
{
	(void)ctx;
	(void)s;
	(void)err;
	return 0;
}

/* What one rank reads in a part of the run. */
static void run_rank(struct log *l, struct train_state *state)
{
	struct train_options o = train_options_default();
	struct model_config config = model_config_tiny();
	struct reducer reducer = {l->rank, l->part->ranks, alone_f32, alone_f64,
	                          NULL,    NULL,           NULL,      false};
	struct clip_source source = {give, l, CLIPS, NULL};
	struct train_hooks hooks = {.on_step = on_step};
	struct ops ops;
	enum train_end end;
	struct err err = {0};

	o.batch_size = batch_of(l->part);
	o.accumulate = l->part->accumulate;
	o.image_points = o.audio_points = 8;
	o.max_steps = STEPS;
	o.stop_after = l->part->steps;
	l->calls = 0;
	l->begin = state->sample;
	CHECK(ops_open(&(struct ops_options){.n_threads = 1}, &ops));
	struct learner *learner = learner_new(&config, &ops, (struct recompute){0});
	struct train t = {learner, &o, &source, &reducer, &hooks};

	learner_init(learner, o.seed);
	learner_prepare(learner, &o.optimizer);
	CHECK_OK(train_run(&t, state, &end, &err), &err);
	learner_free(learner);
	ops_done(&ops);
}

static void run_parts(const struct part *parts, size_t n, struct log *l)
{
	struct model_config config = model_config_tiny();
	struct model_dims d = model_dims(&config);
	struct train_state state = {0};

	*l = (struct log){.image = mem_calloc(STEP_CLIPS * 3 * d.n_pixels, sizeof(float)),
	                  .audio = mem_calloc(STEP_CLIPS * d.audio_samples, sizeof(float))};
	for (size_t i = 0; i < n; i++) {
		struct train_state next = state;

		l->part = &parts[i];
		for (l->rank = 0; l->rank < parts[i].ranks; l->rank++) {
			next = state;
			run_rank(l, &next);
		}
		state = next;
	}
	CHECK_INT(state.step, STEPS);
	free(l->image);
	free(l->audio);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Within a step the ranks read at the same time: what counts is which clips it has. */
static void sort_steps(struct log *l)
{
	for (unsigned step = 0; step < STEPS; step++) {
		CHECK_INT(l->n[step], STEP_CLIPS);
		qsort(l->clips[step], STEP_CLIPS, sizeof(l->clips[step][0]), by_number);
	}
}

static void any_number_of_ranks(void)
{
	static const struct part whole[] = {{1, 1, STEPS}};
	static const struct {
		struct part parts[4];
		size_t n;
	} runs[] = {
		{{{1, 1, 2}, {4, 1, 3}, {2, 1, 1}, {8, 1, 3}}, 4},
		{{{8, 1, 4}, {1, 1, 5}}, 2},
		{{{2, 2, 3}, {1, 8, 2}, {4, 2, 4}}, 3},
	};
	struct log want, got;

	run_parts(whole, 1, &want);
	sort_steps(&want);
	for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
		run_parts(runs[i].parts, runs[i].n, &got);
		sort_steps(&got);
		CHECK(memcmp(want.clips, got.clips, sizeof(want.clips)) == 0);
	}
}

int main(void)
{
	TEST("order: a run resumed on any number of ranks reads the same clips at the same steps",
	     any_number_of_ranks);
	return test_done();
}
