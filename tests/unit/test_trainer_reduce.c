/* Sums over ranks: begun during backward or after it, micro-steps, errors in mid-exchange, and the
 * thread that moves them. Ranks are threads here. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "tests/harness.h"
#include "trainer/comm/mover.h"
#include "trainer/ops/ops.h"
#include "trainer/ops/philox.h"
#include "trainer/train/loop.h"
#include "trainer/train/reduce.h"

enum { RANKS_MAX = 4, BUCKETS_MAX = 256, STEPS = 2 };

/* ---- ranks that are threads ----
 */

struct hub {
	unsigned n;
	pthread_barrier_t meet;
	void *posted[RANKS_MAX];
};

struct bucket_begun {
	float *values, *copy;
	size_t n;
};

struct rank_thread {
	pthread_t thread;
	struct hub *hub;
	unsigned rank;
	struct train_options options;
	struct train_state state;
	const struct rank_thread *initial; /* whose weights to begin with; NULL: fresh ones */
	/* what becomes of it */
	struct model_config config;
	float *weights;
	size_t n_weights;
	struct bucket_begun begun[BUCKETS_MAX];
	size_t n_begun, buckets, first_begun_at;
	size_t fail_begin, fail_wait; /* at which call; 0: never */
	size_t begins, waits;
	bool changed; /* a gradient, after its sum began */
	bool in_backward;
	unsigned saves;
	int rc;
	struct err err;
};

/* Every rank adds up in the order of the ranks. */
#define SUM_OF(type)                                                                               \
	do {                                                                                       \
		type *mine = values;                                                               \
		AUTO_FREE type *sum = mem_calloc(n, sizeof(*sum));                                 \
		h->posted[r->rank] = mine;                                                         \
		pthread_barrier_wait(&h->meet);                                                    \
		for (unsigned k = 0; k < h->n; k++)                                                \
			for (size_t i = 0; i < n; i++)                                             \
				sum[i] += ((type *)h->posted[k])[i];                               \
		pthread_barrier_wait(&h->meet);                                                    \
		memcpy(mine, sum, n * sizeof(*sum));                                               \
	} while (0)

static int sum_f32(void *ctx, float *values, size_t n, struct err *err)
{
	struct rank_thread *r = ctx;
	struct hub *h = r->hub;

	(void)err;
	SUM_OF(float);
	return 0;
}

static int sum_f64(void *ctx, double *values, size_t n, struct err *err)
{
	struct rank_thread *r = ctx;
	struct hub *h = r->hub;

	(void)err;
	SUM_OF(double);
	return 0;
}

static int begin_f32(void *ctx, float *values, size_t n, struct err *err)
{
	struct rank_thread *r = ctx;
	struct bucket_begun *b = &r->begun[r->n_begun];

	if (++r->begins == r->fail_begin)
		return err_set(err, ERR_NETWORK, "the cable is out");
	CHECK(r->n_begun < BUCKETS_MAX);
	b->values = values;
	b->n = n;
	b->copy = mem_calloc(n, sizeof(float));
	memcpy(b->copy, values, n * sizeof(float));
	r->n_begun++;
	return 0;
}

static int wait_all(void *ctx, struct err *err)
{
	struct rank_thread *r = ctx;

	if (++r->waits == r->fail_wait)
		return err_set(err, ERR_NETWORK, "the cable is out");
	r->buckets = r->n_begun;
	for (size_t i = 0; i < r->n_begun; i++) {
		struct bucket_begun *b = &r->begun[i];

		r->changed |= memcmp(b->copy, b->values, b->n * sizeof(float)) != 0;
		free(b->copy);
		sum_f32(r, b->values, b->n, err);
	}
	r->n_begun = 0;
	return 0;
}

static void forget_begun(struct rank_thread *r)
{
	for (size_t i = 0; i < r->n_begun; i++)
		free(r->begun[i].copy);
}

/* ---- a run ----
 */

/* Many parameters (several buckets), little to compute. */
static struct model_config wide_config(void)
{
	struct model_config c = model_config_mid();

	c.num_frames = 1;
	c.image_height = c.image_width = 4 * c.spatial_downsample;
	c.num_latents = 8;
	c.num_self_attends_per_block = 2;
	c.attention_probs_dropout_prob = 0.1;
	return c;
}

struct clip_box {
	struct model_dims dims;
	struct clips clips;
	float *image, *audio;
	int32_t *label;
};

