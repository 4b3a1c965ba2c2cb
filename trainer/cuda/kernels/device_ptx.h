/*
 * The functions of trainer/cuda/kernels/device.h as builtins of clang and as PTX. Included by that
 * header alone. The instructions are those of PTX ISA 6.5 (sm_75) and 7.0 (sm_80).
 */
#ifndef SLIPWAY_TRAINER_CUDA_KERNELS_DEVICE_PTX_H
#define SLIPWAY_TRAINER_CUDA_KERNELS_DEVICE_PTX_H

extern SHARED char shared_bytes[] __attribute__((aligned(16)));

INLINE unsigned thread_index(void)
{
	return (unsigned)__nvvm_read_ptx_sreg_tid_x();
}
INLINE unsigned block_x(void)
{
	return (unsigned)__nvvm_read_ptx_sreg_ctaid_x();
}
INLINE unsigned block_y(void)
{
	return (unsigned)__nvvm_read_ptx_sreg_ctaid_y();
}
INLINE unsigned block_z(void)
{
	return (unsigned)__nvvm_read_ptx_sreg_ctaid_z();
}
INLINE unsigned grid_x(void)
{
	return (unsigned)__nvvm_read_ptx_sreg_nctaid_x();
}
INLINE SHARED void *shared_memory(void)
{
	return shared_bytes;
}
INLINE void block_sync(void)
{
	__syncthreads();
}
INLINE void warp_sync(void)
{
	__nvvm_bar_warp_sync(0xffffffffu);
}
INLINE float warp_xor(float value, unsigned mask)
{
	return __nvvm_shfl_sync_bfly_f32(0xffffffffu, value, (int)mask, 31);
}
INLINE double warp_xor_double(double value, unsigned mask)
{
	union {
		double value;
		int half[2];
	} bits = {.value = value};

	bits.half[0] = __nvvm_shfl_sync_bfly_i32(0xffffffffu, bits.half[0], (int)mask, 31);
	bits.half[1] = __nvvm_shfl_sync_bfly_i32(0xffffffffu, bits.half[1], (int)mask, 31);
	return bits.value;
}
INLINE float fused(float a, float b, float c)
{
	return __nvvm_fma_rn_f(a, b, c);
}
INLINE float root(float x)
{
	return __nvvm_sqrt_rn_f(x);
}
INLINE float exp2_fast(float x)
{
	return __nvvm_ex2_approx_ftz_f(x);
}
INLINE float log2_fast(float x)
{
	return __nvvm_lg2_approx_ftz_f(x);
}
INLINE uint32_t multiply_high(uint32_t a, uint32_t b)
{
	return (uint32_t)((uint64_t)a * b >> 32);
}

/* A shared address as instructions take it: 32 bits. */
INLINE uint32_t shared_address(const SHARED void *at)
{
	return (uint32_t)(uintptr_t)at;
}

/* The operands of one value in the lower half come last in PTX: cvt d, high, low. */
INLINE uint32_t pack_f16(float low, float high)
{
	uint32_t pair;

	__asm__("{ .reg .b16 lo, hi;\n\t"
	        "cvt.rn.f16.f32 lo, %1;\n\t"
	        "cvt.rn.f16.f32 hi, %2;\n\t"
	        "mov.b32 %0, {lo, hi}; }"
	        : "=r"(pair)
	        : "f"(low), "f"(high));
	return pair;
}

INLINE void matrix_load_rows(uint32_t ret[4], const SHARED void *row)
{
	__asm__ volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
	                 : "=r"(ret[0]), "=r"(ret[1]), "=r"(ret[2]), "=r"(ret[3])
	                 : "r"(shared_address(row))
	                 : "memory");
}
INLINE void matrix_load_columns(uint32_t ret[4], const SHARED void *row)
{
	__asm__ volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
	                 : "=r"(ret[0]), "=r"(ret[1]), "=r"(ret[2]), "=r"(ret[3])
	                 : "r"(shared_address(row))
	                 : "memory");
}
INLINE void matrix_multiply_f16(float sum[4], const uint32_t a[2], uint32_t b)
{
	__asm__("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
	        "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
	        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
	        : "r"(a[0]), "r"(a[1]), "r"(b));
}

#if SM >= 80

INLINE uint32_t pack_bf16(float low, float high)
{
	uint32_t pair;

	__asm__("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
	return pair;
}
INLINE void matrix_multiply_bf16(float sum[4], const uint32_t a[4], const uint32_t b[2])
{
	__asm__("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
	        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
	        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
	        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#endif

#endif
