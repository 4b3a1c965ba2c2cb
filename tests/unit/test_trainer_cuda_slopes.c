/*
 * The GPU's derivatives in f32 beside differences of what it computes itself: of every op that has a
 * backward, and of whole networks, through the whole backend on the tests' stand-in for the driver.
 * No GPU was ever asked.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/cuda/standin.h"
#include "tests/harness.h"
#include "tests/unit/random_model.h"
#include "trainer/device/devices.h"
#include "trainer/train/learner.h"

enum { MEMORY = 256 << 20, ARRAYS_MAX = 16, DIRECTIONS = 2 };
#define STEP 2e-3f

static struct standin_calls {
	void (*reset)(size_t fail_at, int result, int major, int minor, size_t memory);
	struct standin_state (*state)(void);
} standin;

static void load_standin(void)
{
	void *library = dlopen(CUDA_STANDIN, RTLD_NOW);

	if (library == NULL)
		abort();
	*(void **)&standin.reset = dlsym(library, "standin_reset");
	*(void **)&standin.state = dlsym(library, "standin_state");
}

static struct ops open_gpu(void)
{
	char name[DEVICE_NAME_MAX];
	struct ops_options o = {.n_threads = 1, .gemm = OP_GEMM_OWN};
	struct err err = {0};
	struct ops ops = {0};

	standin.reset(0, 0, 8, 6, MEMORY);
	CHECK_OK(device_open(&(struct device_choice){"cuda", 0}, &o, &ops, name, &err), &err);
	return ops;
}

static void check_clean(void)
{
	struct standin_state s = standin.state();

	CHECK_STR(s.problem != NULL ? s.problem : "", "");
	CHECK_INT(s.held, 0);
}

/* ---- an op ---- */

/* An array of the op's in the device's memory. */
struct array {
	size_t n;
	struct buffer at, slope; /* slope: what backward sets or adds to; none of an output */
	float *host;
};

/*
 * An op whose pointers are set by `place`; the scalar is the sum of weight[i] * out[i], so backward
 * starts from the weights. Results in double, the losses, are one scalar of weight 1.
 */
struct sloped {
	const char *name;
	struct ops *ops;
	struct array in[ARRAYS_MAX];
	size_t n_in, n_out;
	struct buffer out, weight;
	float *weights;
	bool sums; /* out is doubles, of which the first counts */
	void (*place)(struct sloped *s, void *op);
	void (*forward)(struct ops *ops, const void *op);
	void (*backward)(struct ops *ops, const void *op);
	void *op;
};

static void fill(float *x, size_t n, uint64_t seed)
{
	struct philox r = philox_start(seed, STREAM_SYNTHETIC, n);

	for (size_t i = 0; i < n; i++)
		x[i] = (float)philox_normal(&r);
}

static void add_in(struct sloped *s, size_t n)
{
	struct array *a = &s->in[s->n_in++];

	a->n = n;
	a->host = mem_calloc(n, sizeof(float));
	fill(a->host, n, 20 + s->n_in);
	a->at = buffer_new(s->ops, n * sizeof(float), "an input");
	a->slope = buffer_new(s->ops, n * sizeof(float), "its derivative");
}

static void set_out(struct sloped *s, size_t n)
{
	s->n_out = n;
	s->weights = mem_calloc(n, sizeof(float));
	fill(s->weights, n, 9);
	s->out = buffer_new(s->ops, n * (s->sums ? sizeof(double) : sizeof(float)), "a result");
	s->weight = buffer_new(s->ops, n * sizeof(float), "its derivative");
	ops_upload(s->ops, s->weight.at, s->weights, n * sizeof(float));
}

static void sloped_done(struct sloped *s)
{
	for (size_t i = 0; i < s->n_in; i++) {
		buffer_free(s->ops, &s->in[i].at);
		buffer_free(s->ops, &s->in[i].slope);
		free(s->in[i].host);
	}
	buffer_free(s->ops, &s->out);
	buffer_free(s->ops, &s->weight);
	free(s->weights);
}