static int give_clips(void *ctx, uint64_t first, size_t n, struct clips *ret, uint64_t *wait,
                      struct err *err)
{
	struct clip_box *box = ctx;
	size_t pixels = 3 * box->dims.n_pixels, samples = box->dims.audio_samples;

	(void)wait;
	(void)err;
	for (size_t i = 0; i < n; i++) {
		struct philox r = philox_start(6, STREAM_SYNTHETIC, first + i);

		for (size_t k = 0; k < pixels; k++)
			box->image[i * pixels + k] = (float)philox_uniform(&r);
		for (size_t k = 0; k < samples; k++)
			box->audio[i * samples + k] = (float)philox_uniform(&r);
		box->label[i] = (int32_t)philox_below(&r, 10);
	}
	*ret = (struct clips){.image = box->image, .audio = box->audio, .label = box->label};
	return 0;
}

static int count_saves(void *ctx, struct learner *l, const struct train_state *state, bool last,
                       struct err *err)
{
	struct rank_thread *r = ctx;

	(void)l;
	(void)state;
	(void)last;
	(void)err;
	r->saves++;
	return 0;
}

static void *run_rank(void *arg)
{
	struct rank_thread *r = arg;
	struct clip_box box = {.dims = model_dims(&r->config)};
	struct clip_source source = {give_clips, &box, 1000, NULL};
	struct train_hooks hooks = {.ctx = r, .save = count_saves};
	struct reducer reducer = {r->rank,   r->hub->n, sum_f32, sum_f64,
	                          begin_f32, wait_all,  r,       false};
	struct model *m;
	struct ops ops;
	enum train_end end;
	struct train t = {.options = &r->options,
	                  .source = &source,
	                  .reducer = r->hub->n > 1 ? &reducer : NULL,
	                  .hooks = &hooks};
	size_t n = r->options.batch_size;

	box.image = mem_calloc(n * 3 * box.dims.n_pixels, sizeof(float));
	box.audio = mem_calloc(n * box.dims.audio_samples, sizeof(float));
	box.label = mem_calloc(n, sizeof(int32_t));
	if (!ops_open(&(struct ops_options){.n_threads = 1}, &ops))
		return NULL;
	t.learner = learner_new(&r->config, &ops, (struct recompute){0});
	m = learner_model(t.learner);
	if (r->initial != NULL)
		memcpy(model_params(m)->data, r->initial->weights,
		       r->initial->n_weights * sizeof(float));
	else
		model_init(m, 1);
	learner_prepare(t.learner, &r->options.optimizer);
	r->rc = train_run(&t, &r->state, &end, &r->err);
	r->n_weights = model_params(m)->n_values;
	r->weights = mem_calloc(r->n_weights, sizeof(float));
	memcpy(r->weights, model_params(m)->data, r->n_weights * sizeof(float));
	learner_free(t.learner);
	ops_done(&ops);
	free(box.image);
	free(box.audio);
	free(box.label);
	return NULL;
}

/* Plain SGD: what differs by rounding stays different by rounding. */
static struct rank_thread one_rank(const struct rank_thread *initial, size_t batch,
                                   size_t accumulate)
{
	struct rank_thread r = {
		.config = wide_config(), .options = train_options_default(), .initial = initial};

	r.options.batch_size = batch;
	r.options.accumulate = accumulate;
	r.options.label_mask_prob = 0.5;
	r.options.audio_mask_prob = 0.1;
	r.options.image_points = 16;
	r.options.audio_points = 4;
	r.options.max_steps = STEPS;
	r.options.optimizer = (struct optimizer_options){
		.kind = OPTIMIZER_SGD, .lr = 0.1, .momentum = 0.9, .max_grad_norm = 10};
	return r;
}

static void run_ranks(struct rank_thread *ranks, unsigned n)
{
	struct hub hub = {.n = n};

	pthread_barrier_init(&hub.meet, NULL, n);
	for (unsigned i = 0; i < n; i++) {
		ranks[i].hub = &hub;
		ranks[i].rank = i;
		CHECK(pthread_create(&ranks[i].thread, NULL, run_rank, &ranks[i]) == 0);
	}
	for (unsigned i = 0; i < n; i++)
		pthread_join(ranks[i].thread, NULL);
	pthread_barrier_destroy(&hub.meet);
}

static bool same_weights(const struct rank_thread *a, const struct rank_thread *b)
{
	return memcmp(a->weights, b->weights, a->n_weights * sizeof(float)) == 0;
}

