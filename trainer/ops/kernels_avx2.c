/* AVX2 with FMA: Haswell and later, Zen and later. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "trainer/ops/kernels_target.h"

KERNELS_FOR("avx2,fma")

#define VW            8
#define NRV           2
#define MR            6
#define NATIVE_BF16   false
#define UNROLL        4
#define GROUP         3
#define V_MAX(a, b)   ((vf)_mm256_max_ps((__m256)(a), (__m256)(b)))
#define V_MUL32(a, b) ((vu64)_mm256_mul_epu32((__m256i)(a), (__m256i)(b)))
#define V_ANY_ABOVE(a, b)                                                                          \
	(_mm256_movemask_ps(_mm256_cmp_ps((__m256)(a), (__m256)(b), _CMP_GT_OQ)) != 0)
#define V_KEEP(p) ((vf)keep_load(p))
#define K(name)   avx2_##name

/*
 * A step of a tile, in registers that are not for the compiler to choose anew: a tile takes 15 of
 * 16, and left to itself it moves sums from one to the other over several steps until some of them
 * are in memory, which takes a third of the tile's time.
 */
static inline __attribute__((always_inline)) __m256 keep_load(const float *p)
{
	__m256 v;

	__asm__ volatile("vmovups %1, %0" : "=x"(v) : "m"(*(const __m256_u *)p));
	return v;
}

#define V_ROW(sums, x, b)                                                                          \
	do {                                                                                       \
		__m256 place_;                                                                     \
                                                                                                   \
		__asm__ volatile("vbroadcastss %3, %2\n\t"                                         \
		                 "vfmadd231ps %4, %2, %0\n\t"                                      \
		                 "vfmadd231ps %5, %2, %1"                                          \
		                 : "+x"((sums)[0]), "+x"((sums)[1]), "=&x"(place_)                 \
		                 : "m"(*(x)), "x"((b)[0]), "x"((b)[1]));                           \
	} while (0)

#define V_TURN(square) turn_eight((__m256 *)(square))

/* By halves of the vectors, of which an instruction makes a result of two each. */
static inline __attribute__((always_inline)) void turn_eight(__m256 *row)
{
	__m256 pairs[8], fours[8];

#pragma GCC unroll 4
	for (int i = 0; i < 8; i += 2) {
		pairs[i] = _mm256_unpacklo_ps(row[i], row[i + 1]);
		pairs[i + 1] = _mm256_unpackhi_ps(row[i], row[i + 1]);
	}
#pragma GCC unroll 2
	for (int i = 0; i < 8; i += 4) {
		fours[i] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0x44);
		fours[i + 1] = _mm256_shuffle_ps(pairs[i], pairs[i + 2], 0xee);
		fours[i + 2] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0x44);
		fours[i + 3] = _mm256_shuffle_ps(pairs[i + 1], pairs[i + 3], 0xee);
	}
#pragma GCC unroll 4
	for (int i = 0; i < 4; i++) {
		row[i] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x20);
		row[i + 4] = _mm256_permute2f128_ps(fours[i], fours[i + 4], 0x31);
	}
}

#include "trainer/ops/kernels_body.inc"

KERNELS_END

static bool usable(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

const struct kernels kernels_avx2 = KERNELS_TABLE("avx2");
#endif
