/*
 * What translated PTX (tests/cuda/translate) runs on. Warps, barriers and memory are those of
 * tests/cuda/emulate.h; what the matrix instructions mean is written here a second time, from the
 * tables of the PTX ISA and the other way about (which lane holds an element, not which elements a
 * lane holds), so that a mistake would have to be made twice.
 */
#ifndef SLIPWAY_TESTS_CUDA_PTX_RUN_H
#define SLIPWAY_TESTS_CUDA_PTX_RUN_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tests/cuda/copies.h"
#include "tests/cuda/emulate.h"
#include "trainer/cuda/kernels/device.h"

struct ptx_params {
	const void *at;
	size_t size;
};

static inline float ptx_float(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}
static inline double ptx_double(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}
static inline uint32_t ptx_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}
static inline uint64_t ptx_bits64(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* .ftz: a subnormal is 0 of its sign */
static inline float ptx_flush(float x)
{
	return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}
static inline uint64_t ptx_mul_hi(uint64_t a, uint64_t b)
{
	__extension__ typedef unsigned __int128 wide;

	return (uint64_t)((wide)a * b >> 64);
}

/* Where a load or store of `size` bytes goes; outside of the memory, or not a multiple of its size,
 * the launch ends. Global memory has no bounds here. */
static inline void *ptx_global(uint64_t at, size_t size)
{
	if (at % size != 0 || at == 0)
		emulate_fail("a global address that is 0 or not aligned");
	return (void *)(uintptr_t)at;
}
static inline void *ptx_shared(uint64_t at, size_t size)
{
	if (at % size != 0 || at + size > emulate_shared_size() || at + size < at)
		emulate_fail("a shared address outside of the block's memory or not aligned");
	if (copies_are_under_way(at, size))
		emulate_fail("shared memory that a copy is still on its way to");
	return (char *)shared_memory() + at;
}
static inline const void *ptx_param(struct ptx_params p, uint64_t at, size_t size)
{
	if (at % size != 0 || at + size > p.size)
		emulate_fail("a parameter outside of the parameters or not aligned");
	return (const char *)p.at + at;
}

/* cp.async of `size` bytes, of which the first `bytes` come from global memory. */
static inline void ptx_copy(uint32_t to, uint64_t from, uint32_t size, uint32_t bytes)
{
	const char *problem =
		copies_send(thread_index(), to, (const void *)(uintptr_t)from, size, bytes);

	if (problem != NULL)
		emulate_fail(problem);
}

uint32_t ptx_shuffle(uint32_t value, uint32_t mask, uint32_t clamp, uint32_t members);
void ptx_ldmatrix(uint32_t ret[4], uint32_t at, bool transposed);
/* words: those of the left operand, then of the right */
void ptx_mma_bf16(float sum[4], const uint32_t words[6]);
void ptx_mma_f16(float sum[4], const uint32_t words[6]);
void ptx_mma_f16_8(float sum[4], const uint32_t words[3]);
void ptx_mma_tf32(float sum[4], const uint32_t words[6]);

#endif