static void send_inputs(struct sloped *s)
{
	for (size_t i = 0; i < s->n_in; i++)
		ops_upload(s->ops, s->in[i].at.at, s->in[i].host, s->in[i].n * sizeof(float));
}

static double scalar(struct sloped *s)
{
	AUTO_FREE double *sums = mem_calloc(s->n_out, sizeof(double));
	AUTO_FREE float *out = mem_calloc(s->n_out, sizeof(float));
	struct err err = {0};
	double total = 0;

	send_inputs(s);
	s->forward(s->ops, s->op);
	ops_download(s->ops, s->sums ? (void *)sums : (void *)out, s->out.at,
	             s->n_out * (s->sums ? sizeof(double) : sizeof(float)));
	CHECK_OK(ops_sync(s->ops, &err), &err);
	if (s->sums)
		return sums[0];
	for (size_t i = 0; i < s->n_out; i++)
		total += (double)s->weights[i] * out[i];
	return total;
}

static float *take_slope(struct sloped *s, size_t i)
{
	float *g = mem_calloc(s->in[i].n, sizeof(float));
	struct err err = {0};

	ops_download(s->ops, g, s->in[i].slope.at, s->in[i].n * sizeof(float));
	CHECK_OK(ops_sync(s->ops, &err), &err);
	return g;
}

/* Along a direction in which all values of one input change. */
static void check_direction(struct sloped *s, size_t i, const float *g, uint64_t seed)
{
	struct array *a = &s->in[i];
	AUTO_FREE float *u = mem_calloc(a->n, sizeof(float));
	AUTO_FREE float *was = mem_calloc(a->n, sizeof(float));
	double got = 0, want, size = 0, up;

	fill(u, a->n, seed);
	memcpy(was, a->host, a->n * sizeof(float));
	for (size_t k = 0; k < a->n; k++) {
		got += (double)g[k] * u[k];
		size += (double)g[k] * g[k];
		a->host[k] = was[k] + STEP * u[k];
	}
	up = scalar(s);
	for (size_t k = 0; k < a->n; k++)
		a->host[k] = was[k] - STEP * u[k];
	want = (up - scalar(s)) / (2 * (double)STEP);
	memcpy(a->host, was, a->n * sizeof(float));
	if (fabs(got - want) <= 1e-3 + 3e-3 * sqrt(size))
		return;
	printf("# %s: input %zu: %g along a direction, difference %g (gradient %g)\n", s->name, i,
	       got, want, sqrt(size));
	test_fail(__FILE__, __LINE__, "a derivative that is not one");
}

static void check_slopes(struct sloped *s)
{
	send_inputs(s);
	for (size_t i = 0; i < s->n_in; i++)
		ops_zero(s->ops, s->in[i].slope.at, s->in[i].slope.bytes);
	s->forward(s->ops, s->op);
	s->backward(s->ops, s->op);
	for (size_t i = 0; i < s->n_in; i++) {
		AUTO_FREE float *g = take_slope(s, i);

		for (uint64_t k = 0; k < DIRECTIONS; k++)
			check_direction(s, i, g, 500 + k);
	}
}

/* ---- memory of an op that is neither ---- */

enum { ROOM_MAX = 24 };
static struct rooms {
	struct buffer at[ROOM_MAX];
	size_t n;
} rooms;

static void *room(struct ops *ops, size_t n)
{
	rooms.at[rooms.n] = buffer_new(ops, n * sizeof(float), "room");
	return rooms.at[rooms.n++].at;
}

/* Values that stay as they are; drawn where `values` is NULL. */
static const void *constant(struct ops *ops, size_t n, const void *values)
{
	AUTO_FREE float *drawn = mem_calloc(n, sizeof(float));
	void *at = room(ops, n);
	struct err err = {0};

	fill(drawn, n, 70 + rooms.n);
	ops_upload(ops, at, values != NULL ? values : drawn, n * sizeof(float));
	CHECK_OK(ops_sync(ops, &err), &err);
	return at;
}

