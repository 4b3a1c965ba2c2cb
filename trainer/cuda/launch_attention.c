/* Attention, forward and backward. */
#include <math.h>

#include "trainer/cuda/launch.h"

static struct attention_launch attention_of(const struct op_attention *p)
{
	double share = p->dropout.p;

	return (struct attention_launch){
		.q = p->q,
		.k = p->k,
		.values = p->values,
		.d_o = p->d_o,
		.o = p->o,
		.lse = p->lse,
		.dq = p->dq,
		.dk = p->dk,
		.dvalues = p->dvalues,
		.batch = (uint32_t)p->batch,
		.heads = (uint32_t)p->heads,
		.nq = (uint32_t)p->nq,
		.nk = (uint32_t)p->nk,
		.qk = (uint32_t)p->qk,
		.v = (uint32_t)p->v,
		.q_shared = p->q_shared,
		.scale = (float)(1 / sqrt((double)p->qk)),
		/* word >= p 2^32 of a whole number is word >= p 2^32 rounded up */
		.dropout = {.seed = p->dropout.seed,
	                    .threshold = (uint64_t)ceil(share * 0x1p32),
	                    .sample = p->dropout.sample,
	                    .layer = p->dropout.layer,
	                    .keep = (float)(1 / (1 - share))}};
}

static unsigned tiles(size_t n, unsigned tile)
{
	return (unsigned)((n + tile - 1) / tile);
}

/* A block per tile of rows, chunk of columns, clip and head. */
static void launch(struct cuda_queue *q, enum cuda_kernel kernel, size_t rows, size_t columns,
                   size_t clips_and_heads, const struct attention_launch *l)
{
	unsigned grid[3] = {tiles(rows, ATTENTION_TILE), tiles(columns, ATTENTION_COLUMNS),
	                    (unsigned)clips_and_heads};

	if (grid[0] > 0 && grid[1] > 0 && grid[2] > 0)
		q->launch(q, kernel, grid, l);
}

void cuda_attention_forward(struct cuda_queue *q, const struct op_attention *p)
{
	struct attention_launch l = attention_of(p);

	launch(q, KERNEL_attention_forward, p->nq, p->v, p->batch * p->heads, &l);
}

void cuda_attention_backward(struct cuda_queue *q, const struct op_attention *p)
{
	struct attention_launch l = attention_of(p);
	size_t rows = p->batch * p->heads * p->nq, n = p->batch * p->heads;

	if (rows == 0)
		return;
	l.delta = q->scratch(q, rows * sizeof(float));
	q->launch(q, KERNEL_attention_delta, (const unsigned[3]){tiles(rows, ROW_WARPS), 1, 1}, &l);
	launch(q, KERNEL_attention_dq, p->nq, p->qk, p->q_shared ? p->heads : n, &l);
	launch(q, KERNEL_attention_dk, p->nk, p->qk, n, &l);
	launch(q, KERNEL_attention_dv, p->nk, p->v, n, &l);
}
