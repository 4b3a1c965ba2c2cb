#include "trainer/neuron/engine_internal.h"

#include <stdlib.h>
#include <string.h>

void neuron_engine_begin(struct neuron_engine *e)
{
	e->fresh = true;
}

static int check_shape(const struct neuron_shape *s, const struct batch *b, struct err *err)
{
	if (b->n == s->batch && b->n_out_image == s->n_out_image &&
	    b->n_out_audio == s->n_out_audio)
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
	               "the compiled module trains on other batches: of %zu "
	               "clips, %zu pixels and %zu audio patches",
	               s->batch, s->n_out_image, s->n_out_audio);
}

int neuron_engine_stage(struct neuron_engine *e, const struct batch *b, struct err *err)
{
	struct engine_part *p = &e->parts[NEURON_STEP];
	struct engine_batch *kept = &e->staged[p->lane];

	if (check_shape(&p->net.shape, b, err) != 0)
		return -1;
	free(kept->label);
	*kept = (struct engine_batch){.n = b->n, .label = mem_calloc(b->n, sizeof(*kept->label))};
	memcpy(kept->label, b->label, b->n * sizeof(*kept->label));
	return engine_feed(e, p, b, NULL, 0, err);
}

int neuron_engine_start(struct neuron_engine *e, const struct loss_weights *w, double scale,
                        struct err *err)
{
	struct engine_part *p = &e->parts[NEURON_STEP];

	e->started = p->lane;
	if (engine_feed(e, p, NULL, w, scale, err) != 0 || engine_launch(e, p, err) != 0)
		return -1;
	e->fresh = false;
	return 0;
}

int neuron_engine_finish(struct neuron_engine *e, const struct loss_weights *w, struct losses *ret,
                         double *ret_squares, struct err *err)
{
	struct engine_part *p = &e->parts[NEURON_STEP];
	AUTO_FREE float *squares = NULL;

	if (neuron_job_wait(&e->job, err) != 0 ||
	    engine_losses(e, p, &e->staged[e->started], w, ret, err) != 0 ||
	    engine_fetch(e, p, NEURON_SQUARES, 0, &squares, err) != 0)
		return -1;
	*ret_squares = (double)*squares;
	return 0;
}

int neuron_engine_update(struct neuron_engine *e, const float rates[NEURON_RATES_N],
                         struct err *err)
{
	struct engine_part *p = &e->parts[NEURON_UPDATE];

	for (size_t i = 0; i < p->net.inputs.n; i++)
		if (p->net.inputs.at[i].kind == NEURON_RATES &&
		    engine_write(e, p->inputs[p->lane][i], rates, NEURON_RATES_N * sizeof(*rates),
		                 err) != 0)
			return -1;
	return engine_launch(e, p, err);
}
