/* Any processor: vectors of four floats, which the compiler lowers to what there is. */
#define VW            4
#define NRV           2
#define MR            6
#define NATIVE_BF16   false
#define V_MAX(a, b)   ((vf)(((vi)(a) & (vi)((a) > (b))) | ((vi)(b) & ~(vi)((a) > (b)))))
#define V_MUL32(a, b) (((a)&0xffffffffu) * ((b)&0xffffffffu))
#define K(name)       generic_##name

#include "trainer/ops/kernels_body.inc"

static bool usable(void)
{
	return true;
}

const struct kernels kernels_generic = KERNELS_TABLE("generic");
