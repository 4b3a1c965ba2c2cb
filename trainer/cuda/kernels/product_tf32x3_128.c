/* Products in float32 by three of tf32, in tiles of 128 x 128. */
#include "trainer/cuda/kernels/device.h"

/* Devices before 8.0 neither copy ahead nor have tf32: their text is empty. */
#if !defined(SM) || SM >= 80

#include "trainer/cuda/kernels/ahead_tf32x3.inc"

#define AHEAD_TILE   128
#define AHEAD_PIECES AHEAD_PIECES_128
#define AHEAD_PIECE  product_piece_128
#define AHEAD_SHARED product_ahead_128

#include "trainer/cuda/kernels/product_ahead.inc"

void product_tf32x3_128_nt(struct product_launch p)
{
	product_ahead(&p, true, true);
}

void product_tf32x3_128_nn(struct product_launch p)
{
	product_ahead(&p, true, false);
}

void product_tf32x3_128_tn(struct product_launch p)
{
	product_ahead(&p, false, false);
}

#endif
