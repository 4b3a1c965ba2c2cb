#include "trainer/neuron/engine_internal.h"

#include <stdlib.h>

#include "base/fs.h"

enum { NEFF_MAX = 1 << 30 };

/* ---- loading ---- */

/* One of each tensor of the table, zeroed where they are state that a module reads first. */
static int new_set(const struct neuron_engine *e, bool zeroed, void ***ret, struct err *err)
{
	const struct tensors *table = e->table;

	*ret = mem_calloc(table->n, sizeof(**ret));
	for (size_t i = 0; i < table->n; i++) {
		size_t bytes = table->at[i].n * sizeof(float);
		AUTO_FREE void *zeros = zeroed ? mem_zalloc(bytes) : NULL;

		if (engine_allocate(e, bytes, &(*ret)[i], err) != 0 ||
		    (zeroed && engine_write(e, (*ret)[i], zeros, bytes, err) != 0))
			return -1;
	}
	return 0;
}

/* What a run has of a kind. */
static unsigned sets_of(const struct neuron_engine *e, const struct neuron_run *run,
                        enum neuron_kind kind)
{
	bool updates = e->parts[NEURON_UPDATE].loaded;

	switch (kind) {
	case NEURON_WEIGHT:
		return updates ? 2 : 1;
	case NEURON_MOMENT2:
		return updates && run->optimizer.kind == OPTIMIZER_ADAMW ? 2 : 0;
	case NEURON_AVERAGE:
		return updates && run->optimizer.ema_decay > 0 ? 2 : 0;
	default:
		return updates ? 2 : 0;
	}
}

static int new_states(struct neuron_engine *e, const struct neuron_run *run, struct err *err)
{
	for (unsigned k = 0; k < ENGINE_STATES; k++)
		for (unsigned i = 0; i < sets_of(e, run, k); i++)
			if (new_set(e, i == 0, &e->state[k].at[i], err) != 0)
				return -1;
	return e->parts[NEURON_STEP].loaded ? new_set(e, true, &e->zero, err) : 0;
}

/* What never changes is written once, into every lane. */
static int write_constant(const struct neuron_engine *e, const struct engine_part *p, size_t i,
                          struct err *err)
{
	const struct neuron_value *v = &p->net.inputs.at[i];
	size_t bytes = engine_bytes(&p->net, v);
	AUTO_FREE void *values = mem_zalloc(bytes);

	neuron_feed(&p->net, v, NULL, NULL, 0, values);
	for (unsigned k = 0; k < ENGINE_LANES; k++)
		if (engine_write(e, p->inputs[k][i], values, bytes, err) != 0)
			return -1;
	return 0;
}

static int new_inputs(const struct neuron_engine *e, struct engine_part *p, struct err *err)
{
	const struct neuron_net *n = &p->net;

	for (unsigned k = 0; k < ENGINE_LANES; k++)
		p->inputs[k] = mem_calloc(n->inputs.n, sizeof(void *));
	for (size_t i = 0; i < n->inputs.n; i++) {
		const struct neuron_value *v = &n->inputs.at[i];

		for (unsigned k = 0; k < ENGINE_LANES && engine_is_fed(v); k++)
			if (engine_allocate(e, engine_bytes(n, v), &p->inputs[k][i], err) != 0)
				return -1;
		if (neuron_is_constant(v->kind) && write_constant(e, p, i, err) != 0)
			return -1;
	}
	return 0;
}

static int new_results(const struct neuron_engine *e, struct engine_part *p, struct err *err)
{
	const struct neuron_net *n = &p->net;

	p->results = mem_calloc(n->results.n, sizeof(void *));
	for (size_t i = 0; i < n->results.n; i++)
		if (!engine_is_state(&n->results.at[i]) &&
		    engine_allocate(e, engine_bytes(n, &n->results.at[i]), &p->results[i], err) !=
		            0)
			return -1;
	return 0;
}

static int load_part(struct neuron_engine *e, const struct neuron_run *run,
                     enum neuron_module which, const char *neff, struct err *err)
{
	struct engine_part *p = &e->parts[which];
	AUTO(strbuf) struct strbuf bytes = STRBUF_INIT(NEFF_MAX);

	neuron_module_build(run, which, &p->net);
	p->loaded = true;
	e->table = &p->net.table;
	if (fs_read_file(neff, NEFF_MAX, &bytes, err) != 0)
		return -1;
	if (neuron_executable_load(e->nrt, bytes.ptr, bytes.len, &p->net, &e->place, &p->x, err) !=
	    0)
		return err_wrap(err, "%s", neff);
	return new_inputs(e, p, err) == 0 ? new_results(e, p, err) : -1;
}

