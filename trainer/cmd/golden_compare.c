#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/jsonr.h"
#include "base/mem.h"
#include "base/slurp.h"
#include "trainer/cmd/golden.h"
#include "trainer/cmd/golden_draw.h"

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

/* For float32 arithmetic: what PyTorch's own float32 is off by, several times over. */
static const struct {
	const char *name;
	struct limit limit;
} kinds[KINDS] = {
	[FEATURES] = {"position features", {3e-5, 0x1p-23}}, /* of the largest argument */
	[ACTIVATIONS] = {"activations", {1e-5, 0}},
	[LOGITS] = {"logits", {1e-5, 0}},
	[LOSSES] = {"losses", {1e-5, 0}},
	[NORMS] = {"gradient norms", {1e-5, 5e-5}},
	[GRADIENTS] = {"gradients", {1e-7, 5e-5}},
	[SGD] = {"weights after SGD", {2e-6, 0}},
	[ADAMW] = {"weights after AdamW", {5e-5, 0}},
	[STATE] = {"optimizer state", {1e-6, 5e-4}},
	[EVAL] = {"full decode", {1e-5, 0}},
};

static const char *const measures[GOLDEN_MEASURES] = {
	[GOLDEN_RMS] = "root mean square",
	[GOLDEN_LARGEST] = "largest",
	[GOLDEN_FACTOR] = "common factor",
};

/* What comparing does with an error. */
enum golden_task { HOLD_TO_F32, DRAW, HOLD_TO_DRAWN };

void golden_drawn_raise(struct golden_drawn *d, size_t i, const struct golden_error *error)
{
	if (i == d->n) {
		d->at = mem_vec_grow(d->at, d->n, &d->cap, sizeof(d->at[0]));
		d->at[d->n++] = (struct golden_error){0};
	}
	for (int m = 0; m < GOLDEN_MEASURES; m++)
		d->at[i].of[m] = fmax(d->at[i].of[m], error->of[m]);
}

void golden_drawn_done(struct golden_drawn *d)
{
	free(d->at);
	*d = (struct golden_drawn){0};
}

struct golden_comparison {
	const struct golden *g;
	struct golden_report *report;
	enum golden_task task;
	struct golden_drawn *drawn;        /* of DRAW */
	const struct golden_drawn *limits; /* of HOLD_TO_DRAWN: the order is that of drawing */
	size_t next;
};

/* The largest argument of a sine: its last place in float32 is an error of the sine as large. */
static double largest_argument(const struct model_config *c)
{
	return M_PI / 2 *
	       fmax((double)(c->num_frames * c->audio_samples_per_frame),
	            fmax((double)c->num_frames, (double)c->image_size));
}

static double limit_of(const struct golden *g, enum kind kind, double largest)
{
	if (kind == FEATURES)
		largest = largest_argument(&g->config);
	return kinds[kind].limit.absolute + kinds[kind].limit.relative * largest;
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

/* Of the differences between two tensors, or of several pairs together. */
struct golden_sums {
	double square, product, wanted, most, largest;
	size_t n;
};

static void add_differences(struct golden_sums *s, const float *have, const float *want, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double error = (double)have[i] - want[i];

		s->square += error * error;
		s->product += error * want[i];
		s->wanted += (double)want[i] * want[i];
		s->most = fabs(error) > s->most || isnan(error) ? fabs(error) : s->most;
		s->largest = fmax(s->largest, fabs((double)want[i]));
	}
	s->n += n;
}

static struct golden_error error_of(const struct golden_sums *s)
{
	return (struct golden_error){
		{[GOLDEN_RMS] = sqrt(s->square / (double)s->n),
	         [GOLDEN_LARGEST] = s->most,
	         [GOLDEN_FACTOR] = s->wanted > 0 ? fabs(s->product) / s->wanted : 0}};
}

static void hold_to_drawn(struct golden_comparison *c, enum kind kind, const char *name,
                          const struct golden_error *error, double f32, double size)
{
	const struct golden_error *drawn = &c->limits->at[c->next++];

	for (int m = 0; m < GOLDEN_MEASURES; m++) {
		double floor = m == GOLDEN_FACTOR ? f32 / size : f32;
		char full[200];

		if (m == GOLDEN_FACTOR && !(size > 0))
			continue;
		snprintf(full, sizeof(full), "%.150s, %s", name, measures[m]);
		note(c->report, kind, full, error->of[m], floor + GOLDEN_MULTIPLE * drawn->of[m]);
	}
	c->report->checks[kind].tensors -= size > 0 ? 2 : 1;
}

static void take_error(struct golden_comparison *c, enum kind kind, const char *name,
                       const struct golden_error *error, double f32, double size)
{
	switch (c->task) {
	case HOLD_TO_F32:
		note(c->report, kind, name, error->of[GOLDEN_LARGEST], f32);
		break;
	case DRAW:
		golden_drawn_raise(c->drawn, c->next++, error);
		break;
	case HOLD_TO_DRAWN:
		hold_to_drawn(c, kind, name, error, f32, size);
		break;
	}
}

