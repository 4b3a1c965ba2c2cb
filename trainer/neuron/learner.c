#include "trainer/neuron/learner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/neuron/engine.h"
#include "trainer/neuron/find.h"
#include "trainer/neuron/runtime.h"
#include "trainer/train/average.h"
#include "trainer/train/learner_backend.h"

struct module_learner {
	struct learner base;
	struct neuron_runtime runtime;
	struct neuron_engine *engine;
	struct neuron_run run;
	struct model_dims dims;
	struct tensors table; /* names and shapes */
	struct params ids;
	bool prepared;
	struct learner_counts counts;
	double squares, total; /* of the gradients and losses, from the last micro-step */
	struct {
		bool taken;
		struct learner_counts counts;
		double norm_mean;
	} good;
	struct err failed;       /* the first failure, which sticks */
	struct batch clips;      /* of the last forward pass; its arrays are owned */
	float *seen[MODALITIES]; /* logits */
};

static struct module_learner *of(struct learner *base)
{
	return (struct module_learner *)base;
}

/* ---- failures ---- */

static bool has_failed(const struct module_learner *l)
{
	return l->failed.code != ERR_NONE;
}

/* rc, after which *err is the learner's first failure. */
static int told(struct module_learner *l, int rc, struct err *err)
{
	if (rc != 0 && !has_failed(l))
		l->failed = *err;
	return rc;
}

static int fail_again(const struct module_learner *l, struct err *err)
{
	*err = l->failed;
	return -1;
}

/* For calls that return nothing: a later one tells. */
static void note(struct module_learner *l, int rc, const struct err *err)
{
	if (rc != 0)
		l->failed = *err;
}

/* ---- sets of tensors ---- */

static const enum neuron_kind kinds[LEARNER_SETS] = {
	[LEARNER_WEIGHTS] = NEURON_WEIGHT,  [LEARNER_GRADIENTS] = NEURON_GRADIENT,
	[LEARNER_MOMENT1] = NEURON_MOMENT1, [LEARNER_MOMENT2] = NEURON_MOMENT2,
	[LEARNER_AVERAGE] = NEURON_AVERAGE,
};

static bool has(struct learner *base, enum learner_set which)
{
	const struct module_learner *l = of(base);
	const struct optimizer_options *o = &l->run.optimizer;
	const bool there[LEARNER_SETS] = {
		[LEARNER_WEIGHTS] = true,
		[LEARNER_GRADIENTS] = l->prepared,
		[LEARNER_MOMENT1] = l->prepared,
		[LEARNER_MOMENT2] = l->prepared && o->kind == OPTIMIZER_ADAMW,
		[LEARNER_AVERAGE] = l->prepared && o->ema_decay > 0,
	};

	return there[which];
}

static int read_all(struct module_learner *l, enum neuron_kind kind, struct tensors *to,
                    struct err *err)
{
	for (size_t i = 0; i < to->n; i++)
		if (neuron_engine_read(l->engine, kind, i, to->at[i].data, to->at[i].n, err) != 0)
			return -1;
	return 0;
}

static int write_all(struct module_learner *l, enum neuron_kind kind, const struct tensors *from,
                     struct err *err)
{
	for (size_t i = 0; i < from->n; i++)
		if (neuron_engine_write(l->engine, kind, i, from->at[i].data, from->at[i].n, err) !=
		    0)
			return -1;
	return 0;
}

static int get(struct learner *base, enum learner_set which, struct tensors *ret, struct err *err)
{
	struct module_learner *l = of(base);

	return has_failed(l) ? fail_again(l, err)
	                     : told(l, read_all(l, kinds[which], ret, err), err);
}

static int set(struct learner *base, enum learner_set which, const struct tensors *values,
               struct err *err)
{
	struct module_learner *l = of(base);

	return has_failed(l) ? fail_again(l, err)
	                     : told(l, write_all(l, kinds[which], values, err), err);
}

static struct learner_counts get_counts(const struct learner *base)
{
	return ((const struct module_learner *)base)->counts;
}

static void set_counts(struct learner *base, struct learner_counts to)
{
	of(base)->counts = to;
}