static void rooms_done(struct ops *ops)
{
	for (size_t i = 0; i < rooms.n; i++)
		buffer_free(ops, &rooms.at[i]);
	rooms.n = 0;
}

/* ---- the ops: sizes that are no multiples of a tile's ---- */

#define BY_TABLE(op, type)                                                                         \
	static UNUSED void by_##op(struct ops *ops, const void *p)                                 \
	{                                                                                          \
		ops->table->op(ops, (const struct type *)p);                                       \
	}
EACH_OP(BY_TABLE)

static void of_linear(struct sloped *s)
{
	static struct op_linear p;

	p = (struct op_linear){.rows = 67, .in = 35, .out = 21};
	s->op = &p;
	s->forward = by_linear_forward;
	add_in(s, p.rows * p.in);
	add_in(s, p.out * p.in);
	add_in(s, p.out);
	set_out(s, p.rows * p.out);
	p.x = s->in[0].at.at;
	p.w = s->in[1].at.at;
	p.bias = s->in[2].at.at;
	p.y = s->out.at;
	p.dy = s->weight.at;
	p.dx = s->in[0].slope.at;
	p.dw = s->in[1].slope.at;
	p.dbias = s->in[2].slope.at;
}

/* A layer of the GELU of its input, and the derivative by what the GELU was of. */
static void layer_of_gelu(struct ops *ops, const void *op)
{
	const struct op_linear_gelu *p = op;

	ops->table->gelu_forward(ops, &p->gelu);
	ops->table->linear_forward(ops, &p->linear);
}

static void of_linear_gelu(struct sloped *s)
{
	static struct op_linear_gelu p;
	static struct op_linear *l = &p.linear;

	of_linear(s);
	p.linear = *(struct op_linear *)s->op;
	l->x = room(s->ops, l->rows * l->in);
	p.gelu = (struct op_gelu){.n = l->rows * l->in,
	                          .form = GELU_ERF,
	                          .x = s->in[0].at.at,
	                          .y = (float *)(uintptr_t)l->x,
	                          .dy = l->dx,
	                          .dx = l->dx};
	s->op = &p;
	s->forward = layer_of_gelu;
}

static void of_norm(struct sloped *s)
{
	static struct op_norm p;

	p = (struct op_norm){.rows = 37, .width = 41};
	s->op = &p;
	s->forward = by_norm_forward;
	add_in(s, p.rows * p.width);
	add_in(s, p.width);
	add_in(s, p.width);
	set_out(s, p.rows * p.width);
	p.x = s->in[0].at.at;
	p.gain = s->in[1].at.at;
	p.shift = s->in[2].at.at;
	p.mean = room(s->ops, p.rows);
	p.rstd = room(s->ops, p.rows);
	p.y = s->out.at;
	p.dy = s->weight.at;
	p.dx = s->in[0].slope.at;
	p.dgain = s->in[1].slope.at;
	p.dshift = s->in[2].slope.at;
}

static void of_gelu(struct sloped *s)
{
	static struct op_gelu p;

	p = (struct op_gelu){.n = 1000, .form = GELU_TANH};
	s->op = &p;
	s->forward = by_gelu_forward;
	add_in(s, p.n);
	set_out(s, p.n);
	p.x = s->in[0].at.at;
	p.y = s->out.at;
	p.dy = s->weight.at;
	p.dx = s->in[0].slope.at;
}

static void of_attention(struct sloped *s)
{
	static struct op_attention p;

	p = (struct op_attention){.batch = 2,
	                          .heads = 2,
	                          .nq = 37,
	                          .nk = 41,
	                          .qk = 7,
	                          .v = 9,
	                          .q_shared = true,
	                          .dropout = {0.3, 7, 3, NULL}};
	s->op = &p;
	s->forward = by_attention_forward;
	add_in(s, p.nq * p.heads * p.qk);
	add_in(s, p.batch * p.nk * p.heads * p.qk);
	add_in(s, p.batch * p.nk * p.heads * p.v);
	set_out(s, p.batch * p.nq * p.heads * p.v);
	p.q = s->in[0].at.at;
	p.k = s->in[1].at.at;
	p.values = s->in[2].at.at;
	p.o = s->out.at;
	p.lse = room(s->ops, p.batch * p.heads * p.nq);
	p.d_o = s->weight.at;
	p.dq = s->in[0].slope.at;
	p.dk = s->in[1].slope.at;
	p.dvalues = s->in[2].slope.at;
}

