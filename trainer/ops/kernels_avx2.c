/* AVX2 with FMA: Haswell and later, Zen and later. */
#if defined(__x86_64__)
#include <immintrin.h>

#include "trainer/ops/kernels_target.h"

KERNELS_FOR("avx2,fma")

#define VW            8
#define NRV           2
#define MR            6
#define NATIVE_BF16   false
#define V_MAX(a, b)   ((vf)_mm256_max_ps((__m256)(a), (__m256)(b)))
#define V_MUL32(a, b) ((vu64)_mm256_mul_epu32((__m256i)(a), (__m256i)(b)))
#define V_ANY_ABOVE(a, b)                                                                          \
	(_mm256_movemask_ps(_mm256_cmp_ps((__m256)(a), (__m256)(b), _CMP_GT_OQ)) != 0)
#define K(name) avx2_##name

#include "trainer/ops/kernels_body.inc"

KERNELS_END

static bool usable(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

const struct kernels kernels_avx2 = KERNELS_TABLE("avx2");
#endif
