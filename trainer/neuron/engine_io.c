#include "trainer/neuron/engine_internal.h"

#include <stdlib.h>

bool engine_is_state(const struct neuron_value *v)
{
	return (int)v->kind < ENGINE_STATES;
}

bool engine_is_fed(const struct neuron_value *v)
{
	return !engine_is_state(v) && v->kind != NEURON_LATENTS;
}

size_t engine_bytes(const struct neuron_net *net, const struct neuron_value *v)
{
	return 4 * hlo_elements(hlo_shape_of(&net->graph, v->value));
}

int engine_allocate(const struct neuron_engine *e, size_t bytes, void **ret, struct err *err)
{
	int status = e->nrt->allocate(NRT_ON_DEVICE, e->place.core, bytes, "slipway", ret);

	return status == 0 ? 0 : nrt_failure(e->nrt, status, "nrt_tensor_allocate", err);
}

int engine_write(const struct neuron_engine *e, void *tensor, const void *from, size_t bytes,
                 struct err *err)
{
	int status = e->nrt->write(tensor, from, 0, bytes);

	return status == 0 ? 0 : nrt_failure(e->nrt, status, "nrt_tensor_write", err);
}

int engine_read(const struct neuron_engine *e, const void *tensor, void *to, size_t bytes,
                struct err *err)
{
	int status = e->nrt->read(tensor, to, 0, bytes);

	return status == 0 ? 0 : nrt_failure(e->nrt, status, "nrt_tensor_read", err);
}

int engine_copy(const struct neuron_engine *e, const void *from, void *to, size_t bytes,
                struct err *err)
{
	int status = e->nrt->copy(from, 0, to, 0, bytes);

	return status == 0 ? 0 : nrt_failure(e->nrt, status, "nrt_tensor_copy", err);
}

/* ---- a part's inputs and results ---- */

int engine_feed(const struct neuron_engine *e, const struct engine_part *p, const struct batch *b,
                const struct loss_weights *w, double scale, struct err *err)
{
	for (size_t i = 0; i < p->net.inputs.n; i++) {
		const struct neuron_value *v = &p->net.inputs.at[i];
		size_t bytes = engine_bytes(&p->net, v);
		AUTO_FREE void *values = NULL;

		if (engine_is_state(v) || !neuron_feeds(v->kind) ||
		    (b == NULL) != (v->kind == NEURON_LOSS_WEIGHTS))
			continue;
		values = mem_zalloc(bytes);
		neuron_feed(&p->net, v, b, w, scale, values);
		if (engine_write(e, p->inputs[p->lane][i], values, bytes, err) != 0)
			return -1;
	}
	return 0;
}

/* encode has one result. */
static void *latents_tensor(const struct neuron_engine *e)
{
	return e->parts[NEURON_ENCODE].results[0];
}

static void *input_tensor(const struct neuron_engine *e, const struct engine_part *p, size_t i)
{
	const struct neuron_value *v = &p->net.inputs.at[i];
	const struct engine_state *s;

	if (engine_is_fed(v))
		return p->inputs[p->lane][i];
	if (v->kind == NEURON_LATENTS)
		return latents_tensor(e);
	if (v->kind == NEURON_GRADIENT && e->fresh)
		return e->zero[v->index];
	s = &e->state[v->kind];
	return s->at[s->newer][v->index];
}

static void *result_tensor(const struct neuron_engine *e, const struct engine_part *p, size_t i)
{
	const struct neuron_value *v = &p->net.results.at[i];
	const struct engine_state *s;

	if (!engine_is_state(v))
		return p->results[i];
	s = &e->state[v->kind];
	return s->at[1 - s->newer][v->index];
}

/* What a module writes becomes the newer. */
static void change_places(struct neuron_engine *e, const struct engine_part *p)
{
	bool written[ENGINE_STATES] = {false};

	for (size_t i = 0; i < p->net.results.n; i++)
		if (engine_is_state(&p->net.results.at[i]))
			written[p->net.results.at[i].kind] = true;
	for (unsigned k = 0; k < ENGINE_STATES; k++)
		if (written[k])
			e->state[k].newer = 1 - e->state[k].newer;
}

int engine_launch(struct neuron_engine *e, struct engine_part *p, struct err *err)
{
	void **inputs, **results;

	if (neuron_job_wait(&e->job, err) != 0)
		return -1;
	inputs = mem_calloc(p->net.inputs.n, sizeof(void *));
	results = mem_calloc(p->net.results.n, sizeof(void *));
	for (size_t i = 0; i < p->net.inputs.n; i++)
		inputs[i] = input_tensor(e, p, i);
	for (size_t i = 0; i < p->net.results.n; i++)
		results[i] = result_tensor(e, p, i);
	neuron_job_start(&e->job, &p->x, inputs, results);
	change_places(e, p);
	p->lane = (p->lane + 1) % ENGINE_LANES;
	return 0;
}

int engine_fetch(const struct neuron_engine *e, const struct engine_part *p, enum neuron_kind kind,
                 size_t index, float **ret, struct err *err)
{
	for (size_t i = 0; i < p->net.results.n; i++) {
		const struct neuron_value *v = &p->net.results.at[i];

		if (v->kind != kind || v->index != index)
			continue;
		*ret = mem_zalloc(engine_bytes(&p->net, v));
		return engine_read(e, p->results[i], *ret, engine_bytes(&p->net, v), err);
	}
	BUG("a module without a result of kind %d", (int)kind);
}

/* ---- figures ---- */

/* The mean of a row of losses over the clips that count. */
static double mean_of(const float *rows, const struct engine_part *p, enum neuron_losses which,
                      size_t n)
{
	const float *row = rows + which * p->net.shape.batch;
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)row[i];
	return sum / (double)n;
}

static void count_hits(const struct engine_part *p, const struct engine_batch *b,
                       const float *logits, struct losses *ret)
{
	size_t width = p->net.config.num_labels;

	for (size_t i = 0; i < b->n; i++) {
		size_t rank = op_label_rank(logits + i * width, width, (size_t)b->label[i]);

		ret->label_hits += rank < 1;
		ret->label_hits5 += rank < OP_ENTROPY_TOP;
	}
}

int engine_losses(const struct neuron_engine *e, const struct engine_part *p,
                  const struct engine_batch *b, const struct loss_weights *w, struct losses *ret,
                  struct err *err)
{
	AUTO_FREE float *rows = NULL, *logits = NULL;

	if (engine_fetch(e, p, NEURON_LOSSES, 0, &rows, err) != 0)
		return -1;
	*ret = (struct losses){.image = mean_of(rows, p, NEURON_LOSS_IMAGE, b->n),
	                       .audio = mean_of(rows, p, NEURON_LOSS_AUDIO, b->n),
	                       .label = mean_of(rows, p, NEURON_LOSS_LABEL, b->n),
	                       .mse_image = mean_of(rows, p, NEURON_MSE_IMAGE, b->n),
	                       .mse_audio = mean_of(rows, p, NEURON_MSE_AUDIO, b->n),
	                       .power_audio = mean_of(rows, p, NEURON_POWER_AUDIO, b->n)};
	ret->total = w->image * ret->image + w->audio * ret->audio + w->label * ret->label;
	if (!p->net.shape.decode_label)
		return 0;
	if (engine_fetch(e, p, NEURON_LOGITS, LABEL, &logits, err) != 0)
		return -1;
	count_hits(p, b, logits, ret);
	return 0;
}