static void of_repeat(struct sloped *s)
{
	static struct op_repeat p;

	p = (struct op_repeat){.n = 77, .times = 5};
	s->op = &p;
	s->forward = by_repeat_forward;
	add_in(s, p.n);
	set_out(s, p.n * p.times);
	p.x = s->in[0].at.at;
	p.y = s->out.at;
	p.dy = s->weight.at;
	p.dx = s->in[0].slope.at;
}

static void of_queries(struct sloped *s)
{
	static const int32_t points[] = {3, 11, 0, 7, 7};
	enum { WIDTH = 13, ROWS = ARRAY_LEN(points), GRID = 12, EACH = 3 };
	static struct op_queries p;

	p = (struct op_queries){.width = WIDTH};
	s->op = &p;
	s->forward = by_queries_forward;
	for (size_t g = 0; g < OP_QUERY_GROUPS; g++) {
		struct op_query_group *q = &p.groups[g];

		*q = (struct op_query_group){.n = g == 2 ? 1 : ROWS, .ndim = g == 2 ? 0 : 1};
		q->bands = q->ndim > 0 ? 1 : 0;
		q->dim[0] = q->ndim > 0 ? GRID : 0;
		q->n_pad = 2 + g;
		q->n_fixed = WIDTH - q->n_pad - (q->ndim > 0 ? EACH : 0);
		q->point = q->ndim > 0 ? constant(s->ops, ROWS, points) : NULL;
		q->position[0] = q->ndim > 0 ? constant(s->ops, GRID * EACH, NULL) : NULL;
		add_in(s, q->n_fixed);
		add_in(s, q->n_pad);
		q->fixed = s->in[2 * g].at.at;
		q->pad = s->in[2 * g + 1].at.at;
		q->dfixed = s->in[2 * g].slope.at;
		q->dpad = s->in[2 * g + 1].slope.at;
	}
	set_out(s, WIDTH * (2 * ROWS + 1));
	p.y = s->out.at;
	p.dy = s->weight.at;
}

/* Targets lie beyond any value, on both sides, so that no error changes its sign. */
static void of_l1(struct sloped *s)
{
	enum { POINTS = 20, CHANNELS = 5, CLIP = POINTS * CHANNELS };
	static struct op_l1 p;
	float target[2 * CLIP];
	int32_t points[POINTS];

	for (size_t i = 0; i < ARRAY_LEN(target); i++)
		target[i] = i % 3 == 0 ? 9 : -9;
	for (size_t i = 0; i < POINTS; i++)
		points[i] = (int32_t)(i * 7 % POINTS);
	p = (struct op_l1){.batch = 2,
	                   .points = POINTS,
	                   .channels = CHANNELS,
	                   .plane = 1,
	                   .clip = CLIP,
	                   .factor = 1};
	s->op = &p;
	s->sums = true;
	s->forward = by_l1_forward;
	add_in(s, ARRAY_LEN(target));
	set_out(s, OP_L1_SUMS);
	p.x = s->in[0].at.at;
	p.target = constant(s->ops, ARRAY_LEN(target), target);
	p.point = constant(s->ops, POINTS, points);
	p.sums = s->out.at;
	p.dx = s->in[0].slope.at;
}

