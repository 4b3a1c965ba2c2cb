/* AVX-512 with products of bf16 pairs: Zen 4 and later, Cooper Lake, Sapphire Rapids and later. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "trainer/ops/kernels_target.h"

KERNELS_FOR("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma")
KERNELS_WIDE

#define VW                16
#define NRV               2
#define MR                14
#define NATIVE_BF16       true
#define V_MAX(a, b)       ((vf)_mm512_max_ps((__m512)(a), (__m512)(b)))
#define V_MUL32(a, b)     ((vu64)_mm512_mul_epu32((__m512i)(a), (__m512i)(b)))
#define V_ANY_ABOVE(a, b) (_mm512_cmp_ps_mask((__m512)(a), (__m512)(b), _CMP_GT_OQ) != 0)
#define V_SCALE(p, n, x, least)                                                                    \
	((vf)_mm512_maskz_scalef_ps(_mm512_cmp_ps_mask((__m512)(x), (__m512)(least), _CMP_NLT_UQ), \
	                            (__m512)(p), (__m512)(n)))
#define V_DOT2(acc, a, b) ((vf)_mm512_dpbf16_ps((__m512)(acc), (__m512bh)(a), (__m512bh)(b)))
/* the instruction puts all of `lo` before all of `hi` */
#define V_PAIRS(lo, hi)                                                                            \
	((vu)_mm512_permutexvar_epi16(interleave(),                                                \
	                              (__m512i)_mm512_cvtne2ps_pbh((__m512)(hi), (__m512)(lo))))
#define V_NEIGHBOURS(x, y) ((vu)_mm512_cvtne2ps_pbh((__m512)(y), (__m512)(x)))
#define K(name)            avx512_bf16_##name

static inline __attribute__((always_inline)) __m512i interleave(void)
{
	const __m512i lows = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);

	return _mm512_or_si512(
		lows, _mm512_slli_epi32(_mm512_add_epi32(lows, _mm512_set1_epi32(16)), 16));
}

#include "trainer/ops/kernels_body.inc"

KERNELS_END

static bool usable(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("fma");
}

const struct kernels kernels_avx512_bf16 = KERNELS_TABLE("avx512_bf16");
#endif
