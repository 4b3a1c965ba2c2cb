/*
 * The model's modules, read and run by an interpreter of our own (tests/neuron), beside the CPU's
 * ops. XLA's word on the same modules is tests/neuron/judge.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness.h"
#include "tests/neuron/module_run.h"
#include "tests/unit/random_model.h"
#include "trainer/hlo/gradient.h"
#include "trainer/hlo/module.h"
#include "trainer/neuron/feed.h"
#include "trainer/neuron/modules.h"

static const struct loss_weights weights = {0.5, 1, 0.3};

/* A module, what it is given, and what it gave. */
struct ran {
	struct neuron_net net;
	struct read_module module;
	void **inputs, **results;
};

static void *room(const struct neuron_net *n, const struct neuron_value *v)
{
	return mem_calloc(hlo_elements(hlo_shape_of(&n->graph, v->value)), sizeof(float));
}

static void read_net(struct ran *r, const char *name)
{
	struct strbuf bytes = {0};

	neuron_write(&r->net, name, &bytes, NULL);
	CHECK(read_module(bytes.ptr, bytes.len, &r->module));
	if (r->module.why[0] != '\0')
		printf("# %s\n", r->module.why);
	strbuf_done(&bytes);
	r->inputs = mem_calloc(r->net.inputs.n, sizeof(*r->inputs));
	r->results = mem_calloc(r->net.results.n, sizeof(*r->results));
	for (size_t i = 0; i < r->net.inputs.n; i++)
		r->inputs[i] = room(&r->net, &r->net.inputs.at[i]);
	for (size_t i = 0; i < r->net.results.n; i++)
		r->results[i] = room(&r->net, &r->net.results.at[i]);
}

static void done(struct ran *r)
{
	for (size_t i = 0; i < r->net.inputs.n; i++)
		free(r->inputs[i]);
	for (size_t i = 0; i < r->net.results.n; i++)
		free(r->results[i]);
	free(r->inputs);
	free(r->results);
	read_module_done(&r->module);
	neuron_net_done(&r->net);
}

static struct neuron_shape shape_of(const struct batch *b)
{
	return (struct neuron_shape){.batch = b->n,
	                             .n_out_image = b->n_out_image,
	                             .n_out_audio = b->n_out_audio,
	                             .decode_label = b->decode_label,
	                             .masked = b->mask_audio != NULL || b->mask_image != NULL ||
	                                       b->mask_label != NULL,
	                             .training = true,
	                             .replicas = 1};
}

static void fill(struct ran *r, const struct tensors *params, const struct batch *b, double scale)
{
	for (size_t i = 0; i < r->net.inputs.n; i++) {
		const struct neuron_value *v = &r->net.inputs.at[i];

		if (v->kind == NEURON_WEIGHT)
			memcpy(r->inputs[i], params->at[v->index].data,
			       params->at[v->index].n * sizeof(float));
		neuron_feed(&r->net, v, b, &weights, scale, r->inputs[i]);
	}
}

static bool run(struct ran *r, const struct run_replicas *replicas)
{
	if (run_module(&r->module, (const void *const *)r->inputs, r->results, replicas))
		return true;
	printf("# %s\n", r->module.why);
	return false;
}

static const float *result(const struct ran *r, enum neuron_kind kind, size_t index)
{
	for (size_t i = 0; i < r->net.results.n; i++)
		if (r->net.results.at[i].kind == kind && r->net.results.at[i].index == index)
			return r->results[i];
	return NULL;
}

/* ---- a step beside the CPU's ------------------------------------------------------------------ */

static bool close_values(const char *what, const float *got, const float *want, size_t n)
{
	double largest = 0;

	for (size_t i = 0; i < n; i++)
		largest = fmax(largest, fabs((double)want[i]));
	for (size_t i = 0; i < n; i++) {
		if (fabs((double)got[i] - want[i]) <= 1e-5 + 2e-3 * largest)
			continue;
		printf("# %s[%zu]: %g, expected %g (largest %g)\n", what, i, (double)got[i],
		       (double)want[i], largest);
		return false;
	}
	return true;
}

static bool same_gradients(const struct ran *r, struct tensors *want)
{
	for (size_t i = 0; i < want->n; i++)
		if (!close_values(want->at[i].name, result(r, NEURON_GRADIENT, i), want->at[i].data,
		                  want->at[i].n))
			return false;
	return true;
}

