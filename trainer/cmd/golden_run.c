#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trainer/cmd/golden.h"
#include "trainer/train/learner.h"
#include "trainer/train/loss_scale.h"
#include "trainer/train/optimizer.h"

/* A set like the learner's, in ordinary memory; tensors_done. */
static struct tensors host_set(const struct learner *l)
{
	struct tensors set;

	tensors_like(learner_table(l), NULL, NULL, &set);
	return set;
}

/* A learner with the folder's weights; learner_free. */
static int start(const struct golden *g, struct ops *ops, struct learner **ret, struct err *err)
{
	struct learner *l = learner_new(&g->config, ops, (struct recompute){0});
	struct tensors weights = host_set(l);
	int rc = st_read_set(&g->weights_file, "", &weights, err);

	if (rc != 0)
		err_wrap(err, "%s/weights.safetensors", g->dir);
	if (rc == 0)
		rc = learner_set(l, LEARNER_WEIGHTS, &weights, err);
	tensors_done(&weights);
	if (rc == 0)
		*ret = l;
	else
		learner_free(l);
	return rc;
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

enum { FIXED_ACTS = 8, NAME_MAX_ACT = 64 };
static const char *const acts[FIXED_ACTS] = {
	"act.preprocessed",        "act.cross_attention.context", "act.cross_attention.attn_out",
	"act.cross_attention.out", "act.decoder.query",           "act.decoder.attn_out",
	"act.decoder.cross_out",   "act.decoder.final",
};

static struct st_item act_item(struct learner *l, const char *name)
{
	struct activation a = {0};

	if (!model_activation(learner_model(l), name, &a))
		BUG("no activation %s", name);
	return item(name, a.data, a.shape[0], a.shape[1], a.shape[2]);
}

/* The activations of the last forward pass, whose memory the caller frees; returns their number. */
static size_t take_activations(struct learner *l, char *names, struct st_item *items)
{
	size_t layers = learner_dims(l)->n_layers, n = 0;

	for (size_t i = 0; i < FIXED_ACTS; i++)
		items[n++] = act_item(l, acts[i]);
	for (size_t i = 0; i < layers; i++) {
		snprintf(names + i * NAME_MAX_ACT, NAME_MAX_ACT, "act.self_attends.%zu.out", i);
		items[n++] = act_item(l, names + i * NAME_MAX_ACT);
	}
	return n;
}

static int take_outputs(const struct golden *g, struct learner *l, const struct logits *logits,
                        const struct golden_sink *sink, struct err *err)
{
	const struct batch *b = &g->batches[0];
	size_t layers = learner_dims(l)->n_layers, n, n_acts;
	size_t samples = b->n_out_audio * g->config.samples_per_patch;
	AUTO_FREE struct st_item *items = mem_calloc(FIXED_ACTS + layers + 5, sizeof(items[0]));
	AUTO_FREE char *names = mem_calloc(layers, NAME_MAX_ACT);
	AUTO_FREE float *audio = mem_calloc(b->n * samples, sizeof(float));
	AUTO_FREE float *image = mem_calloc(b->n * b->n_out_image * 3, sizeof(float));
	int rc;

	n = n_acts = take_activations(l, names, items);
	gather_targets(g, b, audio, image);
	items[n++] = item("logits.audio", logits->audio, b->n, samples, 0);
	items[n++] = item("logits.image", logits->image, b->n, b->n_out_image, 3);
	items[n++] = item("logits.label", logits->label, b->n, g->config.num_labels, 0);
	items[n++] = item("target.audio", audio, b->n, samples, 0);
	items[n++] = item("target.image", image, b->n, b->n_out_image, 3);
	rc = sink->take(sink->ctx, "outputs", items, n, err);
	for (size_t i = 0; i < n_acts; i++)
		free((void *)(uintptr_t)items[i].data);
	return rc;
}

static int take_grads(struct learner *l, double scale, const struct golden_sink *sink,
                      struct err *err)
{
	struct tensors grads = host_set(l);
	AUTO_FREE struct st_item *items = st_items(&grads, NULL);
	int rc = learner_get(l, LEARNER_GRADIENTS, &grads, err);

	for (size_t i = 0; rc == 0 && i < grads.n_values; i++)
		grads.data[i] /= (float)scale;
	if (rc == 0)
		rc = sink->take(sink->ctx, "grads", items, grads.n, err);
	tensors_done(&grads);
	return rc;
}

/* What a run leaves, by optimizer: the sets and what their tensors are called. */
static const struct {
	enum learner_set set;
	const char *prefix[2]; /* SGD, AdamW */
} left[] = {
	{LEARNER_WEIGHTS, {NULL, NULL}},
	{LEARNER_MOMENT1, {"optim.momentum_buffer.", "optim.exp_avg."}},
	{LEARNER_MOMENT2, {NULL, "optim.exp_avg_sq."}},
};
enum { LEFT = ARRAY_LEN(left) };

/* Parameters and optimizer state after a run. */
static int take_run(const struct golden_run *run, struct learner *l, const struct golden_sink *sink,
                    struct err *err)
{
	size_t each = learner_table(l)->n, n = 0;
	AUTO_FREE struct st_item *all = mem_calloc(LEFT * each, sizeof(all[0]));
	struct tensors sets[LEFT] = {{0}};
	char file[64];
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < LEFT && learner_has(l, left[i].set); i++) {
		AUTO_FREE struct st_item *items = NULL;

		sets[i] = host_set(l);
		items = st_items(&sets[i], left[i].prefix[run->options.kind == OPTIMIZER_ADAMW]);
		rc = learner_get(l, left[i].set, &sets[i], err);
		memcpy(all + n, items, each * sizeof(all[0]));
		n += each;
	}
	snprintf(file, sizeof(file), "after3.%s", run->name);
	if (rc == 0)
		rc = sink->take(sink->ctx, file, all, n, err);
	for (size_t i = 0; i < LEFT; i++)
		tensors_done(&sets[i]);
	return rc;
}

