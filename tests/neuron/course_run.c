#include "tests/neuron/course_run.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tests/neuron/module_run.h"

static size_t values_of(const struct execution *e, const struct neuron_value *v)
{
	return hlo_elements(hlo_shape_of(&e->net.graph, v->value));
}

size_t execution_values(const struct execution *e, size_t i)
{
	const struct neuron_value *v = &e->net.results.at[i];

	return v->kind == NEURON_LOSSES ? NEURON_LOSSES_N : values_of(e, v);
}

/* Room for each of n values; by the caller. */
static void **rooms(const struct execution *e, const struct neuron_value *at, size_t n)
{
	void **to = mem_calloc(n, sizeof(*to));

	for (size_t i = 0; i < n; i++)
		to[i] = mem_calloc(values_of(e, &at[i]), sizeof(float));
	return to;
}

static void free_rooms(void **rooms, size_t n)
{
	for (size_t i = 0; rooms != NULL && i < n; i++)
		free(rooms[i]);
	free(rooms);
}

void execution_more_replicas(struct execution *e)
{
	for (unsigned i = 0; i < e->replicas; i++) {
		if (e->inputs[i] != NULL)
			continue;
		e->inputs[i] = rooms(e, e->net.inputs.at, e->net.inputs.n);
		e->results[i] = rooms(e, e->net.results.at, e->net.results.n);
	}
}

void execution_open(struct execution *e)
{
	neuron_write(&e->net, e->name, &e->bytes, &e->text);
	if (!read_module(e->bytes.ptr, e->bytes.len, &e->module))
		printf("# %s\n", e->module.why);
	e->expected = mem_calloc(e->net.results.n, sizeof(*e->expected));
	execution_more_replicas(e);
}

void execution_done(struct execution *e)
{
	for (unsigned i = 0; i < COURSE_REPLICAS; i++) {
		free_rooms(e->inputs[i], e->net.inputs.n);
		free_rooms(e->results[i], e->net.results.n);
	}
	for (size_t i = 0; i < e->net.results.n; i++)
		free(e->expected[i]);
	free(e->expected);
	strbuf_done(&e->bytes);
	strbuf_done(&e->text);
	read_module_done(&e->module);
	neuron_net_done(&e->net);
}

/* ---- running ---------------------------------------------------------------------------------- */

/* What all have given to the sum that they are at, in the order of the replicas. */
struct meeting {
	pthread_barrier_t barrier;
	float *of[COURSE_REPLICAS];
	unsigned n;
};

struct replica {
	struct meeting *meeting;
	unsigned number;
	struct read_module module;
	struct execution *e;
	bool ok;
};

/* The first one sums in the order of the replicas, and gives the others the result. */
static void sum(void *ctx, float *values, size_t n)
{
	struct replica *me = ctx;
	struct meeting *all = me->meeting;

	all->of[me->number] = values;
	pthread_barrier_wait(&all->barrier);
	for (size_t i = 0; me->number == 0 && i < n; i++) {
		for (unsigned k = 1; k < all->n; k++)
			all->of[0][i] += all->of[k][i];
		for (unsigned k = 1; k < all->n; k++)
			all->of[k][i] = all->of[0][i];
	}
	pthread_barrier_wait(&all->barrier);
}

static void *run_replica(void *ctx)
{
	struct replica *me = ctx;

	me->ok = read_module(me->e->bytes.ptr, me->e->bytes.len, &me->module) &&
	         run_module(&me->module, (const void *const *)me->e->inputs[me->number],
	                    me->e->results[me->number], &(struct run_replicas){sum, me});
	return NULL;
}

static bool run_replicas(struct execution *e)
{
	struct meeting meeting = {.n = e->replicas};
	struct replica of[COURSE_REPLICAS];
	pthread_t threads[COURSE_REPLICAS];
	bool ok = true;

	pthread_barrier_init(&meeting.barrier, NULL, e->replicas);
	for (unsigned i = 0; i < e->replicas; i++) {
		of[i] = (struct replica){.meeting = &meeting, .number = i, .e = e};
		pthread_create(&threads[i], NULL, run_replica, &of[i]);
	}
	for (unsigned i = 0; i < e->replicas; i++) {
		pthread_join(threads[i], NULL);
		if (!of[i].ok)
			printf("# replica %u: %s\n", i, of[i].module.why);
		ok = ok && of[i].ok;
		read_module_done(&of[i].module);
	}
	pthread_barrier_destroy(&meeting.barrier);
	return ok;
}

bool execution_run(struct execution *e)
{
	if (e->module.why[0] != '\0')
		return false;
	if (e->replicas > 1)
		return run_replicas(e);
	if (run_module(&e->module, (const void *const *)e->inputs[0], e->results[0], NULL))
		return true;
	printf("# %s\n", e->module.why);
	return false;
}

/* ---- comparing -------------------------------------------------------------------------------- */

/* The mean of row `loss` over the clips of all replicas. */
static double mean_loss(const struct execution *e, size_t result, size_t loss)
{
	size_t clips = e->net.shape.batch;
	double sum_of = 0;

	for (unsigned r = 0; r < e->replicas; r++)
		for (size_t k = 0; k < clips; k++)
			sum_of += ((const float *)e->results[r][result])[loss * clips + k];
	return sum_of / (double)(clips * e->replicas);
}

static bool same_losses(const struct execution *e, size_t i)
{
	for (size_t k = 0; k < NEURON_LOSSES_N; k++) {
		double got = mean_loss(e, i, k), want = e->expected[i][k];

		if (fabs(got - want) <= 1e-5 * (1 + fabs(want)))
			continue;
		printf("# %s: loss %zu is %g, expected %g\n", e->name, k, got, want);
		return false;
	}
	return true;
}

static bool same_values(const struct execution *e, size_t i, unsigned replica)
{
	const struct neuron_value *v = &e->net.results.at[i];
	const float *got = e->results[replica][i], *want = e->expected[i];
	size_t n = execution_values(e, i);
	double largest = 0;

	for (size_t k = 0; k < n; k++)
		largest = fmax(largest, fabs((double)want[k]));
	for (size_t k = 0; k < n; k++) {
		if (fabs((double)got[k] - want[k]) <= 1e-5 + 2e-3 * largest)
			continue;
		printf("# %s: value %zu of kind %d, index %zu is %g, expected %g (largest %g)\n",
		       e->name, k, (int)v->kind, v->index, (double)got[k], (double)want[k],
		       largest);
		return false;
	}
	return true;
}

bool execution_is_the_cpus(const struct execution *e)
{
	for (size_t i = 0; i < e->net.results.n; i++) {
		if (e->expected[i] == NULL)
			continue;
		if (e->net.results.at[i].kind == NEURON_LOSSES) {
			if (!same_losses(e, i))
				return false;
			continue;
		}
		for (unsigned r = 0; r < e->replicas; r++)
			if (!same_values(e, i, r))
				return false;
	}
	return true;
}
