/* The sweeps of the folded cross attention, operands rounded to bf16. */
#include "trainer/cuda/kernels/device.h"

/* Devices before 8.0 have no bf16: their text is empty. */
#if !defined(SM) || SM >= 80

#define PACK(low, high)     pack_bf16(low, high)
#define MULTIPLY(sum, a, b) matrix_multiply_bf16(sum, a, b)
#define SLOPES_TIMES        1.0f

#include "trainer/cuda/kernels/fold_half.inc"

void fold_bf16_forward(struct fold_sweep_launch p)
{
	sweep_forward(&p);
}

void fold_bf16_backward(struct fold_sweep_launch p)
{
	sweep_backward(&p);
}

#endif