static void take_sums(struct golden_comparison *c, enum kind kind, const char *name,
                      const struct golden_sums *s)
{
	struct golden_error error = error_of(s);

	take_error(c, kind, name, &error, limit_of(c->g, kind, s->largest),
	           sqrt(s->wanted / (double)s->n));
}

static int compare_item(struct golden_comparison *c, const char *file, const struct st_file *want,
                        const struct st_item *got, struct golden_sums *adamw, struct err *err)
{
	char name[256];
	enum kind kind;
	size_t n = item_count(got);
	AUTO_FREE float *values = mem_calloc(n, sizeof(values[0]));
	const struct st_tensor *t;
	struct golden_sums s = {0};

	snprintf(name, sizeof(name), "%s%s", got->prefix != NULL ? got->prefix : "", got->name);
	t = st_find(want, name);
	if (t == NULL)
		return err_set(err, ERR_FORMAT, "tensor '%s' is missing", name);
	if (st_read_f32(t, values, n, err) != 0)
		return -1;
	kind = kind_of(file, name);
	add_differences(&s, got->data, values, n);
	/* A key bias has no gradient; what a folder holds there is the rounding noise of another
	 * implementation, which AdamW blows up to moves of a learning rate. */
	if (!ends_with(name, ".key.bias")) {
		if (kind == ADAMW && c->task != HOLD_TO_F32)
			add_differences(adamw, got->data, values, n);
		else
			take_sums(c, kind, name, &s);
	} else if (kind != ADAMW && kind != STATE && c->task != DRAW) {
		note(c->report, kind, name, s.most,
		     kind == GRADIENTS ? 1e-7 : limit_of(c->g, kind, 0));
	}
	return 0;
}

/*
 * In 16 bits the weights after AdamW are compared all together: it divides a gradient by its own
 * size, so the sign of one near 0 decides about a move of a learning rate, now and then. Tensor by
 * tensor its gradients show in the optimizer's state.
 */
static int compare_file(void *ctx, const char *file, const struct st_item *items, size_t n,
                        struct err *err)
{
	struct golden_comparison *c = ctx;
	AUTO(st_file) struct st_file want = {0};
	struct golden_sums adamw = {0};
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s.safetensors", c->g->dir, file);
	if (st_open(path, &want, err) != 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (compare_item(c, file, &want, &items[i], &adamw, err) != 0)
			return err_wrap(err, "%s", path);
	if (adamw.n > 0)
		take_sums(c, ADAMW, "all weights", &adamw);
	return 0;
}

static void compare_number(struct golden_comparison *c, enum kind kind, const char *name,
                           const struct jsonr *doc, const struct jsonr_node *obj, const char *key,
                           double got)
{
	const struct jsonr_node *want = jsonr_get(doc, obj, key);
	double value = want != NULL && want->type == JSONR_NUMBER ? want->number : NAN;
	double off = fabs(got - value);
	const struct golden_error error = {{[GOLDEN_RMS] = off, [GOLDEN_LARGEST] = off}};

	take_error(c, kind, name, &error, limit_of(c->g, kind, value), 0);
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

static int run(struct golden_comparison *c, struct ops *ops, struct err *err)
{
	struct golden_sink sink = {compare_file, c};
	struct golden_result result = {0};

	c->next = 0;
	if (golden_run(c->g, ops, &sink, &result, err) != 0)
		return -1;
	return compare_losses(c, &result, err);
}

int golden_draw(const struct golden *g, enum op_precision precision, struct golden_drawn *ret,
                struct err *err)
{
	struct golden_report unused = {0};
	struct golden_comparison c = {.g = g, .report = &unused, .task = DRAW, .drawn = ret};
	struct drawn_ops ops;
	int rc = 0;

	drawn_ops_open(precision, &ops);
	for (ops.seed = 1; rc == 0 && ops.seed <= GOLDEN_DRAWS; ops.seed++)
		rc = run(&c, &ops.ops, err);
	ops_done(&ops.ops);
	return rc;
}

int golden_hold(const struct golden *g, struct ops *ops, const struct golden_drawn *drawn,
                struct golden_report *ret, struct err *err)
{
	struct golden_comparison c = {.g = g,
	                              .report = ret,
	                              .task = drawn != NULL ? HOLD_TO_DRAWN : HOLD_TO_F32,
	                              .limits = drawn};

	*ret = (struct golden_report){.n = KINDS};
	for (size_t i = 0; i < KINDS; i++)
		ret->checks[i].kind = kinds[i].name;
	return run(&c, ops, err);
}

int golden_compare(const struct golden *g, struct ops *ops, struct golden_report *ret,
                   struct err *err)
{
	AUTO(golden_drawn) struct golden_drawn drawn = {0};

	if (ops_rounds(ops) == PRECISION_F32)
		return golden_hold(g, ops, NULL, ret, err);
	if (golden_draw(g, ops_rounds(ops), &drawn, err) != 0)
		return -1;
	return golden_hold(g, ops, &drawn, ret, err);
}
