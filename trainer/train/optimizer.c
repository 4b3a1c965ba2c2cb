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
	if (options->ema_decay > 0)
		tensors_like(params, ops, "averaged weights", &o->average);
}

void optimizer_done(struct optimizer *o)
{
	tensors_done(&o->m);
	tensors_done(&o->v);
	tensors_done(&o->average);
}

static void change_weights(struct optimizer *o, struct tensors *params, const struct tensors *grads,
                           double lr, double scale, struct ops *ops)
{
	const struct optimizer_options *q = &o->options;
	double t = (double)++o->steps;
	struct op_update u = {.n = params->n_values,
	                      .p = params->data,
	                      .m = o->m.data,
	                      .v = o->v.data,
	                      .g = grads->data,
	                      .scale = (float)scale,
	                      .lr = (float)lr,
	                      .decay = (float)q->weight_decay,
	                      .momentum = (float)q->momentum,
	                      .beta1 = (float)q->beta1,
	                      .beta2 = (float)q->beta2,
	                      .eps = (float)q->eps};

	if (q->kind == OPTIMIZER_SGD) {
		ops->table->sgd(ops, &u);
		return;
	}
	u.correct1 = (float)(1 / (1 - pow(q->beta1, t)));
	u.correct2 = (float)(1 / (1 - pow(q->beta2, t)));
	ops->table->adamw(ops, &u);
}

void optimizer_step(struct optimizer *o, struct tensors *params, const struct tensors *grads,
                    double lr, double scale, struct ops *ops)
{
	change_weights(o, params, grads, lr, scale, ops);
	if (o->average.n == 0)
		return;
	average_update(&o->average, params, average_decay(o->options.ema_decay, o->averaged), ops);
	o->averaged++;
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
