/* Attention whose products have operands that are rounded to bf16. */
#include "trainer/cuda/kernels/device.h"

/* Devices before 8.0 have no bf16: their text is empty. */
#if !defined(SM) || SM >= 80

#define PACK(low, high)     pack_bf16(low, high)
#define MULTIPLY(sum, a, b) matrix_multiply_bf16(sum, a, b)
#define WEIGHTS_TIMES       1.0f

#include "trainer/cuda/kernels/attention_half.inc"

void attention_bf16_forward(struct attention_launch p)
{
	forward(&p);
}

void attention_bf16_dq(struct attention_launch p)
{
	queries_backward(&p);
}

void attention_bf16_dk(struct attention_launch p)
{
	keys_backward(&p);
}

void attention_bf16_dv(struct attention_launch p)
{
	values_backward(&p);
}

#endif
