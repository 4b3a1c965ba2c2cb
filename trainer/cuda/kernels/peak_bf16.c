/* A device's peak in bf16 by its matrix units. */
#include "trainer/cuda/kernels/peak.h"

/* Devices before 8.0 have no bf16: their text is empty. */
#if !defined(SM) || SM >= 80

#define PACK(low, high)     pack_bf16(low, high)
#define MULTIPLY(sum, a, b) matrix_multiply_bf16(sum, a, b)

#include "trainer/cuda/kernels/peak_half.inc"

void peak_bf16(struct peak_launch p)
{
	peak_half(&p);
}

#endif
