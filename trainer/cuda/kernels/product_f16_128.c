/* Products whose operands are rounded to f16, on devices from 8.0 on, in tiles of 128 x 128. */
#include "trainer/cuda/kernels/device.h"

/* Devices before 8.0 do not copy ahead: their text is empty. */
#if !defined(SM) || SM >= 80

#define PACK(low, high)     pack_f16(low, high)
#define MULTIPLY(sum, a, b) matrix_multiply_f16(sum, a, b)
#include "trainer/cuda/kernels/ahead_half.inc"

#define AHEAD_TILE   128
#define AHEAD_PIECES AHEAD_PIECES_128
#define AHEAD_PIECE  product_piece_128
#define AHEAD_SHARED product_ahead_128

#include "trainer/cuda/kernels/product_ahead.inc"

void product_f16_128_nt(struct product_launch p)
{
	product_ahead(&p, true, true);
}

void product_f16_128_nn(struct product_launch p)
{
	product_ahead(&p, true, false);
}

void product_f16_128_tn(struct product_launch p)
{
	product_ahead(&p, false, false);
}

#endif