/* got: [NEURON_LOSSES_N, clips] */
static bool same_losses(const float *got, size_t clips, const struct losses *want)
{
	const double of[NEURON_LOSSES_N] = {
		[NEURON_LOSS_IMAGE] = want->image,    [NEURON_LOSS_AUDIO] = want->audio,
		[NEURON_LOSS_LABEL] = want->label,    [NEURON_MSE_IMAGE] = want->mse_image,
		[NEURON_MSE_AUDIO] = want->mse_audio, [NEURON_POWER_AUDIO] = want->power_audio};

	for (size_t i = 0; i < NEURON_LOSSES_N; i++) {
		double mean = 0;

		for (size_t k = 0; k < clips; k++)
			mean += (double)got[i * clips + k] / (double)clips;
		if (fabs(mean - of[i]) <= 1e-5 * (1 + fabs(of[i])))
			continue;
		printf("# loss %zu: %g, expected %g\n", i, mean, of[i]);
		return false;
	}
	return true;
}

static bool step_is_the_cpus(const struct model_config *c, const struct batch *b, struct ops *cpu)
{
	struct ran r = {0};
	struct losses losses;
	struct model *m = run_once(c, cpu, b, &losses);
	struct neuron_shape shape = shape_of(b);
	bool ok;

	neuron_step(&r.net, c, &shape);
	read_net(&r, "step");
	fill(&r, model_params(m), b, 1);
	ok = run(&r, NULL) && same_losses(result(&r, NEURON_LOSSES, 0), b->n, &losses) &&
	     same_gradients(&r, model_grads(m));
	done(&r);
	model_free(m);
	return ok;
}

static void steps_of_random_configurations(void)
{
	const size_t n = 50;
	struct ops cpu;

	CHECK(ops_open(&(struct ops_options){.n_threads = 2}, &cpu));
	for (size_t i = 0; i < n && test_state.ok; i++) {
		struct philox r = philox_start(2026, STREAM_SYNTHETIC, i);
		struct model_config c = random_config(&r);
		struct clip_memory m = random_clips(&r, &c);

		CHECK(step_is_the_cpus(&c, &m.b, &cpu));
		if (!test_state.ok)
			printf("# configuration %zu\n", i);
		free_clips(&m);
	}
	ops_done(&cpu);
}

/* ---- replicas --------------------------------------------------------------------------------- */

enum { REPLICAS = 2 };

/* What all have given to the sum that they are at, in the order of the replicas. */
struct meeting {
	pthread_barrier_t barrier;
	float *of[REPLICAS];
};

struct replica {
	struct meeting *meeting;
	size_t number;
	struct ran ran;
	bool ok;
};

static void sum(void *ctx, float *values, size_t n)
{
	struct replica *me = ctx;
	struct meeting *all = me->meeting;

	all->of[me->number] = values;
	pthread_barrier_wait(&all->barrier);
	if (me->number == 0)
		for (size_t i = 0; i < n; i++)
			all->of[0][i] = all->of[1][i] = all->of[0][i] + all->of[1][i];
	pthread_barrier_wait(&all->barrier);
}

static void *run_replica(void *ctx)
{
	struct replica *me = ctx;

	me->ok = run(&me->ran, &(struct run_replicas){sum, me});
	return NULL;
}

static struct batch clip_of(const struct batch *b, const struct model_config *c, size_t i,
                            const uint64_t *sample)
{
	struct model_dims d = model_dims(c);
	struct batch one = *b;

	one.n = 1;
	one.image += i * 3 * d.n_pixels;
	one.audio += i * d.audio_samples;
	one.label += i;
	one.mask_audio = one.mask_image = one.mask_label = NULL;
	one.dropout_sample = sample;
	return one;
}

