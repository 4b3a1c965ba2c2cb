#include "trainer/train/average.h"

#include "trainer/ops/ops.h"

double average_decay(double decay, uint64_t t)
{
	double ramp = t == 0 ? 0 : (1 + (double)t) / (10 + (double)t);

	return ramp < decay ? ramp : decay;
}

void average_update(struct tensors *average, const struct tensors *weights,
                    const struct op_terms *terms, struct ops *ops)
{
	struct op_average p = {weights->n_values, average->data, weights->data, terms};

	ops->table->average(ops, &p);
}

void average_exchange(struct tensors *a, struct tensors *b, struct ops *ops)
{
	struct op_exchange p = {a->n_values, a->data, b->data};

	ops->table->exchange(ops, &p);
}