static void of_entropy(struct sloped *s)
{
	static const int32_t labels[] = {3, 40, 0, 12, 7};
	static struct op_entropy p;

	p = (struct op_entropy){.rows = ARRAY_LEN(labels), .width = 41, .factor = 1};
	s->op = &p;
	s->sums = true;
	s->forward = by_entropy_forward;
	add_in(s, p.rows * p.width);
	set_out(s, OP_ENTROPY_SUMS);
	p.x = s->in[0].at.at;
	p.label = constant(s->ops, p.rows, labels);
	p.sums = s->out.at;
	p.dx = s->in[0].slope.at;
}

/* ---- the cross attention: sounds in a row, pictures in a grid, a label ---- */

enum { CHANNELS = 24, ROWS_Q = 33, QK = 6, V = 10, BATCH = 2 };

static const struct {
	size_t n_data, ndim, dim[3], bands;
	bool masked;
} token_groups[OP_TOKEN_GROUPS] = {
	{4, 1, {37}, 3, true}, {6, 3, {2, 3, 5}, 2, false}, {6, 0, {0}, 0, true}};

static void place_group(struct sloped *s, size_t g, struct op_tokens *t)
{
	static const float masks[2 * 37] = {0, 1, 0, 0, 1, [40] = 1, [50] = 1, 1};
	size_t positions;

	*t = (struct op_tokens){.n = 1,
	                        .n_data = token_groups[g].n_data,
	                        .ndim = token_groups[g].ndim,
	                        .bands = token_groups[g].bands};
	positions = t->ndim * (1 + 2 * t->bands);
	for (size_t i = 0; i < t->ndim; i++) {
		t->dim[i] = token_groups[g].dim[i];
		t->n *= t->dim[i];
		t->position[i] = constant(s->ops, t->dim[i] * (1 + 2 * t->bands), NULL);
	}
	t->n_pad = CHANNELS - t->n_data - positions;
	t->data = constant(s->ops, BATCH * t->n * t->n_data, NULL);
	t->mask = token_groups[g].masked ? constant(s->ops, BATCH * t->n, masks) : NULL;
	add_in(s, t->n_pad);
	add_in(s, CHANNELS);
	t->pad = s->in[s->n_in - 2].at.at;
	t->dpad = s->in[s->n_in - 2].slope.at;
	t->mask_token = s->in[s->n_in - 1].at.at;
	t->dmask_token = s->in[s->n_in - 1].slope.at;
}

static void place_cross(struct sloped *s, struct op_cross *p, size_t heads)
{
	static const size_t n[] = {ROWS_Q * QK, CHANNELS, CHANNELS, QK * CHANNELS, V * CHANNELS, V};

	*p = (struct op_cross){.batch = BATCH,
	                       .heads = heads,
	                       .nq = ROWS_Q,
	                       .qk = QK,
	                       .v = V,
	                       .channels = CHANNELS,
	                       .dropout = {heads > 1 ? 0 : 0.3, 5, 0, NULL}};
	for (size_t i = 0; i < ARRAY_LEN(n); i++)
		add_in(s, n[i]);
	/* Scores of a size whose softmax a step of a hundredth bends little. */
	for (size_t i = 0; i < n[3]; i++)
		s->in[3].host[i] *= 0.2f;
	for (size_t g = 0; g < OP_TOKEN_GROUPS; g++)
		place_group(s, g, &p->groups[g]);
	set_out(s, BATCH * ROWS_Q * V);
	p->q = s->in[0].at.at;
	p->gain = s->in[1].at.at;
	p->shift = s->in[2].at.at;
	p->wk = s->in[3].at.at;
	p->wv = s->in[4].at.at;
	p->bv = s->in[5].at.at;
	p->bk = constant(s->ops, QK, NULL);
	p->context = s->out.at;
	p->dcontext = s->weight.at;
	p->dq = s->in[0].slope.at;
	p->dgain = s->in[1].slope.at;
	p->dshift = s->in[2].slope.at;
	p->dwk = s->in[3].slope.at;
	p->dwv = s->in[4].slope.at;
	p->dbv = s->in[5].slope.at;
	p->dbk = room(s->ops, QK);
	s->op = p;
	s->forward = by_cross_forward;
	p->state = s->ops->table->cross_state_new(s->ops, p);
}