static void replicas_sum_to_the_larger_batch(void)
{
	struct philox r = philox_start(4, STREAM_SYNTHETIC, 0);
	struct model_config c = random_config(&r);
	struct clip_memory clips = {0};
	struct ops cpu;
	struct losses losses;
	struct model *m;
	struct meeting meeting;
	struct replica of[REPLICAS] = {0};
	pthread_t threads[REPLICAS];
	const uint64_t samples[REPLICAS] = {0, 1};

	while (clips.b.n != REPLICAS) {
		free_clips(&clips);
		clips = random_clips(&r, &c);
	}
	clips.b.mask_audio = clips.b.mask_image = clips.b.mask_label = NULL;
	CHECK(ops_open(&(struct ops_options){.n_threads = 2}, &cpu));
	m = run_once(&c, &cpu, &clips.b, &losses);
	pthread_barrier_init(&meeting.barrier, NULL, REPLICAS);
	for (size_t i = 0; i < REPLICAS; i++) {
		struct batch one = clip_of(&clips.b, &c, i, &samples[i]);
		struct neuron_shape shape = shape_of(&one);

		shape.replicas = REPLICAS;
		of[i] = (struct replica){.meeting = &meeting, .number = i};
		neuron_step(&of[i].ran.net, &c, &shape);
		read_net(&of[i].ran, "step");
		fill(&of[i].ran, model_params(m), &one, 1.0 / REPLICAS);
	}
	for (size_t i = 0; i < REPLICAS; i++)
		pthread_create(&threads[i], NULL, run_replica, &of[i]);
	for (size_t i = 0; i < REPLICAS; i++) {
		pthread_join(threads[i], NULL);
		CHECK(of[i].ok);
	}
	for (size_t i = 0; i < REPLICAS; i++) {
		CHECK(same_gradients(&of[i].ran, model_grads(m)));
		done(&of[i].ran);
	}
	pthread_barrier_destroy(&meeting.barrier);
	model_free(m);
	ops_done(&cpu);
	free_clips(&clips);
}

/* ---- what a reader refuses -------------------------------------------------------------------- */

static struct strbuf tiny_module(struct hlo_graph *g)
{
	struct strbuf bytes = {0};
	unsigned x = hlo_parameter(g, &HLO_SHAPE(HLO_F32, 2, 3), "x"), y;
	struct hlo_module m = {.name = "tiny", .graph = g, .results = &y, .n = 1};

	y = hlo_reduce(g, HLO_SUM, hlo_with(g, HLO_MULTIPLY, x, 2), HLO_DIMS(1));
	hlo_encode(&m, &bytes);
	return bytes;
}

static void a_module_that_is_changed_is_refused_or_runs(void)
{
	struct hlo_graph g = {.replicas = 1};
	struct strbuf bytes = tiny_module(&g);
	float x[6] = {1, 2, 3, 4, 5, 6}, y[1024];
	const void *inputs[] = {x, x, x, x};
	void *results[] = {y, y, y, y};
	struct read_module m;
	size_t refused = 0;

	CHECK(read_module(bytes.ptr, bytes.len, &m));
	CHECK(run_module(&m, inputs, results, NULL));
	CHECK(y[0] == 12 && y[1] == 30);
	read_module_done(&m);
	for (size_t i = 0; i < bytes.len; i++) {
		refused += !read_module(bytes.ptr, i, &m);
		read_module_done(&m);
	}
	CHECK(refused == bytes.len);
	strbuf_done(&bytes);
	hlo_graph_done(&g);
}

static void the_same_network_gives_the_same_bytes(void)
{
	struct model_config c = model_config_tiny();
	struct neuron_shape shape = {
		.batch = 1, .n_out_image = 4, .n_out_audio = 4, .training = true, .replicas = 1};
	struct strbuf bytes[2] = {{0}}, text[2] = {{0}};

	for (int i = 0; i < 2; i++) {
		struct neuron_net n;

		neuron_step(&n, &c, &shape);
		neuron_write(&n, "step", &bytes[i], &text[i]);
		neuron_net_done(&n);
	}
	CHECK(bytes[0].len == bytes[1].len &&
	      memcmp(bytes[0].ptr, bytes[1].ptr, bytes[0].len) == 0);
	CHECK(strcmp(strbuf_str(&text[0]), strbuf_str(&text[1])) == 0);
	for (int i = 0; i < 2; i++) {
		strbuf_done(&bytes[i]);
		strbuf_done(&text[i]);
	}
}

int main(void)
{
	TEST("neuron: steps of random configurations are the CPU's",
	     steps_of_random_configurations);
	TEST("neuron: replicas sum to the larger batch", replicas_sum_to_the_larger_batch);
	TEST("neuron: a module cut short is refused", a_module_that_is_changed_is_refused_or_runs);
	TEST("neuron: the same network gives the same bytes",
	     the_same_network_gives_the_same_bytes);
	return test_done();
}
