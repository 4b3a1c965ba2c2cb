/* AVX-512 F/BW/DQ/VL with FMA: Skylake-X and later, Zen 4 and later. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "trainer/ops/kernels_target.h"

KERNELS_FOR("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")
KERNELS_WIDE

#define VW                16
#define NRV               2
#define MR                14
#define NATIVE_BF16       false
#define V_MAX(a, b)       ((vf)_mm512_max_ps((__m512)(a), (__m512)(b)))
#define V_MUL32(a, b)     ((vu64)_mm512_mul_epu32((__m512i)(a), (__m512i)(b)))
#define V_ANY_ABOVE(a, b) (_mm512_cmp_ps_mask((__m512)(a), (__m512)(b), _CMP_GT_OQ) != 0)
#define V_SCALE(p, n, x, least)                                                                    \
	((vf)_mm512_maskz_scalef_ps(_mm512_cmp_ps_mask((__m512)(x), (__m512)(least), _CMP_NLT_UQ), \
	                            (__m512)(p), (__m512)(n)))
#define K(name) avx512_##name

#include "trainer/ops/kernels_body.inc"

KERNELS_END

static bool usable(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("fma");
}

const struct kernels kernels_avx512 = KERNELS_TABLE("avx512");
#endif
