#include "trainer/cuda/launch_cross.h"

static bool folds(const struct op_cross *p)
{
	return p->heads == 1;
}

size_t cuda_cross_place(const struct op_cross *p, float *at, struct cuda_cross *ret)
{
	*ret = (struct cuda_cross){0};
	return folds(p) ? cuda_fold_place(p, at, &ret->fold) : cuda_plain_place(p, at, &ret->plain);
}

void cuda_cross_forward(struct cuda_queue *q, const struct op_cross *p)
{
	if (folds(p))
		cuda_fold_forward(q, p);
	else
		cuda_plain_forward(q, p);
}

void cuda_cross_backward(struct cuda_queue *q, const struct op_cross *p)
{
	if (folds(p))
		cuda_fold_backward(q, p);
	else
		cuda_plain_backward(q, p);
}