/* As far apart as rounding drives them, seen beside how far training has moved them. */
static bool close_weights(const struct rank_thread *a, const struct rank_thread *b)
{
	double worst = 0;

	for (size_t i = 0; i < a->n_weights; i++)
		worst = fmax(worst, fabs((double)a->weights[i] - (double)b->weights[i]));
	if (worst >= 2e-6)
		printf("# weights differ by %g\n", worst);
	return worst < 2e-6;
}

/* `n` ranks with this many micro-steps of a step of 12 clips. */
static void check_ranks(unsigned n, size_t accumulate, const struct rank_thread *start,
                        const struct rank_thread *whole)
{
	struct rank_thread during[RANKS_MAX], after[RANKS_MAX];

	for (unsigned i = 0; i < n; i++) {
		during[i] = after[i] = one_rank(start, 12 / n / accumulate, accumulate);
		after[i].options.reduce_last = true;
	}
	run_ranks(during, n);
	run_ranks(after, n);
	for (unsigned i = 0; i < n; i++) {
		CHECK_OK(during[i].rc, &during[i].err);
		CHECK_OK(after[i].rc, &after[i].err);
		CHECK(same_weights(&during[i], &during[0]));
		CHECK(same_weights(&after[i], &during[i]));
		CHECK(close_weights(&during[i], whole));
		CHECK(!during[i].changed);
		CHECK(n == 1 || (during[i].buckets > 4 && during[i].waits == STEPS));
		CHECK(during[i].buckets == after[i].buckets);
		CHECK_INT(during[i].state.sample, 12 * STEPS);
	}
	for (unsigned i = 0; i < n; i++) {
		free(during[i].weights);
		free(after[i].weights);
	}
}

/* Fresh weights, and no step. */
static struct rank_thread fresh(void)
{
	struct rank_thread start = one_rank(NULL, 1, 1);

	start.options.max_steps = 0;
	run_ranks(&start, 1);
	return start;
}

static void ranks_and_micro_steps(void)
{
	struct rank_thread start = fresh(), whole = one_rank(&start, 12, 1);

	run_ranks(&whole, 1);
	CHECK(!close_weights(&whole, &start)); /* training moved them */
	for (unsigned n = 1; n <= RANKS_MAX; n *= 2)
		for (size_t accumulate = 1; accumulate <= 3; accumulate += 2)
			check_ranks(n, accumulate, &start, &whole);
	free(whole.weights);
	free(start.weights);
}

/* The second step of a run by batches of 12 clips, taken by two ranks in three micro-steps of two:
 * the same clips, masks, points and dropout. Without momentum, which is not carried over here. */
static void resumed_with_other_shares(void)
{
	struct rank_thread start = fresh(), whole = one_rank(&start, 12, 1), first = whole, rest[2];

	whole.options.optimizer.momentum = first.options.optimizer.momentum = 0;
	first.options.max_steps = 1;
	run_ranks(&whole, 1);
	run_ranks(&first, 1);
	CHECK(first.state.step == 1 && first.state.sample == 12);
	CHECK(!close_weights(&first, &whole));
	for (size_t i = 0; i < 2; i++) {
		rest[i] = one_rank(&first, 2, 3);
		rest[i].options.optimizer.momentum = 0;
		rest[i].state = first.state;
	}
	run_ranks(rest, 2);
	CHECK(rest[0].state.step == 2 && rest[0].state.sample == 24);
	CHECK(close_weights(&rest[0], &whole));
	free(start.weights);
	free(whole.weights);
	free(first.weights);
	free(rest[0].weights);
	free(rest[1].weights);
}

/* Both ranks see it, as they do when a rank is lost. */
static void check_error(const struct rank_thread *start, size_t begin, size_t wait)
{
	struct rank_thread ranks[2];

	for (size_t i = 0; i < 2; i++) {
		ranks[i] = one_rank(start, 2, 3);
		ranks[i].fail_begin = begin;
		ranks[i].fail_wait = wait;
	}
	run_ranks(ranks, 2);
	for (size_t i = 0; i < 2; i++) {
		CHECK(ranks[i].rc != 0 && ranks[i].err.code == ERR_NETWORK);
		CHECK(strstr(ranks[i].err.msg, "the gradient of step ") != NULL);
		CHECK(strstr(ranks[i].err.msg, "the cable is out") != NULL);
		CHECK_INT(ranks[i].saves, 0);
		CHECK(begin == 0 || ranks[i].begins == begin);
		forget_begun(&ranks[i]);
		free(ranks[i].weights);
	}
}

