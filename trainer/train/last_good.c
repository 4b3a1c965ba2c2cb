#include "trainer/train/last_good.h"

#include "trainer/ops/ops.h"

static void like(const struct tensors *set, struct tensors *ret)
{
	if (set->n > 0)
		tensors_like(set, set->ops, "last good weights", ret);
}

void last_good_take(struct last_good *g, const struct tensors *params, const struct optimizer *o,
                    double norm_mean)
{
	if (!g->taken) {
		like(params, &g->params);
		like(&o->m, &g->m);
		like(&o->v, &g->v);
		like(&o->average, &g->average);
		g->taken = true;
	}
	tensors_copy(&g->params, params);
	tensors_copy(&g->m, &o->m);
	tensors_copy(&g->v, &o->v);
	tensors_copy(&g->average, &o->average);
	g->updates = o->steps;
	g->averaged = o->averaged;
	g->norm_mean = norm_mean;
}

void last_good_restore(const struct last_good *g, struct tensors *params, struct optimizer *o,
                       double *norm_mean)
{
	tensors_copy(params, &g->params);
	tensors_copy(&o->m, &g->m);
	tensors_copy(&o->v, &g->v);
	tensors_copy(&o->average, &g->average);
	o->steps = g->updates;
	o->averaged = g->averaged;
	*norm_mean = g->norm_mean;
}

void last_good_done(struct last_good *g)
{
	tensors_done(&g->params);
	tensors_done(&g->m);
	tensors_done(&g->v);
	tensors_done(&g->average);
	*g = (struct last_good){0};
}

bool tensors_are_finite(const struct tensors *set, struct ops *ops)
{
	struct op_count_bad p = {set->n_values, set->data, ops_figures(ops)};
	double bad;

	ops->table->count_bad(ops, &p);
	ops_read_figures(ops, &bad, 1);
	return bad == 0;
}
