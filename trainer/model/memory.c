#include "trainer/model/memory.h"

#include "trainer/model/graph.h"

/* PROGRAM: measured, of models from 0.1 to 20 million parameters. */
enum { SCRATCH_PER_THREAD = 4 << 20, PROGRAM = 10 << 20, LANES = 32 };

/* cross_folded.c keeps per clip a few arrays of latents x channels and of tokens; the plain form,
 * for several heads, keys, values and their derivatives of every token. */
static double cross_state(const struct model_config *c, const struct model_dims *d, double batch)
{
	double latents = (double)(c->num_latents + LANES), channels = (double)d->channels;
	double tokens = (double)d->n_tokens;
	double folded = 3 * latents * channels +
	                batch * (2 * latents * channels + 4 * tokens + 12 * latents);
	double plain =
		batch * tokens * (4 * channels + 2 * (double)d->enc_qk + 2 * (double)d->enc_v + 2);

	return sizeof(float) * (c->num_cross_attention_heads == 1 ? folded : plain);
}

static size_t count_params(const struct model_config *c)
{
	struct tensors table = {0};
	struct params ids = {0};
	size_t n;

	params_build(c, &table, &ids);
	n = table.n_values;
	params_done(&ids);
	tensors_done(&table);
	return n;
}

struct model_memory model_memory(const struct model_config *c, const struct memory_use *use)
{
	struct model_dims d = model_dims(c);
	/* Activations are held for the largest batch. */
	size_t batch = use->eval_batch > use->batch ? use->eval_batch : use->batch;
	struct model_workspace_bytes w = workspace_measure(c, use->recompute, batch, use->points);
	double params = sizeof(float) * (double)count_params(c), moments = (double)use->moments;
	double clip = sizeof(float) * (3 * (double)d.n_pixels + (double)d.audio_samples);
	struct model_memory m = {
		.bytes = {[MEMORY_WEIGHTS] = 2 * params,
	                  [MEMORY_OPTIMIZER] = moments * params,
	                  [MEMORY_COPIES] = 2 * (1 + moments) * params,
	                  [MEMORY_ENCODER] = (double)w.encoder,
	                  [MEMORY_DECODER] = (double)w.decoder,
	                  [MEMORY_CROSS] = cross_state(c, &d, (double)batch),
	                  [MEMORY_CLIPS] = (double)use->ahead *
	                                   ((double)use->batch + (double)use->eval_batch) * clip,
	                  [MEMORY_SCRATCH] = (double)use->threads * SCRATCH_PER_THREAD,
	                  [MEMORY_PROGRAM] = PROGRAM}};

	for (size_t i = 0; i < MEMORY_PARTS; i++)
		m.total += m.bytes[i];
	return m;
}
