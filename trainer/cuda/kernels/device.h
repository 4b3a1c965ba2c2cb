/*
 * What a kernel sees of the device: its place in the grid, shared memory, barriers, and the
 * instructions that C has no word for. Compiled for NVIDIA's devices they are builtins and PTX
 * (trainer/cuda/kernels/device_ptx.inc); compiled for the host they are functions that
 * tests/cuda/emulate.c supplies, so that the same kernels run where there is no GPU.
 *
 * Blocks are one-dimensional, a multiple of 32 threads. What is named warp_ or matrix_ must be
 * called by all 32 threads of a warp together, block_sync by all threads of the block. The rules
 * are those of the PTX ISA, chapter 9.7 (shfl.sync, bar.sync, ldmatrix, mma, cp.async).
 *
 * Kernels are compiled with -ffp-contract=off: a multiplication and an addition are one rounding
 * where fused() says so and two elsewhere, on every device and on the host alike.
 */
#ifndef SLIPWAY_TRAINER_CUDA_KERNELS_DEVICE_H
#define SLIPWAY_TRAINER_CUDA_KERNELS_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WARP = 32 };

/* Four floats at an address that is a multiple of 16: one load or store. */
typedef float float4 __attribute__((vector_size(16), may_alias));

/*
 * x, but the compiler does not see that it is what it was before: what is computed from it is not
 * kept in registers through a loop. Addresses are cheap, and registers are not.
 */
#ifdef __NVPTX__
#define ANEW(x)                                                                                    \
	({                                                                                         \
		unsigned anew = (x);                                                               \
		__asm__ volatile("" : "+r"(anew));                                                 \
		anew;                                                                              \
	})
#else
#define ANEW(x) (x)
#endif

#define INLINE static inline __attribute__((always_inline))

/* Before a loop: what the device's compiler is to unroll, wholly or n steps at a time. */
#ifdef __NVPTX__
#define UNROLL       _Pragma("unroll")
#define PRAGMA(text) _Pragma(#text)
#define UNROLL_BY(n) PRAGMA(unroll n)
#else
#define UNROLL
#define UNROLL_BY(n)
#endif

#ifdef __NVPTX__

#define SHARED __attribute__((address_space(3)))
#include "trainer/cuda/kernels/device_ptx.inc"

#else

#define SHARED

unsigned thread_index(void); /* in the block */
unsigned block_x(void);      /* of the grid */
unsigned block_y(void);
unsigned block_z(void);
unsigned grid_x(void); /* blocks */

/* The block's shared memory, as large as the launch says; its content is undefined at first. */
void *shared_memory(void);

/* All threads of the block are here, and see what the others wrote. */
void block_sync(void);
/* The same for a warp. */
void warp_sync(void);

/* The value of the thread whose lane is this one's xor `mask` (shfl.sync.bfly). */
float warp_xor(float value, unsigned mask);
double warp_xor_double(double value, unsigned mask);

/* a * b + c, rounded once. */
INLINE float fused(float a, float b, float c)
{
	return __builtin_fmaf(a, b, c);
}
/* Square root and quotient as IEEE 754 rounds them. */
float root(float x);
double root_double(double x);
/* 2^x: off by at most 2 units of the last place; tiny results are 0 (ex2.approx.ftz). */
float exp2_fast(float x);
/* Logarithm to base 2: off by at most 2^-22 (lg2.approx.ftz). */
float log2_fast(float x);
/* The upper half of a 32 x 32 bit product. */
uint32_t multiply_high(uint32_t a, uint32_t b);

/* Two values rounded to nearest even, the first in the lower half. Device: sm_80 for bf16. */
uint32_t pack_bf16(float low, float high);
uint32_t pack_f16(float low, float high);

/*
 * Four 8 x 8 matrices of 16-bit values from shared memory: lane 8i + r names row r of matrix i, at
 * a multiple of 16 bytes. Result i of lane l holds values 2(l % 4) and 2(l % 4) + 1 of row l / 4 of
 * matrix i; with `_columns`, of column l / 4 (ldmatrix.x4, .trans).
 */
void matrix_load_rows(uint32_t ret[4], const void *row);
void matrix_load_columns(uint32_t ret[4], const void *row);

/*
 * sum[16 x 8] += a[16 x 16] b[16 x 8], bf16 (sm_80) or f16 (sm_75: in two steps of 8, as mma is no
 * deeper there), sums in f32. With
 * g = lane / 4 and t = lane % 4: sum 0, 1 are (g, 2t), (g, 2t + 1), sum 2, 3 the same of row g + 8;
 * a 0: (g, 2t..), a 1: (g + 8, 2t..), a 2, 3: 8 columns on; b 0: rows 2t.. of column g, b 1: 8
 * rows down.
 */
void matrix_multiply_bf16(float sum[4], const uint32_t a[4], const uint32_t b[2]);
void matrix_multiply_f16(float sum[4], const uint32_t a[4], const uint32_t b[2]);

/* To the 11 bits of significand that tf32 has, to nearest, away from 0 where two are as near
 * (sm_80): bits of a float whose last 13 are not looked at. */
uint32_t round_tf32(float value);
/*
 * sum[16 x 8] += a[16 x 8] b[8 x 8], tf32 (sm_80). With g and t as above: a 0: (g, t), a 1: (g + 8,
 * t), a 2, 3: 4 columns on; b 0: row t of column g, b 1: row t + 4.
 */
void matrix_multiply_tf32(float sum[4], const uint32_t a[4], const uint32_t b[2]);

/*
 * Copies from the device's memory to shared memory that go on while the thread does (sm_80,
 * cp.async): of 16 or of 4 bytes, to and from multiples of their size. The first `bytes` are of
 * `from`, which is not looked at where there are none, and the rest is 0. They may be done at any
 * time until the thread has waited for their group, and others see them a barrier later.
 */
void copy_four(float *to, const float *from, uint32_t bytes);
void copy_one(float *to, const float *from, uint32_t bytes);
/* The copies since the last group are one. */
void copies_end_group(void);
/* Until all groups but the last `left` are there; a number, and not a value. */
#define COPIES_WAIT(left) copies_wait(left)
void copies_wait(unsigned left);

#endif

/* The block's shared memory as a struct, whose size the host launches it with. */
#define SHARED_AS(type) ((SHARED type *)shared_memory())

INLINE unsigned lane_index(void)
{
	return thread_index() % WARP;
}

INLINE unsigned warp_index(void)
{
	return thread_index() / WARP;
}

/* The sum over the warp, the same bits in every lane. */
INLINE float warp_sum(float value)
{
	for (unsigned mask = WARP / 2; mask > 0; mask /= 2)
		value += warp_xor(value, mask);
	return value;
}

INLINE double warp_sum_double(double value)
{
	for (unsigned mask = WARP / 2; mask > 0; mask /= 2)
		value += warp_xor_double(value, mask);
	return value;
}

INLINE float larger(float a, float b)
{
	return a > b ? a : b;
}

#endif