static void init(struct learner *base, uint64_t seed)
{
	struct module_learner *l = of(base);
	struct tensors host;
	struct err err = {0};

	tensors_like(&l->table, NULL, NULL, &host);
	params_init(&host, seed);
	if (!has_failed(l))
		note(l, write_all(l, NEURON_WEIGHT, &host, &err), &err);
	tensors_done(&host);
}

static int is_finite(struct learner *base, bool *ret, struct err *err)
{
	struct module_learner *l = of(base);
	struct tensors host;
	bool finite = true;
	int rc;

	tensors_like(&l->table, NULL, NULL, &host);
	rc = get(base, LEARNER_WEIGHTS, &host, err);
	for (size_t i = 0; i < host.n_values && finite; i++)
		finite = isfinite(host.data[i]);
	tensors_done(&host);
	if (rc == 0)
		*ret = finite;
	return rc;
}

static bool exchange_average(struct learner *base)
{
	struct module_learner *l = of(base);
	struct err err = {0};

	if (l->counts.averaged == 0)
		return false;
	if (!has_failed(l))
		note(l, neuron_engine_exchange(l->engine, &err), &err);
	return true;
}

/* ---- training ---- */

/* The engine's state is zero already. */
static void prepare(struct learner *base, const struct optimizer_options *options)
{
	struct module_learner *l = of(base);

	if (options->kind != l->run.optimizer.kind ||
	    (options->ema_decay > 0) != (l->run.optimizer.ema_decay > 0))
		BUG("a learner is prepared for another optimizer than its modules");
	l->prepared = true;
}

static void begin(struct learner *base)
{
	neuron_engine_begin(of(base)->engine);
}

/* The step's module sums, whoever asks. */
static void sum_next(struct learner *base, const struct reducer *reducer, bool after)
{
	(void)base;
	(void)reducer;
	(void)after;
}

static int finish_sums(struct learner *base, struct err *err)
{
	return has_failed(of(base)) ? fail_again(of(base), err) : 0;
}

static void stage(struct learner *base, const struct batch *b)
{
	struct module_learner *l = of(base);
	struct err err = {0};

	if (!has_failed(l))
		note(l, neuron_engine_stage(l->engine, b, &err), &err);
}

static void start(struct learner *base, const struct loss_weights *w, double scale)
{
	struct module_learner *l = of(base);
	struct err err = {0};

	if (!has_failed(l))
		note(l, neuron_engine_start(l->engine, w, scale, &err), &err);
}

static int finish(struct learner *base, const struct loss_weights *w, struct losses *ret,
                  struct err *err)
{
	struct module_learner *l = of(base);

	if (has_failed(l))
		return fail_again(l, err);
	if (told(l, neuron_engine_finish(l->engine, w, ret, &l->squares, err), err) != 0)
		return -1;
	l->total = ret->total;
	return 0;
}

static int get_norm(struct learner *base, double *ret, struct err *err)
{
	struct module_learner *l = of(base);

	if (has_failed(l))
		return fail_again(l, err);
	*ret = sqrt(l->squares);
	return 0;
}

static int apply(struct learner *base, double lr, double scale, struct err *err)
{
	struct module_learner *l = of(base);
	const struct optimizer_options *o = &l->run.optimizer;
	double t = (double)(l->counts.updates + 1),
	       keep = average_decay(o->ema_decay, l->counts.averaged);
	const float rates[NEURON_RATES_N] = {
		[NEURON_RATE_LR] = (float)lr,
		[NEURON_RATE_SCALE] = (float)scale,
		[NEURON_RATE_CORRECT1] = (float)(1 / (1 - pow(o->beta1, t))),
		[NEURON_RATE_CORRECT2] = (float)(1 / (1 - pow(o->beta2, t))),
		[NEURON_RATE_KEEP] = (float)keep,
		[NEURON_RATE_SHARE] = (float)(1 - keep),
	};

	if (has_failed(l))
		return fail_again(l, err);
	if (told(l, neuron_engine_update(l->engine, rates, err), err) != 0)
		return -1;
	l->counts.updates++;
	l->counts.averaged += o->ema_decay > 0;
	return 0;
}

/* What one launch makes elsewhere is two executions here, with the host's verdict in between. */
static void plan(struct learner *base, const struct learner_update *u)
{
	(void)base;
	(void)u;
}

