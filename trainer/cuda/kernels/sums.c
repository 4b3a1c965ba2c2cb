/* Sums whose order is fixed: a block's own, written down, then the blocks' one after the other. */
#include "trainer/cuda/kernels/device.h"
#include "trainer/cuda/kernels/entries.h"

void column_sums(struct column_sums_launch p)
{
	SHARED struct column_shared *s = SHARED_AS(struct column_shared);
	uint32_t column = block_x() * WARP + lane_index(), first = block_y() * COLUMN_ROWS;
	uint32_t end = first + COLUMN_ROWS < p.rows ? first + COLUMN_ROWS : p.rows;
	float sum = 0;

	for (uint32_t r = first + warp_index(); column < p.width && r < end; r += COLUMN_WARPS)
		sum += p.x[(size_t)r * p.stride + column];
	s->sum[0][warp_index()][lane_index()] = sum;
	block_sync();
	if (warp_index() > 0 || column >= p.width)
		return;
	for (uint32_t w = 1; w < COLUMN_WARPS; w++)
		sum += s->sum[0][w][lane_index()];
	p.partial[(size_t)block_y() * p.width + column] = sum;
}

void add_parts(struct add_parts_launch p)
{
	uint32_t i = block_x() * EACH_THREADS + thread_index();
	float sum = 0;

	if (i >= p.n)
		return;
	for (uint32_t part = 0; part < p.parts; part++)
		sum += p.partial[(size_t)part * p.stride + i];
	p.out[i] += sum;
}

/* Lane l takes rows l, l + 32, ...; the lanes' sums are joined as warp_sum_double joins them. */
void add_doubles(struct add_doubles_launch p)
{
	for (uint32_t column = 0; column < p.columns; column++) {
		double sum = 0;

		for (uint32_t r = lane_index(); r < p.rows; r += WARP)
			sum += p.x[(size_t)r * p.columns + column];
		sum = warp_sum_double(sum);
		if (lane_index() == 0)
			p.out[column] = sum;
	}
}
