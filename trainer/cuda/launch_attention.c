/* Attention, forward and backward. */
#include <math.h>

#include "trainer/cuda/launch.h"

/* word >= p 2^32 of a whole number is word >= p 2^32 rounded up */
struct dropout_launch cuda_dropout(const struct op_dropout *d)
{
	return (struct dropout_launch){.seed = d->seed,
	                               .threshold = (uint64_t)ceil(d->p * 0x1p32),
	                               .sample = d->sample,
	                               .layer = d->layer,
	                               .keep = (float)(1 / (1 - d->p))};
}

static struct attention_launch attention_of(const struct op_attention *p)
{
	return (struct attention_launch){.q = p->q,
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
	                                 .dropout = cuda_dropout(&p->dropout)};
}

static unsigned tiles(size_t n, unsigned tile)
{
	return (unsigned)((n + tile - 1) / tile);
}

enum attention_part { FORWARD, DQ, DK, DV, ATTENTION_PARTS };

#define ATTENTION_F32                                                                              \
	{                                                                                          \
		{KERNEL_attention_forward, KERNEL_attention_dq, KERNEL_attention_dk,               \
		 KERNEL_attention_dv},                                                             \
			ATTENTION_TILE                                                             \
	}

/* Parts by operands, and the rows that a block owns. */
static const struct {
	enum cuda_kernel kernel[ATTENTION_PARTS];
	unsigned rows;
} attentions[] = {
	[OPERANDS_F32] = ATTENTION_F32,
	[OPERANDS_TF32] = ATTENTION_F32,
	[OPERANDS_F16] = {{KERNEL_attention_f16_forward, KERNEL_attention_f16_dq,
                           KERNEL_attention_f16_dk, KERNEL_attention_f16_dv},
                          ATTENTION_HALF_ROWS},
	[OPERANDS_BF16] = {{KERNEL_attention_bf16_forward, KERNEL_attention_bf16_dq,
                            KERNEL_attention_bf16_dk, KERNEL_attention_bf16_dv},
                           ATTENTION_HALF_ROWS},
};

/* A block per tile of rows, chunk of columns, clip and head. */
static void launch(struct cuda_queue *q, enum attention_part part, size_t rows, size_t columns,
                   size_t clips_and_heads, const struct attention_launch *l)
{
	unsigned grid[3] = {tiles(rows, attentions[q->operands].rows),
	                    tiles(columns, ATTENTION_COLUMNS), (unsigned)clips_and_heads};

	if (grid[0] > 0 && grid[1] > 0 && grid[2] > 0)
		q->launch(q, attentions[q->operands].kernel[part], grid, l);
}

void cuda_attention_forward(struct cuda_queue *q, const struct op_attention *p)
{
	struct attention_launch l = attention_of(p);

	launch(q, FORWARD, p->nq, p->v, p->batch * p->heads, &l);
}

void cuda_attention_backward(struct cuda_queue *q, const struct op_attention *p)
{
	struct attention_launch l = attention_of(p);
	size_t rows = p->batch * p->heads * p->nq, n = p->batch * p->heads;

	if (rows == 0)
		return;
	l.delta = q->scratch(q, rows * sizeof(float));
	q->launch(q, KERNEL_attention_delta, (const unsigned[3]){tiles(rows, ROW_WARPS), 1, 1}, &l);
	launch(q, DQ, p->nq, p->qk, p->q_shared ? p->heads : n, &l);
	launch(q, DK, p->nk, p->qk, n, &l);
	launch(q, DV, p->nk, p->v, n, &l);
}
