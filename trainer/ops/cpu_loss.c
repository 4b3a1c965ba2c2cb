/* Losses: some thousand values, summed by one thread in their order, in double. */
#include <math.h>

#include "trainer/ops/cpu.h"

static size_t target_of(const struct op_l1 *p, size_t i)
{
	size_t point = (size_t)p->point[i / p->channels], channel = i % p->channels;

	return (point / p->plane * p->channels + channel) * p->plane + point % p->plane;
}

void cpu_l1_forward(struct ops *ops, const struct op_l1 *p)
{
	double absolute = 0, square = 0, power = 0;
	const float *x = p->x;

	(void)ops;
	for (size_t clip = 0; clip < p->batch; clip++) {
		for (size_t i = 0; i < p->points * p->channels; i++, x++) {
			double target = p->target[clip * p->clip + target_of(p, i)];
			double difference = (double)*x - target;

			absolute += fabs(difference);
			square += difference * difference;
			power += target * target;
		}
	}
	p->sums[OP_L1_ABSOLUTE] = absolute;
	p->sums[OP_L1_SQUARE] = square;
	p->sums[OP_L1_POWER] = power;
}

void cpu_l1_backward(struct ops *ops, const struct op_l1 *p)
{
	const float *x = p->x;
	float *dx = p->dx, factor = (float)p->factor;

	(void)ops;
	for (size_t clip = 0; clip < p->batch; clip++) {
		for (size_t i = 0; i < p->points * p->channels; i++, x++) {
			float target = p->target[clip * p->clip + target_of(p, i)];

			*dx++ = *x > target ? factor : *x < target ? -factor : 0;
		}
	}
}

size_t op_label_rank(const float *x, size_t n, size_t label)
{
	size_t before = 0;

	for (size_t i = 0; i < n; i++)
		before += x[i] > x[label] || (i < label && !(x[i] < x[label]));
	return before;
}

/* The sum of exp(x - largest), and the largest. */
static double sum_of(const float *x, size_t n, float *ret_largest)
{
	size_t best = 0;
	double sum = 0;

	for (size_t i = 1; i < n; i++)
		best = x[i] > x[best] ? i : best;
	for (size_t i = 0; i < n; i++)
		sum += exp((double)x[i] - x[best]);
	*ret_largest = x[best];
	return sum;
}

void cpu_entropy_forward(struct ops *ops, const struct op_entropy *p)
{
	double entropy = 0, hits = 0, hits5 = 0;

	(void)ops;
	for (size_t r = 0; r < p->rows; r++) {
		const float *x = p->x + r * p->width;
		size_t label = (size_t)p->label[r], rank = op_label_rank(x, p->width, label);
		float largest;
		double sum = sum_of(x, p->width, &largest);

		entropy += log(sum) + largest - x[label];
		hits += rank < 1;
		hits5 += rank < OP_ENTROPY_TOP;
	}
	p->sums[OP_ENTROPY_SUM] = entropy;
	p->sums[OP_ENTROPY_HITS] = hits;
	p->sums[OP_ENTROPY_HITS5] = hits5;
}

void cpu_entropy_backward(struct ops *ops, const struct op_entropy *p)
{
	(void)ops;
	for (size_t r = 0; r < p->rows; r++) {
		const float *x = p->x + r * p->width;
		float *dx = p->dx + r * p->width, largest;
		double sum = sum_of(x, p->width, &largest);

		for (size_t i = 0; i < p->width; i++)
			dx[i] = (float)(p->factor * (exp((double)x[i] - largest) / sum -
			                             (i == (size_t)p->label[r])));
	}
}
