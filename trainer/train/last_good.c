#include "trainer/train/last_good.h"

#include <math.h>
#include <string.h>

static void copy(struct tensors *to, const struct tensors *from)
{
	if (from->data != NULL)
		memcpy(to->data, from->data, from->n_values * sizeof(*from->data));
}

void last_good_take(struct last_good *g, const struct tensors *params, const struct optimizer *o,
                    double norm_mean)
{
	if (!g->taken) {
		tensors_like(params, &g->params);
		tensors_like(params, &g->m);
		if (o->v.data != NULL)
			tensors_like(params, &g->v);
		if (o->average.data != NULL)
			tensors_like(params, &g->average);
		g->taken = true;
	}
	copy(&g->params, params);
	copy(&g->m, &o->m);
	copy(&g->v, &o->v);
	copy(&g->average, &o->average);
	g->updates = o->steps;
	g->averaged = o->averaged;
	g->norm_mean = norm_mean;
}

void last_good_restore(const struct last_good *g, struct tensors *params, struct optimizer *o,
                       double *norm_mean)
{
	copy(params, &g->params);
	copy(&o->m, &g->m);
	copy(&o->v, &g->v);
	copy(&o->average, &g->average);
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

bool tensors_are_finite(const struct tensors *set)
{
	for (size_t i = 0; i < set->n; i++)
		for (size_t k = 0; k < set->at[i].n; k++)
			if (!isfinite(set->at[i].data[k]))
				return false;
	return true;
}