static void keep_good(struct learner *base, double norm_mean)
{
	struct module_learner *l = of(base);
	struct err err = {0};

	l->good.taken = true;
	l->good.counts = l->counts;
	l->good.norm_mean = norm_mean;
	if (!has_failed(l))
		note(l, neuron_engine_keep(l->engine, &err), &err);
}

/* As cpu_judge has it (trainer/ops/cpu_update.c). */
static int conclude(struct learner *base, const struct learner_update *u,
                    struct learner_verdict *ret, struct err *err)
{
	struct module_learner *l = of(base);
	double norm = sqrt(l->squares) * u->unscale, clip = u->max_norm / (norm + 1e-6);

	if (has_failed(l))
		return fail_again(l, err);
	*ret = (struct learner_verdict){.norm = norm,
	                                .updated = !u->barred && isfinite(l->total) &&
	                                           isfinite(norm) && norm <= u->limit};
	if (!ret->updated)
		return 0;
	if (u->keep)
		keep_good(base, u->norm_mean);
	return apply(base, u->lr, (u->max_norm > 0 && clip < 1 ? clip : 1) * u->unscale, err);
}

static bool go_back(struct learner *base, double *ret_norm_mean)
{
	struct module_learner *l = of(base);
	struct err err = {0};

	if (!l->good.taken)
		return false;
	if (!has_failed(l))
		note(l, neuron_engine_go_back(l->engine, &err), &err);
	l->counts = l->good.counts;
	*ret_norm_mean = l->good.norm_mean;
	return true;
}

/* ---- use ---- */

static void *copied(const void *from, size_t n, size_t size)
{
	void *to = from != NULL ? mem_calloc(n, size) : NULL;

	if (to != NULL)
		memcpy(to, from, n * size);
	return to;
}

static void forget_clips(struct module_learner *l)
{
	const void *const owned[] = {l->clips.image,      l->clips.audio,      l->clips.label,
	                             l->clips.mask_audio, l->clips.mask_image, l->clips.mask_label};

	for (size_t i = 0; i < ARRAY_LEN(owned); i++)
		free((void *)(uintptr_t)owned[i]);
	l->clips = (struct batch){0};
}

/* Other points of them may be asked for. */
static void keep_clips(struct module_learner *l, const struct batch *b)
{
	const struct model_dims *d = &l->dims;

	forget_clips(l);
	l->clips = (struct batch){
		.n = b->n,
		.image = copied(b->image, b->n * 3 * d->n_pixels, sizeof(float)),
		.audio = copied(b->audio, b->n * d->audio_samples, sizeof(float)),
		.label = copied(b->label, b->n, sizeof(int32_t)),
		.mask_audio = copied(b->mask_audio, b->n * d->n_audio, sizeof(float)),
		.mask_image = copied(b->mask_image, b->n * d->n_image, sizeof(float)),
		.mask_label = copied(b->mask_label, b->n, sizeof(float)),
	};
}

static int decode(struct learner *base, const struct batch *points, struct logits *ret,
                  struct err *err)
{
	struct module_learner *l = of(base);
	const struct model_config *c = &l->run.config;
	const size_t values[MODALITIES] = {
		[AUDIO] = points->n_out_audio * c->samples_per_patch,
		[IMAGE] = points->n_out_image * 3,
		[LABEL] = points->decode_label ? c->num_labels : 0,
	};
	struct batch b = l->clips;
	struct neuron_logits to = {{NULL}};

	if (has_failed(l))
		return fail_again(l, err);
	b.out_image = points->out_image;
	b.out_audio = points->out_audio;
	b.n_out_image = points->n_out_image;
	b.n_out_audio = points->n_out_audio;
	b.decode_label = points->decode_label;
	for (enum modality m = 0; m < MODALITIES; m++) {
		free(l->seen[m]);
		l->seen[m] = values[m] > 0 ? mem_calloc(b.n * values[m], sizeof(float)) : NULL;
		to.of[m] = l->seen[m];
	}
	if (told(l, neuron_engine_decode(l->engine, &b, &to, err), err) != 0)
		return -1;
	*ret = (struct logits){
		.image = l->seen[IMAGE], .audio = l->seen[AUDIO], .label = l->seen[LABEL]};
	return 0;
}