static void of_cross_folded(struct sloped *s)
{
	static struct op_cross p;

	place_cross(s, &p, 1);
}

static void of_cross_plain(struct sloped *s)
{
	static struct op_cross p;

	place_cross(s, &p, 2);
}

/* ---- all of them ---- */

/* Each op's backward; of the cross attention there are two. */
#define CASE(op, set_up)                                                                           \
	{                                                                                          \
#op, by_##op, set_up                                                               \
	}
static const struct {
	const char *name;
	void (*backward)(struct ops *ops, const void *op);
	void (*set_up)(struct sloped *s);
} cases[] = {
	CASE(linear_backward, of_linear),       CASE(norm_backward, of_norm),
	CASE(gelu_backward, of_gelu),           CASE(linear_gelu_backward, of_linear_gelu),
	CASE(attention_backward, of_attention), CASE(cross_backward, of_cross_folded),
	CASE(cross_backward, of_cross_plain),   CASE(repeat_backward, of_repeat),
	CASE(queries_backward, of_queries),     CASE(l1_backward, of_l1),
	CASE(entropy_backward, of_entropy),
};

static void every_op_has_its_slope(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct ops gpu = open_gpu();
		struct sloped s = {
			.name = cases[i].name, .ops = &gpu, .backward = cases[i].backward};

		cases[i].set_up(&s);
		check_slopes(&s);
		if (cases[i].backward == by_cross_backward)
			gpu.table->cross_state_free(&gpu, ((struct op_cross *)s.op)->state);
		sloped_done(&s);
		rooms_done(&gpu);
		ops_done(&gpu);
		check_clean();
	}
}

/* The list of ops is the contract's. */
static void no_op_is_left_out(void)
{
#define NAME_OF(op, type) #op,
	static const char *const names[] = {EACH_OP(NAME_OF)};
	size_t backward = 0;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		size_t k = 0;

		if (strstr(names[i], "_backward") == NULL)
			continue;
		while (k < ARRAY_LEN(cases) && strcmp(cases[k].name, names[i]) != 0)
			k++;
		if (k == ARRAY_LEN(cases))
			test_fail(__FILE__, __LINE__, names[i]);
		backward++;
	}
	CHECK(backward + 1 == ARRAY_LEN(cases));
}

/* ---- whole networks ---- */

struct network {
	struct model_config config;
	struct clip_memory clips;
	struct learner *learner;
	struct tensors weights, gradients, moved;
};

/* In training: dropout, of the same masks each time, is a part of what is differentiated. */
static double loss_of(struct network *n, const struct tensors *weights, struct err *err)
{
	static const struct loss_weights w = {0.5, 1, 0.3};
	struct losses losses = {.total = (double)NAN};

	learner_begin(n->learner);
	if (learner_set(n->learner, LEARNER_WEIGHTS, weights, err) != 0)
		return (double)NAN;
	CHECK_OK(learner_accumulate(n->learner, &n->clips.b, &w, 1, &losses, err), err);
	return losses.total;
}

static void start(struct network *n, struct ops *gpu, uint64_t number)
{
	struct philox r = philox_start(31, STREAM_SYNTHETIC, number);
	struct optimizer_options o = train_options_default().optimizer;
	struct err err = {0};

	*n = (struct network){.config = random_config(&r)};
	n->config.num_frames = 1;
	n->config.num_latents = 3 + number % 8;
	n->config.image_height = n->config.image_width = 3 * n->config.spatial_downsample;
	n->config.audio_samples_per_frame = 9 * n->config.samples_per_patch;
	CHECK_OK(model_config_check(&n->config, &err), &err);
	n->clips = random_clips(&r, &n->config);
	n->learner = learner_new(&n->config, gpu, (struct recompute){false, 0});
	learner_prepare(n->learner, &o);
	tensors_like(learner_table(n->learner), NULL, NULL, &n->weights);
	tensors_like(learner_table(n->learner), NULL, NULL, &n->gradients);
	tensors_like(learner_table(n->learner), NULL, NULL, &n->moved);
	for (size_t i = 0; i < n->weights.n; i++)
		fill(n->weights.at[i].data, n->weights.at[i].n, 900 + i);
	for (size_t i = 0; i < n->weights.n_values; i++)
		n->weights.data[i] *= 0.3f;
}