static void errors_end_the_run(void)
{
	struct rank_thread start = fresh();

	check_error(&start, 1, 0); /* the first bucket */
	check_error(&start, 3, 0); /* in the middle of backward */
	check_error(&start, 0, 1);
	check_error(&start, 0, 2); /* of the second step */
	free(start.weights);
}

/* ---- buckets ----
 */

struct cut {
	size_t end, n, smallest;
	const float *data;
	bool gap;
};

static int see_bucket(void *ctx, float *values, size_t n, struct err *err)
{
	struct cut *c = ctx;
	size_t first = (size_t)(values - c->data);

	(void)err;
	c->gap |= first + n != c->end;
	c->end = first;
	c->n++;
	if (first > 0 && n < c->smallest)
		c->smallest = n;
	return 0;
}

static int see_wait(void *ctx, struct err *err)
{
	(void)ctx;
	(void)err;
	return 0;
}

/* Every value is in one bucket, from the table's end to its beginning; blocks that share their
 * parameters are final only with the first. */
static void buckets_cover_the_table(void)
{
	for (size_t blocks = 1; blocks <= 2; blocks++) {
		struct model_config c = wide_config();
		struct model_dims d;
		struct ops ops;
		struct model *m;
		struct cut cut = {.smallest = SIZE_MAX};
		struct reducer reducer = {0, 2, NULL, NULL, see_bucket, see_wait, &cut, false};
		struct grad_sum sum = {0};
		struct losses losses;
		struct logits logits;
		struct err err = {0};
		int32_t label = 0, point = 0;

		c.num_blocks = blocks;
		d = model_dims(&c);
		struct batch b = {.n = 1,
		                  .image = mem_calloc(3 * d.n_pixels, sizeof(float)),
		                  .audio = mem_calloc(d.audio_samples, sizeof(float)),
		                  .label = &label,
		                  .out_image = &point,
		                  .out_audio = &point,
		                  .n_out_image = 1,
		                  .n_out_audio = 1,
		                  .decode_label = true};
		static const struct loss_weights weights = {1, 1, 1};

		CHECK(ops_open(&(struct ops_options){.n_threads = 1}, &ops));
		m = model_new(&c, &ops);
		cut.data = model_grads(m)->data;
		cut.end = model_grads(m)->n_values;
		model_forward(m, &b, &logits);
		model_loss(m, &weights, &losses);
		grad_sum_start(&sum, &reducer, m, false);
		model_backward(m, &weights, 1);
		CHECK(cut.n > 4);
		CHECK_OK(grad_sum_finish(&sum, &err), &err);
		CHECK(!cut.gap && cut.end == 0 && cut.smallest >= BUCKET_VALUES);
		grad_sum_done(&sum);
		model_free(m);
		ops_done(&ops);
		free((void *)(uintptr_t)b.image);
		free((void *)(uintptr_t)b.audio);
	}
}

/* ---- the mover ----
 */

struct slow_engine {
	atomic_int tests, inside;
	int needed; /* tests until a sum is complete */
	int fails_at;
	bool overlapped, closed;
	float *values;
};

static int slow_reduce(void *state, void *values, size_t n, enum comm_type type, enum comm_op op,
                       struct comm_request *ret)
{
	struct slow_engine *e = state;

	(void)n;
	(void)type;
	(void)op;
	e->values = values;
	ret->handle = e;
	return 0;
}

static int slow_test(void *state, struct comm_request *r, bool *ret_done)
{
	struct slow_engine *e = state;
	int n = atomic_fetch_add(&e->tests, 1) + 1;

	e->overlapped |= atomic_fetch_add(&e->inside, 1) > 0;
	*ret_done = r->handle == NULL || n >= e->needed;
	if (*ret_done && r->handle != NULL) {
		e->values[0] *= 2;
		r->handle = NULL;
	}
	atomic_fetch_sub(&e->inside, 1);
	return e->fails_at > 0 && n >= e->fails_at ? 9 : 0;
}

static void slow_close(void *state)
{
	struct slow_engine *e = state;

	e->closed = true;
}

static struct comm_engine slow(struct slow_engine *e)
{
	struct comm_engine inner = {.name = "slow",
	                            .state = e,
	                            .size = 2,
	                            .any_thread = true,
	                            .all_reduce = slow_reduce,
	                            .test = slow_test,
	                            .close = slow_close};

