/* The sweeps of the folded cross attention, operands rounded to f16. */
#include "trainer/cuda/kernels/device.h"

#define PACK(low, high)     pack_f16(low, high)
#define MULTIPLY(sum, a, b) matrix_multiply_f16(sum, a, b)

/* A probability among 50,000 keys would leave its derivative few digits: f16 thins out below
 * 2^-14. */
#define SLOPES_TIMES 256.0f

#include "trainer/cuda/kernels/fold_half.inc"

void fold_f16_forward(struct fold_sweep_launch p)
{
	sweep_forward(&p);
}

void fold_f16_backward(struct fold_sweep_launch p)
{
	sweep_backward(&p);
}
