/* Products whose operands are rounded to bf16. */
#include "trainer/cuda/kernels/device.h"

/* Devices before 8.0 have no bf16: their text is empty. */
#if !defined(SM) || SM >= 80

#define PACK(low, high)     pack_bf16(low, high)
#define MULTIPLY(sum, a, b) matrix_multiply_bf16(sum, a, b)

#include "trainer/cuda/kernels/product_half.inc"

void product_bf16_nt(struct product_launch p)
{
	product_half(&p, true, true);
}

void product_bf16_nn(struct product_launch p)
{
	product_half(&p, true, false);
}

void product_bf16_tn(struct product_launch p)
{
	product_half(&p, false, false);
}

#endif
