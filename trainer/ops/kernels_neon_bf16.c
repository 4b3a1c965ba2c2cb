/* Advanced SIMD with products of bf16 pairs: Neoverse V1, N2 and later (Graviton3 and later). */
#include "trainer/ops/kernels.h"

#if defined(KERNELS_NEON_BF16)
#include <arm_neon.h>
#include <sys/auxv.h>

#include "trainer/ops/kernels_target.h"

KERNELS_FOR("arch=armv8.2-a+bf16")

#define VW            4
#define NRV           4
#define MR            6
#define NATIVE_BF16   true
#define V_MAX(a, b)   ((vf)vmaxq_f32((float32x4_t)(a), (float32x4_t)(b)))
#define V_MUL32(a, b) ((vu64)vmull_u32(vmovn_u64((uint64x2_t)(a)), vmovn_u64((uint64x2_t)(b))))
#define V_DOT2(acc, a, b)                                                                          \
	((vf)vbfdotq_f32((float32x4_t)(acc), (bfloat16x8_t)(a), (bfloat16x8_t)(b)))
#define K(name) neon_bf16_##name

#include "trainer/ops/kernels_body.inc"

KERNELS_END

static bool usable(void)
{
	const unsigned long bf16 = 1UL << 14; /* HWCAP2_BF16 */

	return (getauxval(AT_HWCAP2) & bf16) != 0;
}

const struct kernels kernels_neon_bf16 = KERNELS_TABLE("neon_bf16");
#endif