int neuron_engine_new(const struct nrt *nrt, const struct neuron_run *run,
                      const struct neuron_place *place, const char *const neffs[NEURON_MODULES],
                      struct neuron_engine **ret, struct err *err)
{
	struct neuron_engine *e = mem_zalloc(sizeof(*e));
	int rc = 0;

	e->nrt = nrt;
	e->place = *place;
	for (enum neuron_module m = 0; m < NEURON_MODULES && rc == 0; m++)
		if (neffs[m] != NULL)
			rc = load_part(e, run, m, neffs[m], err);
	if (e->parts[NEURON_DECODE].loaded && !e->parts[NEURON_ENCODE].loaded)
		BUG("an engine that decodes, and does not encode");
	if (rc == 0)
		rc = new_states(e, run, err);
	if (rc == 0)
		*ret = e;
	else
		neuron_engine_free(e);
	return rc;
}

/* ---- giving back ---- */

static void free_tensors(const struct neuron_engine *e, void **tensors, size_t n)
{
	for (size_t i = 0; tensors != NULL && i < n; i++)
		if (tensors[i] != NULL)
			e->nrt->tensor_free(&tensors[i]);
	free(tensors);
}

static void free_part(struct neuron_engine *e, struct engine_part *p)
{
	for (unsigned k = 0; k < ENGINE_LANES; k++)
		free_tensors(e, p->inputs[k], p->net.inputs.n);
	free_tensors(e, p->results, p->net.results.n);
	neuron_executable_done(&p->x);
	neuron_net_done(&p->net);
}

void neuron_engine_free(struct neuron_engine *e)
{
	size_t n = e != NULL && e->table != NULL ? e->table->n : 0;
	struct err ignored = {0};

	if (e == NULL)
		return;
	(void)!neuron_job_wait(&e->job, &ignored);
	for (unsigned k = 0; k < ENGINE_STATES; k++) {
		free_tensors(e, e->state[k].at[0], n);
		free_tensors(e, e->state[k].at[1], n);
		free_tensors(e, e->state[k].kept, n);
	}
	free_tensors(e, e->zero, n);
	for (unsigned k = 0; k < ENGINE_LANES; k++)
		free(e->staged[k].label);
	for (enum neuron_module m = 0; m < NEURON_MODULES; m++)
		if (e->parts[m].loaded)
			free_part(e, &e->parts[m]);
	free(e);
}

/* ---- state ---- */

int neuron_engine_write(struct neuron_engine *e, enum neuron_kind kind, size_t tensor,
                        const float *from, size_t n, struct err *err)
{
	const struct engine_state *s = &e->state[kind];

	if (neuron_job_wait(&e->job, err) != 0)
		return -1;
	return engine_write(e, s->at[s->newer][tensor], from, n * sizeof(float), err);
}

int neuron_engine_read(struct neuron_engine *e, enum neuron_kind kind, size_t tensor, float *to,
                       size_t n, struct err *err)
{
	const struct engine_state *s = &e->state[kind];

	if (neuron_job_wait(&e->job, err) != 0)
		return -1;
	return engine_read(e, s->at[s->newer][tensor], to, n * sizeof(float), err);
}

/* Copied aside, or back. */
static int copy_state(struct neuron_engine *e, struct engine_state *s, bool back, struct err *err)
{
	if (s->kept == NULL && new_set(e, false, &s->kept, err) != 0)
		return -1;
	for (size_t i = 0; i < e->table->n; i++) {
		void *now = s->at[s->newer][i];

		if (engine_copy(e, back ? s->kept[i] : now, back ? now : s->kept[i],
		                e->table->at[i].n * sizeof(float), err) != 0)
			return -1;
	}
	return 0;
}

static int copy_states(struct neuron_engine *e, bool back, struct err *err)
{
	if (neuron_job_wait(&e->job, err) != 0)
		return -1;
	for (unsigned k = 0; k < ENGINE_STATES; k++)
		if (k != NEURON_GRADIENT && e->state[k].at[0] != NULL &&
		    copy_state(e, &e->state[k], back, err) != 0)
			return -1;
	return 0;
}

int neuron_engine_keep(struct neuron_engine *e, struct err *err)
{
	return copy_states(e, false, err);
}

int neuron_engine_go_back(struct neuron_engine *e, struct err *err)
{
	return copy_states(e, true, err);
}

int neuron_engine_exchange(struct neuron_engine *e, struct err *err)
{
	struct engine_state *w = &e->state[NEURON_WEIGHT], *a = &e->state[NEURON_AVERAGE];
	void **weights = w->at[w->newer];

	if (neuron_job_wait(&e->job, err) != 0)
		return -1;
	w->at[w->newer] = a->at[a->newer];
	a->at[a->newer] = weights;
	return 0;
}
