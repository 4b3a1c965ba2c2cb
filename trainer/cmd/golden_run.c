#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trainer/cmd/golden.h"

static int load_weights(const struct golden *g, struct model *m, struct err *err)
{
	if (st_read_set(&g->weights_file, "", model_params(m), err) != 0)
		return err_wrap(err, "%s/weights.safetensors", g->dir);
	return 0;
}

/* An item over memory that lives until the sink has taken it. */
static struct st_item item(const char *name, const float *data, size_t a, size_t b, size_t c)
{
	return (struct st_item){.name = name,
	                        .dtype = ST_F32,
	                        .ndim = c > 0 ? 3 : 2,
	                        .shape = {a, b, c},
	                        .data = data};
}

/* Gathers the targets at the batch's points, as the folder stores them. */
static void gather_targets(const struct golden *g, const struct batch *b, float *audio,
                           float *image)
{
	struct model_dims d = model_dims(&g->config);
	size_t patch = g->config.samples_per_patch;
	size_t plane = g->config.image_height * g->config.image_width;

	for (size_t clip = 0; clip < b->n; clip++) {
		for (size_t i = 0; i < b->n_out_audio; i++, audio += patch)
			memcpy(audio,
			       b->audio + clip * d.audio_samples + (size_t)b->out_audio[i] * patch,
			       patch * sizeof(float));
		for (size_t i = 0; i < b->n_out_image * 3; i++) {
			size_t index = (size_t)b->out_image[i / 3];

			*image++ = b->image[clip * 3 * d.n_pixels +
			                    (index / plane * 3 + i % 3) * plane + index % plane];
		}
	}
}

enum { FIXED_ACTS = 8 };
static const char *const acts[FIXED_ACTS] = {
	"act.preprocessed",        "act.cross_attention.context", "act.cross_attention.attn_out",
	"act.cross_attention.out", "act.decoder.query",           "act.decoder.attn_out",
	"act.decoder.cross_out",   "act.decoder.final",
};

static struct st_item act_item(const struct model *m, const char *name)
{
	struct activation a = {0};

	if (!model_activation(m, name, &a))
		BUG("no activation %s", name);
	return item(name, a.data, a.shape[0], a.shape[1], a.shape[2]);
}

static int take_outputs(const struct golden *g, struct model *m, const struct logits *l,
                        const struct golden_sink *sink, struct err *err)
{
	const struct batch *b = &g->batches[0];
	size_t layers = model_get_dims(m)->n_layers, n = 0;
	size_t samples = b->n_out_audio * g->config.samples_per_patch;
	AUTO_FREE struct st_item *items = mem_calloc(FIXED_ACTS + layers + 5, sizeof(items[0]));
	AUTO_FREE char *names = mem_calloc(layers, 64);
	AUTO_FREE float *audio = mem_calloc(b->n * samples, sizeof(float));
	AUTO_FREE float *image = mem_calloc(b->n * b->n_out_image * 3, sizeof(float));

	for (size_t i = 0; i < FIXED_ACTS; i++)
		items[n++] = act_item(m, acts[i]);
	for (size_t i = 0; i < layers; i++) {
		snprintf(names + i * 64, 64, "act.self_attends.%zu.out", i);
		items[n++] = act_item(m, names + i * 64);
	}
	gather_targets(g, b, audio, image);
	items[n++] = item("logits.audio", l->audio, b->n, samples, 0);
	items[n++] = item("logits.image", l->image, b->n, b->n_out_image, 3);
	items[n++] = item("logits.label", l->label, b->n, g->config.num_labels, 0);
	items[n++] = item("target.audio", audio, b->n, samples, 0);
	items[n++] = item("target.image", image, b->n, b->n_out_image, 3);
	return sink->take(sink->ctx, "outputs", items, n, err);
}

static int take_grads(struct model *m, const struct golden_sink *sink, struct err *err)
{
	AUTO_FREE struct st_item *items = st_items(model_grads(m), NULL);

	return sink->take(sink->ctx, "grads", items, model_grads(m)->n, err);
}

