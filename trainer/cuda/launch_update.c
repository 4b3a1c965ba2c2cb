/* Ops over whole sets of tensors. */
#include "trainer/cuda/launch.h"

_Static_assert(sizeof(struct update_terms) == sizeof(struct op_terms), "twins");
#define TWIN(member)                                                                               \
	_Static_assert(offsetof(struct update_terms, member) == offsetof(struct op_terms, member), \
	               #member)
TWIN(unscale);
TWIN(limit);
TWIN(lr);
TWIN(average);
TWIN(barred);
TWIN(vote);
TWIN(scale);
TWIN(goes);

/* An address of the device's, whose terms have another name there. */
static struct update_terms *terms_at(const struct op_terms *there)
{
	return (struct update_terms *)(uintptr_t)there;
}

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

void cuda_vote(struct cuda_queue *q, const struct op_vote *p)
{
	struct vote_launch l = {.figures = p->figures, .terms = terms_at(p->terms), .n = p->n};

	q->launch(q, KERNEL_vote, (const unsigned[3]){1, 1, 1}, &l);
}

void cuda_judge(struct cuda_queue *q, const struct op_judge *p)
{
	struct judge_launch l = {.squares = p->squares,
	                         .terms = terms_at(p->terms),
	                         .norm = p->norm,
	                         .goes = p->goes};

	q->launch(q, KERNEL_judge, (const unsigned[3]){1, 1, 1}, &l);
}

void cuda_sgd(struct cuda_queue *q, const struct op_update *p)
{
	struct sgd_launch l = {.p = p->p,
	                       .m = p->m,
	                       .g = p->g,
	                       .terms = terms_at(p->terms),
	                       .n = p->n,
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
	                         .terms = terms_at(p->terms),
	                         .n = p->n,
	                         .decay = p->decay,
	                         .beta1 = p->beta1,
	                         .beta2 = p->beta2,
	                         .eps = p->eps};

	each(q, KERNEL_adamw, p->n, &l);
}

void cuda_average(struct cuda_queue *q, const struct op_average *p)
{
	struct average_launch l = {.a = p->a, .b = p->b, .terms = terms_at(p->terms), .n = p->n};

	each(q, KERNEL_average, p->n, &l);
}

void cuda_exchange(struct cuda_queue *q, const struct op_exchange *p)
{
	struct exchange_launch l = {.a = p->a, .b = p->b, .n = p->n};

	each(q, KERNEL_exchange, p->n, &l);
}
