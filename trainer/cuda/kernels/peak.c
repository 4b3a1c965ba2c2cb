/* A device's peak in f32, and in f16 by its matrix units. */
#include "trainer/cuda/kernels/peak.h"

void peak_f32(struct peak_launch p)
{
	float sum[PEAK_CHAINS], total = 0;

	UNROLL
	for (unsigned i = 0; i < PEAK_CHAINS; i++)
		sum[i] = (float)(thread_index() + i);
	UNROLL_BY(4)
	for (uint32_t r = 0; r < p.rounds; r++) {
		UNROLL
		for (unsigned i = 0; i < PEAK_CHAINS; i++)
			sum[i] = fused(sum[i], p.factor, p.addend);
	}
	UNROLL
	for (unsigned i = 0; i < PEAK_CHAINS; i++)
		total += sum[i];
	p.out[(size_t)block_x() * PEAK_THREADS + thread_index()] = total;
}

#define PACK(low, high)     pack_f16(low, high)
#define MULTIPLY(sum, a, b) matrix_multiply_f16(sum, a, b)

#include "trainer/cuda/kernels/peak_half.inc"

void peak_f16(struct peak_launch p)
{
	peak_half(&p);
}
