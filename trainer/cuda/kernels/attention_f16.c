/* Attention whose products have operands that are rounded to f16. */
#include "trainer/cuda/kernels/device.h"

#define PACK(low, high)     pack_f16(low, high)
#define MULTIPLY(sum, a, b) matrix_multiply_f16(sum, a, b)

/* A probability among 50,000 keys would have few digits left: f16 thins out below 2^-14. The
 * largest is 1, or 1 / (1 - p) with dropout, so this leaves room up to p = 0.996. */
#define WEIGHTS_TIMES 256.0f

#include "trainer/cuda/kernels/attention_half.inc"

void attention_f16_forward(struct attention_launch p)
{
	forward(&p);
}

void attention_f16_dq(struct attention_launch p)
{
	queries_backward(&p);
}

void attention_f16_dk(struct attention_launch p)
{
	keys_backward(&p);
}

void attention_f16_dv(struct attention_launch p)
{
	values_backward(&p);
}
