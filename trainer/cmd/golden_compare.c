#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/jsonr.h"
#include "base/mem.h"
#include "base/slurp.h"
#include "trainer/cmd/golden.h"

enum kind {
	FEATURES,
	ACTIVATIONS,
	LOGITS,
	LOSSES,
	NORMS,
	GRADIENTS,
	SGD,
	ADAMW,
	STATE,
	EVAL,
	KINDS
};

struct limit {
	double absolute, relative; /* limit = absolute + relative * largest value of the tensor */
};

/*
 * Limits for float32 arithmetic, which the folder's README derives; and for products of bf16, whose
 * operands are off by up to 2^-9: a few of those in relative size. Adam divides gradients by their
 * own size, so there a small one's error is a part of the learning rate.
 */
static const struct {
	const char *name;
	struct limit limit[2]; /* by enum op_precision */
} kinds[KINDS] = {
	[FEATURES] = {"position features", {{3e-5, 0}, {3e-5, 0}}},
	[ACTIVATIONS] = {"activations", {{1e-5, 0}, {2e-3, 1e-2}}},
	[LOGITS] = {"logits", {{1e-5, 0}, {2e-3, 1e-2}}},
	[LOSSES] = {"losses", {{1e-5, 0}, {5e-3, 0}}},
	[NORMS] = {"gradient norms", {{1e-5, 5e-5}, {0, 1e-2}}},
	[GRADIENTS] = {"gradients", {{1e-7, 5e-5}, {1e-6, 5e-2}}},
	[SGD] = {"weights after SGD", {{2e-6, 0}, {5e-4, 0}}},
	[ADAMW] = {"weights after AdamW", {{5e-5, 0}, {1e-2, 0}}},
	[STATE] = {"optimizer state", {{1e-6, 5e-4}, {1e-6, 5e-2}}},
	[EVAL] = {"full decode", {{1e-5, 0}, {2e-3, 1e-2}}},
};

struct golden_comparison {
	const struct golden *g;
	enum op_precision precision;
	struct golden_report *report;
};

static double limit_of(const struct golden_comparison *c, enum kind kind, double largest)
{
	const struct limit *limit = &kinds[kind].limit[c->precision];

	return limit->absolute + limit->relative * largest;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && strcmp(text + n - k, end) == 0;
}

static void note(struct golden_report *r, enum kind kind, const char *name, double error,
                 double limit)
{
	struct golden_check *c = &r->checks[kind];
	bool bad = !(error <= limit); /* NaN is bad */

	c->tensors++;
	if (c->worst[0] == '\0' || bad > c->failed ||
	    (bad == c->failed && error * c->limit > c->error * limit)) {
		snprintf(c->worst, sizeof(c->worst), "%s", name);
		c->error = error;
		c->limit = limit;
	}
	c->failed |= bad;
	r->failed |= bad;
}

static enum kind kind_of(const char *file, const char *name)
{
	if (strcmp(file, "grads") == 0)
		return GRADIENTS;
	if (strcmp(file, "eval") == 0)
		return EVAL;
	if (strncmp(name, "optim.", 6) == 0)
		return STATE;
	if (strcmp(file, "after3.adamw") == 0)
		return ADAMW;
	if (strncmp(file, "after3.", 7) == 0)
		return SGD;
	if (strcmp(name, "act.preprocessed") == 0 || strcmp(name, "act.decoder.query") == 0 ||
	    strncmp(name, "target.", 7) == 0)
		return FEATURES;
	return strncmp(name, "act.", 4) == 0 ? ACTIVATIONS : LOGITS;
}

static size_t item_count(const struct st_item *item)
{
	size_t n = 1;

	for (int i = 0; i < item->ndim; i++)
		n *= item->shape[i];
	return n;
}