	return mover_wrap(&inner);
}

static void pause_ms(long ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

/* Until the engine was tested so often, 10 seconds at most. */
static void until_tests(struct slow_engine *e, int n)
{
	for (int i = 0; i < 10000 && atomic_load(&e->tests) < n; i++)
		pause_ms(1);
}

static void moves_while_nobody_waits(void)
{
	struct slow_engine e = {.needed = 20};
	struct comm_engine moved = slow(&e);
	struct comm_request r = {NULL};
	float values[1] = {3};
	bool done = false;

	CHECK(moved.all_reduce(moved.state, values, MOVED_VALUES, COMM_F32, COMM_SUM, &r) == 0);
	until_tests(&e, 20);
	CHECK_INT(atomic_load(&e.tests), 20);
	pause_ms(5);
	CHECK_INT(atomic_load(&e.tests), 20); /* it rests when all is done */
	CHECK(moved.test(moved.state, &r, &done) == 0 && done);
	CHECK(values[0] == 6);
	CHECK(!e.overlapped);
	moved.close(moved.state);
	CHECK(e.closed);
}

static void leaves_small_sums_alone(void)
{
	struct slow_engine e = {.needed = 2};
	struct comm_engine moved = slow(&e);
	struct comm_request r = {NULL};
	float values[1] = {3};
	bool done = false;

	CHECK(moved.all_reduce(moved.state, values, 8, COMM_F32, COMM_SUM, &r) == 0);
	pause_ms(5);
	CHECK_INT(atomic_load(&e.tests), 0);
	CHECK(moved.test(moved.state, &r, &done) == 0 && !done);
	CHECK(moved.test(moved.state, &r, &done) == 0 && done);
	moved.close(moved.state);
}

/* After it the values may be freed: nothing looks at the request again. */
static void forgets(void)
{
	struct slow_engine e = {.needed = 1000000};
	struct comm_engine moved = slow(&e);
	struct comm_request r = {NULL};
	float values[1] = {3};
	int seen;

	CHECK(moved.all_reduce(moved.state, values, MOVED_VALUES, COMM_F32, COMM_SUM, &r) == 0);
	until_tests(&e, 1);
	moved.forget(moved.state);
	seen = atomic_load(&e.tests);
	pause_ms(5);
	CHECK_INT(atomic_load(&e.tests), seen);
	CHECK(moved.all_reduce(moved.state, values, MOVED_VALUES, COMM_F32, COMM_SUM, &r) == 0);
	pause_ms(5);
	CHECK_INT(atomic_load(&e.tests), seen);
	moved.close(moved.state);
}

static void tells_errors(void)
{
	struct slow_engine e = {.needed = 1000000, .fails_at = 3};
	struct comm_engine moved = slow(&e);
	struct comm_request r = {NULL};
	float values[1] = {3};
	bool done = false;

	CHECK(moved.all_reduce(moved.state, values, MOVED_VALUES, COMM_F32, COMM_SUM, &r) == 0);
	until_tests(&e, 3);
	pause_ms(5);
	CHECK_INT(atomic_load(&e.tests), 3);
	CHECK(moved.test(moved.state, &r, &done) == 9 && !done);
	moved.close(moved.state);
}

static void keeps_what_wants_one_thread(void)
{
	struct slow_engine e = {.needed = 1};
	struct comm_engine plain = {.state = &e, .test = slow_test};
	struct comm_engine same = mover_wrap(&plain);

	CHECK(same.state == &e && same.test == slow_test && same.forget == NULL);
}

int main(void)
{
	TEST("reduce: 1, 2 and 4 ranks, 1 and 3 micro-steps: sums during backward have the bits of "
	     "sums after it, and all are one larger batch within rounding",
	     ranks_and_micro_steps);
	TEST("reduce: a step resumed in other shares is the same step", resumed_with_other_shares);
	TEST("reduce: an error in mid-exchange ends the run, with nothing saved",
	     errors_end_the_run);
	TEST("reduce: buckets cover every gradient once, from the last to the first",
	     buckets_cover_the_table);
	TEST("mover: a sum goes on while nobody waits for it", moves_while_nobody_waits);
	TEST("mover: small sums are the caller's", leaves_small_sums_alone);
	TEST("mover: what is forgotten is not touched again", forgets);
	TEST("mover: an error that it met is told at the next test", tells_errors);
	TEST("mover: an engine for one thread stays as it is", keeps_what_wants_one_thread);
	return test_done();
}
