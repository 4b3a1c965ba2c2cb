/* Products whose operands are rounded to bf16, in tiles of 128 x 128. */
#include "trainer/cuda/kernels/device.h"

/* Devices before 8.0 neither copy ahead nor have bf16: their text is empty. */
#if !defined(SM) || SM >= 80

#define PACK(low, high)     pack_bf16(low, high)
#define MULTIPLY(sum, a, b) matrix_multiply_bf16(sum, a, b)
#include "trainer/cuda/kernels/ahead_half.inc"

#define AHEAD_TILE   128
#define AHEAD_PIECES AHEAD_PIECES_128
#define AHEAD_PIECE  product_piece_128
#define AHEAD_SHARED product_ahead_128

#include "trainer/cuda/kernels/product_ahead.inc"

void product_bf16_128_nt(struct product_launch p)
{
	product_ahead(&p, true, true);
}

void product_bf16_128_nn(struct product_launch p)
{
	product_ahead(&p, true, false);
}

void product_bf16_128_tn(struct product_launch p)
{
	product_ahead(&p, false, false);
}

#endif
