/* The device's peak (trainer/cuda/kernels/peak.h). */
#include "trainer/cuda/launch.h"

/* By what the products are computed with; operations of a block in a turn. */
static const struct {
	enum cuda_kernel kernel;
	double flop;
} peaks[] = {
	[OPERANDS_F32] = {KERNEL_peak_f32, 2.0 * PEAK_CHAINS *PEAK_THREADS},
	[OPERANDS_F16] = {KERNEL_peak_f16, 2.0 * 16 * 8 * 16 * PEAK_TILES *(PEAK_THREADS / 32)},
	[OPERANDS_BF16] = {KERNEL_peak_bf16, 2.0 * 16 * 8 * 16 * PEAK_TILES *(PEAK_THREADS / 32)},
};

double cuda_peak(struct cuda_queue *q, unsigned blocks, uint32_t rounds)
{
	struct peak_launch l = {.out = q->scratch(q, (size_t)blocks * PEAK_THREADS * sizeof(float)),
	                        .rounds = rounds,
	                        .factor = -1,
	                        .addend = 3};

	q->launch(q, peaks[q->operands].kernel, (const unsigned[3]){blocks, 1, 1}, &l);
	return peaks[q->operands].flop * blocks * rounds;
}
