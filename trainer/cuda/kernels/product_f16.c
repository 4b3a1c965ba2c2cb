/* Products whose operands are rounded to f16, on devices before 8.0. */
#include "trainer/cuda/kernels/device.h"

/* Later ones copy ahead (product_f16_64.c): their text is empty. */
#if !defined(SM) || SM < 80

#define PACK(low, high)     pack_f16(low, high)
#define MULTIPLY(sum, a, b) matrix_multiply_f16(sum, a, b)

#include "trainer/cuda/kernels/product_half.inc"

void product_f16_nt(struct product_launch p)
{
	product_half(&p, true, true);
}

void product_f16_nn(struct product_launch p)
{
	product_half(&p, true, false);
}

void product_f16_tn(struct product_launch p)
{
	product_half(&p, false, false);
}

#endif
