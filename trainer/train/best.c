#include "trainer/train/best.h"

#include <math.h>

/* How much better a is than b. */
static double gain(enum metric m, double a, double b)
{
	return metric_row(m)->higher ? a - b : b - a;
}

/* Infinities are equal to each other, and their difference is not a number. */
static bool improves(const struct best_options *o, double value, double mark, double min_delta)
{
	double by = gain(o->metric, value, mark);

	return by > 0 && by >= min_delta;
}

bool best_judge(struct best *b, const struct best_options *o, uint64_t step, double value)
{
	bool first, best;

	if (b->metric != o->metric)
		*b = (struct best){.metric = o->metric};
	b->evaluated = step;
	b->stale++;
	if (isnan(value))
		return false;
	first = b->step == 0;
	best = first || improves(o, value, b->value, 0);
	if (first || improves(o, value, b->mark, o->min_delta)) {
		b->mark = value;
		b->stale = 0;
	}
	if (best) {
		b->step = step;
		b->value = value;
	}
	return best;
}

bool best_is_stale(const struct best *b, const struct best_options *o)
{
	return o->patience > 0 && b->stale >= o->patience && b->metric == o->metric;
}

void best_forget(struct best *b)
{
	*b = (struct best){.evaluated = b->evaluated, .metric = b->metric};
}
