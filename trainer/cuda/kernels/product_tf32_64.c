/* Products whose operands are rounded to tf32, in tiles of 64 x 64. */
#include "trainer/cuda/kernels/device.h"

/* Devices before 8.0 neither copy ahead nor have tf32: their text is empty. */
#if !defined(SM) || SM >= 80

#include "trainer/cuda/kernels/ahead_tf32.inc"

#define AHEAD_TILE   64
#define AHEAD_PIECES AHEAD_PIECES_64
#define AHEAD_PIECE  product_piece_64
#define AHEAD_SHARED product_ahead_64

#include "trainer/cuda/kernels/product_ahead.inc"

void product_tf32_64_nt(struct product_launch p)
{
	product_ahead(&p, true, true);
}

void product_tf32_64_nn(struct product_launch p)
{
	product_ahead(&p, true, false);
}

void product_tf32_64_tn(struct product_launch p)
{
	product_ahead(&p, false, false);
}

#endif