static void finish(struct network *n)
{
	tensors_done(&n->weights);
	tensors_done(&n->gradients);
	tensors_done(&n->moved);
	learner_free(n->learner);
	free_clips(&n->clips);
}

/* The loss along a direction in which a whole tensor moves, or all of them where `only` is n. */
static double difference(struct network *n, size_t only, float step, double *ret_got,
                         struct err *err)
{
	double loss[2];

	for (size_t side = 0; side < 2; side++) {
		*ret_got = 0;
		for (size_t i = 0; i < n->weights.n; i++) {
			const struct tensor *w = &n->weights.at[i], *g = &n->gradients.at[i];
			struct philox r = philox_start(77, STREAM_SYNTHETIC, i);

			for (size_t k = 0; k < w->n; k++) {
				float u = only == n->weights.n || only == i
				                  ? (float)philox_normal(&r)
				                  : 0;

				*ret_got += (double)u * g->data[k];
				n->moved.at[i].data[k] =
					w->data[k] + (side == 0 ? step : -step) * u;
			}
		}
		loss[side] = loss_of(n, &n->moved, err);
	}
	return (loss[0] - loss[1]) / (2 * (double)step);
}

static double size_of(const struct network *n, size_t only)
{
	double size = 0;

	for (size_t i = 0; i < n->weights.n; i++)
		for (size_t k = 0; (only == n->weights.n || only == i) && k < n->weights.at[i].n;
		     k++)
			size += pow((double)n->gradients.at[i].data[k], 2);
	return sqrt(size);
}

/* The loss has kinks, where a value meets its target: a shorter step leaves out those nearby, and
 * shows more of how the loss is rounded. A gradient that is wrong is so by every step. */
static void check_tensor(struct network *n, size_t i)
{
	static const float steps[] = {2e-3f, 5e-4f, 1.25e-4f};
	struct err err = {0};
	double got = 0, want = 0, size = size_of(n, i);

	for (size_t k = 0; k < ARRAY_LEN(steps); k++) {
		want = difference(n, i, steps[k], &got, &err);
		if (fabs(got - want) <= 4e-7 / (double)steps[k] + 1e-2 * size)
			return;
	}
	printf("# %s: %g along a direction, difference %g (gradient %g)\n",
	       i < n->weights.n ? n->weights.at[i].name : "all", got, want, size);
	test_fail(__FILE__, __LINE__, "a gradient that is not one");
}

static void check_network(struct network *n, size_t every)
{
	struct err err = {0};

	(void)loss_of(n, &n->weights, &err);
	CHECK_OK(learner_get(n->learner, LEARNER_GRADIENTS, &n->gradients, &err), &err);
	for (size_t i = 0; i < n->weights.n; i += every)
		check_tensor(n, i);
	check_tensor(n, n->weights.n);
}

/* Some of the tensors of two networks, and all together; more of both where there is time for it. */
static void networks_have_their_slopes(void)
{
	bool long_run = getenv("SLIPWAY_TEST_LONG") != NULL;

	for (uint64_t number = 0; number < (long_run ? 12 : 2); number++) {
		struct ops gpu = open_gpu();
		struct network n;

		start(&n, &gpu, number);
		check_network(&n, long_run ? 1 : 11);
		finish(&n);
		ops_done(&gpu);
		check_clean();
	}
}

int main(void)
{
	load_standin();
	TEST("slopes: every op's derivative is that of what it computes", every_op_has_its_slope);
	TEST("slopes: no op of the contract is left out", no_op_is_left_out);
	TEST("slopes: a network's gradients are those of its loss", networks_have_their_slopes);
	return test_done();
}
