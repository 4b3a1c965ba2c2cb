#include "trainer/train/optimizer.h"

#include <math.h>

#include "trainer/ops/ops.h"
#include "trainer/train/average.h"

void optimizer_init(struct optimizer *o, const struct optimizer_options *options,
                    const struct tensors *params, struct ops *ops)
{
	*o = (struct optimizer){.options = *options};
	tensors_like(params, ops, "optimizer", &o->m);
	if (options->kind == OPTIMIZER_ADAMW)
		tensors_like(params, ops, "optimizer", &o->v);
	o->terms = buffer_new(ops, sizeof(struct op_terms), "optimizer");
	if (options->ema_decay > 0)
		tensors_like(params, ops, "averaged weights", &o->average);
}

void optimizer_done(struct optimizer *o)
{
	buffer_free(o->m.ops, &o->terms);
	tensors_done(&o->m);
	tensors_done(&o->v);
	tensors_done(&o->average);
}

struct op_terms *optimizer_terms(const struct optimizer *o)
{
	return o->terms.at;
}

void optimizer_send(struct optimizer *o, double lr, struct op_terms *terms, struct ops *ops)
{
	const struct optimizer_options *q = &o->options;
	double t = (double)(o->steps + 1);

	terms->lr = (float)lr;
	terms->correct1 = (float)(1 / (1 - pow(q->beta1, t)));
	terms->correct2 = (float)(1 / (1 - pow(q->beta2, t)));
	terms->average = (float)(1 - average_decay(q->ema_decay, o->averaged));
	ops_upload(ops, o->terms.at, terms, sizeof(*terms));
}

void optimizer_update(struct optimizer *o, struct tensors *params, const struct tensors *grads,
                      struct ops *ops)
{
	const struct optimizer_options *q = &o->options;
	struct op_update u = {.n = params->n_values,
	                      .p = params->data,
	                      .m = o->m.data,
	                      .v = o->v.data,
	                      .g = grads->data,
	                      .terms = optimizer_terms(o),
	                      .decay = (float)q->weight_decay,
	                      .momentum = (float)q->momentum,
	                      .beta1 = (float)q->beta1,
	                      .beta2 = (float)q->beta2,
	                      .eps = (float)q->eps};

	if (q->kind == OPTIMIZER_SGD)
		ops->table->sgd(ops, &u);
	else
		ops->table->adamw(ops, &u);
	if (o->average.n > 0)
		average_update(&o->average, params, optimizer_terms(o), ops);
}

void optimizer_count(struct optimizer *o)
{
	o->steps++;
	o->averaged += o->average.n > 0;
}

void optimizer_step(struct optimizer *o, struct tensors *params, const struct tensors *grads,
                    double lr, double scale, struct ops *ops)
{
	struct op_terms terms = {.scale = (float)scale, .goes = 1};

	optimizer_send(o, lr, &terms, ops);
	optimizer_update(o, params, grads, ops);
	optimizer_count(o);
}

double grads_norm(const struct tensors *grads, struct ops *ops)
{
	struct op_sum_squares p = {grads->n_values, grads->data, ops_figures(ops)};
	double sum;

	ops->table->sum_squares(ops, &p);
	ops_read_figures(ops, &sum, 1);
	return sqrt(sum);
}

double clip_scale(double norm, double max_norm)
{
	double scale = max_norm / (norm + 1e-6);

	return max_norm > 0 && scale < 1 ? scale : 1;
}