/* Of a step: times *ret_scale, as large as it may be; their norm is of the loss unscaled. */
static int gradients(const struct golden *g, size_t step, struct learner *l, double *ret_scale,
                     struct losses *ret_losses, double *ret_norm, struct err *err)
{
	enum op_precision precision = learner_precision(l);
	struct loss_scale scale = {0};

	do {
		*ret_scale = loss_scale_of(&scale, precision);
		learner_begin(l);
		if (learner_accumulate(l, &g->batches[step], &g->weights, *ret_scale, ret_losses,
		                       err) != 0 ||
		    learner_norm(l, ret_norm, err) != 0)
			return -1;
	} while (!isfinite(*ret_norm) && loss_scale_lower(&scale, precision));
	*ret_norm /= *ret_scale;
	return 0;
}

static int one_step(const struct golden *g, const struct golden_run *run, size_t step,
                    struct learner *l, struct losses *ret_losses, double *ret_norm, struct err *err)
{
	const struct optimizer_options *o = &run->options;

	double scale;

	if (gradients(g, step, l, &scale, ret_losses, ret_norm, err) != 0)
		return -1;
	return learner_apply(l, o->lr, clip_scale(*ret_norm, o->max_grad_norm) / scale, err);
}

static int run_one(const struct golden *g, size_t index, struct ops *ops,
                   const struct golden_sink *sink, struct golden_result *ret, struct err *err)
{
	const struct golden_run *run = &g->runs[index];
	struct learner *l;
	int rc = 0;

	if (start(g, ops, &l, err) != 0)
		return -1;
	learner_prepare(l, &run->options);
	for (size_t step = 0; rc == 0 && step < GOLDEN_STEPS; step++)
		rc = one_step(g, run, step, l, &ret->losses[index][step], &ret->norms[index][step],
		              err);
	if (rc == 0)
		rc = take_run(run, l, sink, err);
	learner_free(l);
	return rc;
}

static int see_first_step(const struct golden *g, struct learner *l, const struct golden_sink *sink,
                          struct err *err)
{
	const struct batch *b = &g->batches[0];
	struct losses losses;
	struct logits logits;
	double scale, norm;

	model_keep_activations(learner_model(l), true);
	if (learner_forward(l, b, &logits, err) != 0 || take_outputs(g, l, &logits, sink, err) != 0)
		return -1;
	model_keep_activations(learner_model(l), false);
	learner_prepare(l, &g->runs[0].options);
	if (gradients(g, 0, l, &scale, &losses, &norm, err) != 0)
		return -1;
	return take_grads(l, scale, sink, err);
}

/* Every output point of step 0's clips, all labels hidden. */
static int decode_all(const struct golden *g, struct learner *l, const struct golden_sink *sink,
                      struct err *err)
{
	const struct model_dims *d = learner_dims(l);
	struct batch b = g->batches[0];
	AUTO_FREE int32_t *points = mem_calloc(d->n_pixels + d->n_audio, sizeof(points[0]));
	AUTO_FREE float *hidden = mem_calloc(b.n, sizeof(hidden[0]));
	struct logits logits;

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
	if (learner_forward(l, &b, &logits, err) != 0)
		return -1;
	struct st_item items[] = {item("logits.audio", logits.audio, b.n, d->audio_samples, 0),
	                          item("logits.image", logits.image, b.n, d->n_pixels, 3),
	                          item("logits.label", logits.label, b.n, g->config.num_labels, 0)};
	return sink->take(sink->ctx, "eval", items, ARRAY_LEN(items), err);
}

int golden_run(const struct golden *g, struct ops *ops, const struct golden_sink *sink,
               struct golden_result *ret, struct err *err)
{
	struct learner *l;
	int rc;

	if (start(g, ops, &l, err) != 0)
		return -1;
	rc = see_first_step(g, l, sink, err);
	for (size_t i = 0; rc == 0 && i < GOLDEN_RUNS; i++)
		rc = run_one(g, i, ops, sink, ret, err);
	if (rc == 0)
		rc = decode_all(g, l, sink, err);
	learner_free(l);
	return rc;
}