static int forward(struct learner *base, const struct batch *b, struct logits *ret, struct err *err)
{
	struct module_learner *l = of(base);

	if (has_failed(l))
		return fail_again(l, err);
	keep_clips(l, b);
	if (told(l, neuron_engine_encode(l->engine, b, err), err) != 0)
		return -1;
	return decode(base, b, ret, err);
}

static int measure(struct learner *base, const struct batch *b, const struct loss_weights *w,
                   struct losses *ret, struct err *err)
{
	struct module_learner *l = of(base);

	return has_failed(l) ? fail_again(l, err)
	                     : told(l, neuron_engine_measure(l->engine, b, w, ret, err), err);
}

/* ---- beginning and end ---- */

static void done(struct learner *base)
{
	struct module_learner *l = of(base);

	neuron_engine_free(l->engine);
	neuron_runtime_close(&l->runtime);
	forget_clips(l);
	for (enum modality m = 0; m < MODALITIES; m++)
		free(l->seen[m]);
	params_done(&l->ids);
	tensors_done(&l->table);
	free(l);
}

static enum op_precision precision(const struct learner *base)
{
	return ((const struct module_learner *)base)->run.step.rounds ? PRECISION_BF16
	                                                              : PRECISION_F32;
}

/* The compiler's, all of them: there is nothing to choose. */
static void products(const struct learner *base, struct strbuf *sb)
{
	(void)base;
	(void)sb;
}

static void describe(const struct learner *base, struct strbuf *sb)
{
	const struct module_learner *l = (const struct module_learner *)base;

	strbuf_addf(sb, "NeuronCore %u of %s, modules compiled ahead, products in %s",
	            l->runtime.core, l->runtime.target, precision_name(precision(base)));
}

static const struct learner_backend backend = {
	.done = done,
	.precision = precision,
	.products = products,
	.describe = describe,
	.init = init,
	.has = has,
	.get = get,
	.set = set,
	.counts = get_counts,
	.set_counts = set_counts,
	.is_finite = is_finite,
	.exchange_average = exchange_average,
	.prepare = prepare,
	.begin = begin,
	.sum_next = sum_next,
	.stage = stage,
	.plan = plan,
	.start = start,
	.finish = finish,
	.finish_sums = finish_sums,
	.conclude = conclude,
	.norm = get_norm,
	.apply = apply,
	.keep = keep_good,
	.go_back = go_back,
	.forward = forward,
	.decode = decode,
	.measure = measure,
};

static struct module_learner *new_learner(const struct neuron_run *run, unsigned ranks)
{
	struct module_learner *l = mem_zalloc(sizeof(*l));

	l->run = *run;
	l->dims = model_dims(&run->config);
	params_build(&run->config, &l->table, &l->ids);
	l->base = (struct learner){.backend = &backend,
	                           .config = &l->run.config,
	                           .dims = &l->dims,
	                           .table = &l->table,
	                           .copies = true,
	                           .sums_by_itself = ranks > 1};
	return l;
}

/* What was found is as large as three paths: not on the stack of whoever goes on. */
static int load(struct module_learner *l, const struct neuron_start *start, struct err *err)
{
	const struct neuron_place place = {.rank = start->rank, .ranks = start->ranks};
	AUTO_FREE struct neuron_found *found = mem_zalloc(sizeof(*found));

	if (neuron_runtime_open(start->core, &l->runtime, err) != 0)
		return -1;
	if (start->settle != NULL &&
	    start->settle(start->ctx, l->runtime.target, &l->run, err) != 0)
		return -1;
	if (neuron_find(&l->run, start, l->runtime.target, found, err) != 0)
		return -1;
	return neuron_engine_new(&l->runtime.nrt, &l->run, &place, found->neffs, &l->engine, err);
}

int neuron_learner_new(const struct neuron_run *run, const struct neuron_start *start,
                       struct learner **ret, struct err *err)
{
	struct module_learner *l = new_learner(run, start->ranks);

	if (load(l, start, err) != 0) {
		done(&l->base);
		return -1;
	}
	*ret = &l->base;
	return 0;
}