static int compare_item(struct golden_comparison *c, const char *file, const struct st_file *want,
                        const struct st_item *got, struct err *err)
{
	char name[256];
	enum kind kind;
	size_t n = item_count(got);
	const float *have = got->data;
	AUTO_FREE float *values = mem_calloc(n, sizeof(values[0]));
	const struct st_tensor *t;
	double error = 0, largest = 0;

	snprintf(name, sizeof(name), "%s%s", got->prefix != NULL ? got->prefix : "", got->name);
	t = st_find(want, name);
	if (t == NULL)
		return err_set(err, ERR_FORMAT, "tensor '%s' is missing", name);
	if (st_read_f32(t, values, n, err) != 0)
		return -1;
	kind = kind_of(file, name);
	for (size_t i = 0; i < n; i++) {
		double difference = fabs((double)have[i] - values[i]);

		error = difference > error || isnan(difference) ? difference : error;
		largest = fmax(largest, fabs((double)values[i]));
	}
	/* A key bias has no gradient; what a folder holds there is the rounding noise of another
	 * implementation, which AdamW blows up to moves of a learning rate. */
	if (ends_with(name, ".key.bias")) {
		if (kind == ADAMW || kind == STATE)
			return 0;
		note(c->report, kind, name, error, kind == GRADIENTS ? 1e-7 : limit_of(c, kind, 0));
		return 0;
	}
	note(c->report, kind, name, error, limit_of(c, kind, largest));
	return 0;
}

static int compare_file(void *ctx, const char *file, const struct st_item *items, size_t n,
                        struct err *err)
{
	struct golden_comparison *c = ctx;
	AUTO(st_file) struct st_file want = {0};
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s.safetensors", c->g->dir, file);
	if (st_open(path, &want, err) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (compare_item(c, file, &want, &items[i], err) != 0)
			return err_wrap(err, "%s", path);
	return 0;
}

static void compare_number(struct golden_comparison *c, enum kind kind, const char *name,
                           const struct jsonr *doc, const struct jsonr_node *obj, const char *key,
                           double got)
{
	const struct jsonr_node *want = jsonr_get(doc, obj, key);
	double value = want != NULL && want->type == JSONR_NUMBER ? want->number : NAN;

	note(c->report, kind, name, fabs(got - value), limit_of(c, kind, value));
}

static int compare_losses(struct golden_comparison *c, const struct golden_result *got,
                          struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	AUTO(jsonr) struct jsonr doc = {0};
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/expected.json", c->g->dir);
	if (slurp_file(path, 16 << 20, &text, err) != 0 ||
	    jsonr_parse(path, strbuf_str(&text), text.len, &doc, err) != 0)
		return -1;
	for (size_t r = 0; r < GOLDEN_RUNS; r++) {
		const struct jsonr_node *run =
			jsonr_get(&doc, jsonr_get(&doc, doc.nodes, "runs"), c->g->runs[r].name);
		const struct jsonr_node *step;

		if (run == NULL || run->type != JSONR_ARRAY || run->n != GOLDEN_STEPS)
			return err_set(err, ERR_FORMAT, "%s: no runs.%s of %d steps", path,
			               c->g->runs[r].name, GOLDEN_STEPS);
		step = jsonr_first(&doc, run);
		for (size_t s = 0; s < GOLDEN_STEPS; s++, step = jsonr_next(&doc, step)) {
			const struct losses *l = &got->losses[r][s];
			char name[64];

			snprintf(name, sizeof(name), "%s step %zu", c->g->runs[r].name, s);
			compare_number(c, LOSSES, name, &doc, step, "loss", l->total);
			compare_number(c, LOSSES, name, &doc, step, "image", l->image);
			compare_number(c, LOSSES, name, &doc, step, "audio", l->audio);
			compare_number(c, LOSSES, name, &doc, step, "label", l->label);
			compare_number(c, NORMS, name, &doc, step, "grad_norm", got->norms[r][s]);
		}
	}
	return 0;
}

int golden_compare(const struct golden *g, struct model *m, const struct ops *ops,
                   struct golden_report *ret, struct err *err)
{
	struct golden_comparison c = {g, ops_rounds(ops), ret};
	struct golden_sink sink = {compare_file, &c};
	struct golden_result result = {0};

	*ret = (struct golden_report){.n = KINDS};
	for (size_t i = 0; i < KINDS; i++)
		ret->checks[i].kind = kinds[i].name;
	if (golden_run(g, m, ops->threads, &sink, &result, err) != 0)
		return -1;
	return compare_losses(&c, &result, err);
}
