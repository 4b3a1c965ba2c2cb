/* Advanced SIMD, which every 64-bit Arm processor has. */
#if defined(__aarch64__)
#include <arm_neon.h>

#define VW            4
#define NRV           4
#define MR            6
#define NATIVE_BF16   false
#define V_MAX(a, b)   ((vf)vmaxq_f32((float32x4_t)(a), (float32x4_t)(b)))
#define V_MUL32(a, b) ((vu64)vmull_u32(vmovn_u64((uint64x2_t)(a)), vmovn_u64((uint64x2_t)(b))))
#define K(name)       neon_##name

#include "trainer/ops/kernels_body.inc"

static bool usable(void)
{
	return true;
}

const struct kernels kernels_neon = KERNELS_TABLE("neon");
#endif
