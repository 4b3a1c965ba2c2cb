/* AVX-512 with products of bf16 pairs: Zen 4 and later, Cooper Lake, Sapphire Rapids and later. */
#if defined(__x86_64__)
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma,prefer-vector-width=512")

#include <immintrin.h>

#define VW                16
#define NRV               2
#define MR                14
#define NATIVE_BF16       true
#define V_MAX(a, b)       ((vf)_mm512_max_ps((__m512)(a), (__m512)(b)))
#define V_MUL32(a, b)     ((vu64)_mm512_mul_epu32((__m512i)(a), (__m512i)(b)))
#define V_DOT2(acc, a, b) ((vf)_mm512_dpbf16_ps((__m512)(acc), (__m512bh)(a), (__m512bh)(b)))
#define K(name)           avx512_bf16_##name

#include "trainer/ops/kernels_body.inc"

static bool usable(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("fma");
}

const struct kernels kernels_avx512_bf16 = KERNELS_TABLE("avx512_bf16");
#endif
