/* Ops over whole sets of tensors. */
#include "trainer/cuda/launch.h"

static void each(struct cuda_queue *q, enum cuda_kernel kernel, size_t n, const void *params)
{
	if (n > 0)
		q->launch(q, kernel, (const unsigned[3]){cuda_each_blocks(n), 1, 1}, params);
}

/* *sum = the kernel's figure over all values: each block's, then the blocks' in their order. */
static void total(struct cuda_queue *q, enum cuda_kernel kernel, const float *x, size_t n,
                  double *sum)
{
	struct total_launch l = {
		.x = x, .partial = q->scratch(q, SUM_BLOCKS * sizeof(double)), .n = n};
	struct add_doubles_launch end = {
		.x = l.partial, .out = sum, .rows = SUM_BLOCKS, .columns = 1};

	q->launch(q, kernel, (const unsigned[3]){SUM_BLOCKS, 1, 1}, &l);
	q->launch(q, KERNEL_add_doubles, (const unsigned[3]){1, 1, 1}, &end);
}

void cuda_sum_squares(struct cuda_queue *q, const struct op_sum_squares *p)
{
	total(q, KERNEL_sum_squares, p->x, p->n, p->sum);
}

void cuda_count_bad(struct cuda_queue *q, const struct op_count_bad *p)
{
	total(q, KERNEL_count_bad, p->x, p->n, p->count);
}

void cuda_sgd(struct cuda_queue *q, const struct op_update *p)
{
	struct sgd_launch l = {.p = p->p,
	                       .m = p->m,
	                       .g = p->g,
	                       .n = p->n,
	                       .scale = p->scale,
	                       .lr = p->lr,
	                       .decay = p->decay,
	                       .momentum = p->momentum};

	each(q, KERNEL_sgd, p->n, &l);
}

void cuda_adamw(struct cuda_queue *q, const struct op_update *p)
{
	struct adamw_launch l = {.p = p->p,
	                         .m = p->m,
	                         .v = p->v,
	                         .g = p->g,
	                         .n = p->n,
	                         .scale = p->scale,
	                         .lr = p->lr,
	                         .decay = p->decay,
	                         .beta1 = p->beta1,
	                         .beta2 = p->beta2,
	                         .eps = p->eps,
	                         .correct1 = p->correct1,
	                         .correct2 = p->correct2};

	each(q, KERNEL_adamw, p->n, &l);
}

void cuda_average(struct cuda_queue *q, const struct op_average *p)
{
	struct average_launch l = {.a = p->a, .b = p->b, .n = p->n, .weight = p->weight};

	each(q, KERNEL_average, p->n, &l);
}

void cuda_exchange(struct cuda_queue *q, const struct op_exchange *p)
{
	struct exchange_launch l = {.a = p->a, .b = p->b, .n = p->n};

	each(q, KERNEL_exchange, p->n, &l);
}
