/*
 * Pieces of operands in shared memory, in float32, where copies put them (product_ahead.inc): where
 * a value of a piece lies, and how a warp reads 16 x 8 of them.
 *
 * A `deep` piece is rows of AHEAD_DEPTH values, a wide one AHEAD_DEPTH lines of a tile's rows. Both
 * are groups of four values, 16 bytes, which change places within their line by an exclusive or:
 * the eight rows that ldmatrix reads at once, and the 4 x 8 values that a warp loads one by one,
 * then lie in different banks, without a byte of padding.
 */
#ifndef SLIPWAY_TRAINER_CUDA_KERNELS_AHEAD_H
#define SLIPWAY_TRAINER_CUDA_KERNELS_AHEAD_H

#include "trainer/cuda/kernels/product.h"

/* From which addresses are computed: kept through the loop, unless who includes this has no
 * registers for them. */
#ifndef AHEAD_LANE
#define AHEAD_LANE lane_index()
#endif

/* A line is 64 bytes: two lie beside each other in the 32 banks, and the third below the first. */
INLINE unsigned deep_place(unsigned row, unsigned k)
{
	return row * AHEAD_DEPTH + (k / 4 ^ row / 2 % 4) * 4 + k % 4;
}

/* Lines lie below each other: two groups of four to the right are the next 8 banks. */
INLINE unsigned wide_place(unsigned k, unsigned row, unsigned tile)
{
	return k * tile + (row / 4 ^ k % 4 * 2) * 4 + row % 4;
}

/* What instructions and copies take for bits, and C for a number. */
typedef uint32_t word __attribute__((may_alias));

INLINE float float_of(uint32_t bits)
{
	union {
		uint32_t bits;
		float value;
	} both = {.bits = bits};

	return both.value;
}

/*
 * 16 rows by 8 of depth, from (row, k) on. With g = lane / 4 and t = lane % 4, a left operand's are
 * (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4); a right one's the same with the middle two
 * exchanged, which are then two operands of 8 columns. ldmatrix takes four values of a row for
 * eight of 16 bits: a lane's pair of these is one value.
 */
INLINE void read_16_by_8(uint32_t ret[4], const SHARED float *piece, bool deep, unsigned row,
                         unsigned k, unsigned tile, bool right)
{
	unsigned lane = AHEAD_LANE, matrix = lane / 8;
	unsigned g = lane / 4, t = lane % 4;

	if (deep) {
		unsigned low = matrix % 2, high = matrix / 2;

		row += (right ? high : low) * 8 + lane % 8;
		k += (right ? low : high) * 4;
		matrix_load_rows(ret, piece + deep_place(row, k));
		return;
	}
	UNROLL
	for (unsigned i = 0; i < 4; i++) {
		unsigned low = i % 2, high = i / 2;
		unsigned of_row = row + g + (right ? high : low) * 8;
		unsigned of_depth = k + t + (right ? low : high) * 4;

		ret[i] = *(const SHARED word *)(piece + wide_place(of_depth, of_row, tile));
	}
}

#endif