/* Parameters and optimizer state after a run. */
static int take_run(const struct golden_run *run, struct model *m, const struct optimizer *o,
                    const struct golden_sink *sink, struct err *err)
{
	size_t n = model_params(m)->n;
	bool adamw = run->options.kind == OPTIMIZER_ADAMW;
	AUTO_FREE struct st_item *p = st_items(model_params(m), NULL);
	AUTO_FREE struct st_item *first =
		st_items(&o->m, adamw ? "optim.exp_avg." : "optim.momentum_buffer.");
	AUTO_FREE struct st_item *second = adamw ? st_items(&o->v, "optim.exp_avg_sq.") : NULL;
	AUTO_FREE struct st_item *all = mem_calloc(3 * n, sizeof(all[0]));
	char file[64];

	memcpy(all, p, n * sizeof(all[0]));
	memcpy(all + n, first, n * sizeof(all[0]));
	if (adamw)
		memcpy(all + 2 * n, second, n * sizeof(all[0]));
	snprintf(file, sizeof(file), "after3.%s", run->name);
	return sink->take(sink->ctx, file, all, (adamw ? 3 : 2) * n, err);
}

static int run_one(const struct golden *g, size_t index, struct model *m, struct threads *threads,
                   const struct golden_sink *sink, struct golden_result *ret, struct err *err)
{
	const struct golden_run *run = &g->runs[index];
	struct optimizer o;
	struct logits logits;
	int rc = load_weights(g, m, err);

	if (rc != 0)
		return -1;
	optimizer_init(&o, &run->options, model_params(m));
	for (size_t step = 0; step < GOLDEN_STEPS; step++) {
		const struct batch *b = &g->batches[step];
		double norm;

		model_forward(m, b, &logits);
		model_loss(m, b, &g->weights, &ret->losses[index][step]);
		model_zero_grads(m);
		model_backward(m, b, &g->weights, 1);
		norm = ret->norms[index][step] = grads_norm(model_grads(m), threads);
		optimizer_step(&o, model_params(m), model_grads(m), run->options.lr,
		               clip_scale(norm, run->options.max_grad_norm), threads);
	}
	rc = take_run(run, m, &o, sink, err);
	optimizer_done(&o);
	return rc;
}

static int first_step(const struct golden *g, struct model *m, const struct golden_sink *sink,
                      struct err *err)
{
	const struct batch *b = &g->batches[0];
	struct logits logits;

	if (load_weights(g, m, err) != 0)
		return -1;
	model_keep_activations(m, true);
	model_forward(m, b, &logits);
	model_keep_activations(m, false);
	if (take_outputs(g, m, &logits, sink, err) != 0)
		return -1;
	model_zero_grads(m);
	model_backward(m, b, &g->weights, 1);
	return take_grads(m, sink, err);
}

/* Every output point of step 0's clips, all labels hidden. */
static int full_decode(const struct golden *g, struct model *m, const struct golden_sink *sink,
                       struct err *err)
{
	const struct model_dims *d = model_get_dims(m);
	struct batch b = g->batches[0];
	AUTO_FREE int32_t *points = mem_calloc(d->n_pixels + d->n_audio, sizeof(points[0]));
	AUTO_FREE float *hidden = mem_calloc(b.n, sizeof(hidden[0]));
	struct logits l;

	if (load_weights(g, m, err) != 0)
		return -1;
	for (size_t i = 0; i < d->n_pixels; i++)
		points[i] = (int32_t)i;
	for (size_t i = 0; i < d->n_audio; i++)
		points[d->n_pixels + i] = (int32_t)i;
	for (size_t i = 0; i < b.n; i++)
		hidden[i] = 1;
	b.mask_image = b.mask_audio = NULL;
	b.mask_label = hidden;
	b.out_image = points;
	b.n_out_image = d->n_pixels;
	b.out_audio = points + d->n_pixels;
	b.n_out_audio = d->n_audio;
	model_forward(m, &b, &l);
	struct st_item items[] = {item("logits.audio", l.audio, b.n, d->audio_samples, 0),
	                          item("logits.image", l.image, b.n, d->n_pixels, 3),
	                          item("logits.label", l.label, b.n, g->config.num_labels, 0)};
	return sink->take(sink->ctx, "eval", items, ARRAY_LEN(items), err);
}

int golden_run(const struct golden *g, struct model *m, struct threads *threads,
               const struct golden_sink *sink, struct golden_result *ret, struct err *err)
{
	if (first_step(g, m, sink, err) != 0)
		return -1;
	for (size_t i = 0; i < GOLDEN_RUNS; i++)
		if (run_one(g, i, m, threads, sink, ret, err) != 0)
			return -1;
	return full_decode(g, m, sink, err);
}
