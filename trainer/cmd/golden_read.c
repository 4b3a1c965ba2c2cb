#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonr.h"
#include "base/mem.h"
#include "base/slurp.h"
#include "trainer/cmd/golden.h"

static double number(const struct jsonr *doc, const struct jsonr_node *obj, const char *key,
                     double otherwise)
{
	const struct jsonr_node *n = jsonr_get(doc, obj, key);

	return n != NULL && n->type == JSONR_NUMBER ? n->number : otherwise;
}

static void read_run(const struct jsonr *doc, const char *name, struct golden_run *ret)
{
	const struct jsonr_node *o = jsonr_get(doc, jsonr_get(doc, doc->nodes, "optimizers"), name);
	const struct jsonr_node *betas = jsonr_get(doc, o, "betas");
	struct optimizer_options *q = &ret->options;

	ret->name = name;
	*q = (struct optimizer_options){.kind = strcmp(name, "adamw") == 0 ? OPTIMIZER_ADAMW
	                                                                   : OPTIMIZER_SGD,
	                                .lr = number(doc, o, "lr", 0),
	                                .momentum = number(doc, o, "momentum", 0),
	                                .beta1 = 0.9,
	                                .beta2 = 0.999,
	                                .eps = number(doc, o, "eps", 1e-8),
	                                .weight_decay = number(doc, o, "weight_decay", 0),
	                                .max_grad_norm = number(doc, o, "max_grad_norm", 0)};
	if (betas != NULL && betas->type == JSONR_ARRAY && betas->n == 2) {
		q->beta1 = jsonr_first(doc, betas)->number;
		q->beta2 = jsonr_next(doc, jsonr_first(doc, betas))->number;
	}
}

static int read_config(const char *dir, struct golden *g, struct err *err)
{
	static const char *const runs[GOLDEN_RUNS] = {"sgd", "sgd_clip", "adamw"};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	AUTO(jsonr) struct jsonr doc = {0};
	const struct jsonr_node *weights;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/config.json", dir);
	if (slurp_file(path, 16 << 20, &text, err) != 0 ||
	    jsonr_parse(path, strbuf_str(&text), text.len, &doc, err) != 0)
		return -1;
	g->config = model_config_full();
	g->config.attention_probs_dropout_prob = 0;
	if (model_config_read(&g->config, &doc, doc.nodes, NULL, err) != 0)
		return err_wrap(err, "%s", path);
	weights = jsonr_get(&doc, doc.nodes, "loss_weights");
	g->weights = (struct loss_weights){number(&doc, weights, "image", 0.03),
	                                   number(&doc, weights, "audio", 1),
	                                   number(&doc, weights, "label", 1e-4)};
	for (size_t i = 0; i < GOLDEN_RUNS; i++)
		read_run(&doc, runs[i], &g->runs[i]);
	return 0;
}

static const struct st_tensor *input(const struct golden *g, size_t step, const char *name)
{
	char full[64];

	snprintf(full, sizeof(full), "step%zu.%s", step, name);
	return st_find(&g->inputs, full);
}

/* A float array of exactly n values, or none when it may be absent. */
static int read_floats(struct golden *g, size_t step, const char *name, size_t n, float **ret,
                       struct err *err)
{
	const struct st_tensor *t = input(g, step, name);

	if (t == NULL)
		return strncmp(name, "mask_", 5) == 0
		               ? 0
		               : err_set(err, ERR_FORMAT, "step%zu.%s is missing", step, name);
	*ret = mem_calloc(n, sizeof(float));
	return st_read_f32(t, *ret, n, err);
}

/* Whole numbers, each below `limit`. */
static int read_ints(struct golden *g, size_t step, const char *name, size_t limit, int32_t **ret,
                     size_t *ret_n, struct err *err)
{
	const struct st_tensor *t = input(g, step, name);

	if (t == NULL || t->n > 1u << 24)
		return err_set(err, ERR_FORMAT, "step%zu.%s is missing or too large", step, name);
	*ret = mem_calloc(t->n, sizeof(int32_t));
	if (st_read_i32(t, *ret, t->n, err) != 0)
		return -1;
	for (size_t i = 0; i < t->n; i++)
		if ((*ret)[i] < 0 || (size_t)(*ret)[i] >= limit)
			return err_set(err, ERR_FORMAT, "step%zu.%s[%zu] is %d, must be below %zu",
			               step, name, i, (*ret)[i], limit);
	*ret_n = t->n;
	return 0;
}

static int read_batch(struct golden *g, size_t step, struct err *err)
{
	struct model_dims d = model_dims(&g->config);
	struct batch *b = &g->batches[step];
	float **f = g->floats[step];
	int32_t **k = g->ints[step];

	if (read_ints(g, step, "label", g->config.num_labels, &k[0], &b->n, err) != 0 ||
	    read_ints(g, step, "out_image", d.n_pixels, &k[1], &b->n_out_image, err) != 0 ||
	    read_ints(g, step, "out_audio", d.n_audio, &k[2], &b->n_out_audio, err) != 0)
		return -1;
	if (b->n < 1 || b->n > 1024)
		return err_set(err, ERR_FORMAT, "step%zu has %zu clips, must be 1 to 1024", step,
		               b->n);
	if (read_floats(g, step, "image", b->n * 3 * d.n_pixels, &f[0], err) != 0 ||
	    read_floats(g, step, "audio", b->n * d.audio_samples, &f[1], err) != 0 ||
	    read_floats(g, step, "mask_audio", b->n * d.n_audio, &f[2], err) != 0 ||
	    read_floats(g, step, "mask_image", b->n * d.n_image, &f[3], err) != 0 ||
	    read_floats(g, step, "mask_label", b->n, &f[4], err) != 0)
		return -1;
	b->image = f[0];
	b->audio = f[1];
	b->mask_audio = f[2];
	b->mask_image = f[3];
	b->mask_label = f[4];
	b->label = k[0];
	b->out_image = k[1];
	b->out_audio = k[2];
	b->decode_label = true;
	return 0;
}

int golden_open(const char *dir, struct golden *ret, struct err *err)
{
	char path[PATH_MAX];
	struct golden g = {.dir = dir};
	int rc = read_config(dir, &g, err);

	snprintf(path, sizeof(path), "%s/weights.safetensors", dir);
	if (rc == 0)
		rc = st_open(path, &g.weights_file, err);
	snprintf(path, sizeof(path), "%s/inputs.safetensors", dir);
	if (rc == 0)
		rc = st_open(path, &g.inputs, err);
	for (size_t step = 0; rc == 0 && step < GOLDEN_STEPS; step++)
		if (read_batch(&g, step, err) != 0)
			rc = err_wrap(err, "%s", path);
	if (rc != 0) {
		golden_done(&g);
		return -1;
	}
	*ret = g;
	return 0;
}

void golden_done(struct golden *g)
{
	st_close(&g->weights_file);
	st_close(&g->inputs);
	for (size_t step = 0; step < GOLDEN_STEPS; step++) {
		for (size_t i = 0; i < ARRAY_LEN(g->floats[step]); i++)
			free(g->floats[step][i]);
		for (size_t i = 0; i < ARRAY_LEN(g->ints[step]); i++)
			free(g->ints[step][i]);
	}
	*g = (struct golden){0};
}
