#include "trainer/neuron/executable.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number at the end of a name, or `turn`. */
static size_t number_of(const char *name, size_t turn)
{
	size_t end = strnlen(name, 256), at = end;

	while (at > 0 && isdigit((unsigned char)name[at - 1]))
		at--;
	return at < end && end - at < 9 ? (size_t)strtoul(name + at, NULL, 10) : turn;
}

/* The places of one side's names. */
struct neff_side {
	const struct neuron_net *net;
	const struct neuron_value *values;
	size_t n;
	char (*names)[256];
	const char *what;
};

static int place_tensor(struct neff_side *s, const struct nrt_tensor_info *t, size_t turn,
                        struct err *err)
{
	size_t i = number_of(t->name, turn), bytes;

	if (i >= s->n || s->names[i][0] != '\0')
		return err_set(err, ERR_FORMAT, "the NEFF has a %s %.100s that the module has not",
		               s->what, t->name);
	bytes = 4 * hlo_elements(hlo_shape_of(&s->net->graph, s->values[i].value));
	if (t->size != bytes)
		return err_set(err, ERR_FORMAT,
		               "the NEFF's %s %.100s has %zu bytes, the module's %zu", s->what,
		               t->name, t->size, bytes);
	snprintf(s->names[i], sizeof(s->names[i]), "%.255s", t->name);
	return 0;
}

static int check_all(const struct neff_side *s, struct err *err)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->names[i][0] == '\0')
			return err_set(err, ERR_FORMAT, "the NEFF lacks %s %zu of %zu", s->what, i,
			               s->n);
	return 0;
}

static int place_all(struct neuron_executable *x, const struct neuron_net *net,
                     const struct nrt_tensor_info_array *info, struct err *err)
{
	struct neff_side sides[] = {
		[NRT_INPUT] = {net, net->inputs.at, net->inputs.n, x->inputs, "input"},
		[NRT_OUTPUT] = {net, net->results.at, net->results.n, x->results, "result"}};
	size_t turns[2] = {0, 0};

	for (uint64_t i = 0; i < info->n; i++) {
		int usage = info->at[i].usage;

		if (usage != NRT_INPUT && usage != NRT_OUTPUT)
			continue;
		if (place_tensor(&sides[usage], &info->at[i], turns[usage]++, err) != 0)
			return -1;
	}
	return check_all(&sides[NRT_INPUT], err) == 0 ? check_all(&sides[NRT_OUTPUT], err) : -1;
}

static int find_tensors(struct neuron_executable *x, const struct neuron_net *net, struct err *err)
{
	struct nrt_tensor_info_array *info = NULL;
	int status = x->nrt->info(x->model, &info), rc;

	if (status != 0)
		return nrt_failure(x->nrt, status, "nrt_get_model_tensor_info", err);
	rc = place_all(x, net, info, err);
	(void)x->nrt->info_free(info);
	return rc;
}

int neuron_executable_load(const struct nrt *nrt, const void *neff, size_t n,
                           const struct neuron_net *net, const struct neuron_place *place,
                           struct neuron_executable *ret, struct err *err)
{
	struct neuron_executable x = {
		.nrt = nrt, .n_inputs = net->inputs.n, .n_results = net->results.n};
	bool alone = net->graph.replicas <= 1;
	int status = alone ? nrt->load(neff, n, place->core, -1, &x.model)
	                   : nrt->load_collectives(neff, n, place->core, -1, place->rank,
	                                           place->ranks, &x.model);

	if (status != 0)
		return nrt_failure(nrt, status, alone ? "nrt_load" : "nrt_load_collectives", err);
	x.inputs = mem_calloc(x.n_inputs, sizeof(*x.inputs));
	x.results = mem_calloc(x.n_results, sizeof(*x.results));
	if (find_tensors(&x, net, err) != 0) {
		neuron_executable_done(&x);
		return -1;
	}
	*ret = x;
	return 0;
}

void neuron_executable_done(struct neuron_executable *x)
{
	if (x->model != NULL)
		(void)x->nrt->unload(x->model);
	free(x->inputs);
	free(x->results);
	*x = (struct neuron_executable){0};
}

static int fill_set(const struct nrt *nrt, char (*names)[256], void *const *tensors, size_t n,
                    void **ret, struct err *err)
{
	int status = nrt->set_new(ret);

	if (status != 0)
		return nrt_failure(nrt, status, "nrt_allocate_tensor_set", err);
	for (size_t i = 0; i < n; i++) {
		status = nrt->set_add(*ret, names[i], tensors[i]);
		if (status != 0)
			return nrt_failure(nrt, status, "nrt_add_tensor_to_tensor_set", err);
	}
	return 0;
}

static int run_sets(const struct neuron_executable *x, void *const *inputs, void *const *results,
                    void *sets[2], struct err *err)
{
	int status;

	if (fill_set(x->nrt, x->inputs, inputs, x->n_inputs, &sets[0], err) != 0 ||
	    fill_set(x->nrt, x->results, results, x->n_results, &sets[1], err) != 0)
		return -1;
	status = x->nrt->execute(x->model, sets[0], sets[1]);
	return status == 0 || status == NRT_NUMERIC
	               ? 0
	               : nrt_failure(x->nrt, status, "nrt_execute", err);
}

int neuron_executable_run(const struct neuron_executable *x, void *const *inputs,
                          void *const *results, struct err *err)
{
	void *sets[2] = {NULL, NULL};
	int rc = run_sets(x, inputs, results, sets, err);

	for (size_t i = 0; i < 2; i++)
		if (sets[i] != NULL)
			x->nrt->set_free(&sets[i]);
	return rc;
}
