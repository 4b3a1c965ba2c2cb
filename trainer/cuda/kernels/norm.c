/* Layer normalisation over rows. A warp holds a row: sums over it need no shared memory. */
#include "trainer/cuda/kernels/device.h"
#include "trainer/cuda/kernels/entries.h"

INLINE uint32_t row_of_warp(void)
{
	return block_x() * ROW_WARPS + warp_index();
}

void norm_forward(struct norm_forward_launch p)
{
	uint32_t row = row_of_warp();
	const float *x = p.x + (size_t)row * p.width;
	float *y = p.y + (size_t)row * p.width, mean = 0, square = 0, rstd;

	if (row >= p.rows)
		return;
	for (uint32_t i = lane_index(); i < p.width; i += WARP)
		mean += x[i];
	mean = warp_sum(mean) / (float)p.width;
	for (uint32_t i = lane_index(); i < p.width; i += WARP)
		square = fused(x[i] - mean, x[i] - mean, square);
	rstd = 1.0f / root(warp_sum(square) / (float)p.width + 1e-5f);
	for (uint32_t i = lane_index(); i < p.width; i += WARP)
		y[i] = fused((x[i] - mean) * rstd, p.gain[i], p.shift[i]);
	if (lane_index() == 0) {
		p.mean[row] = mean;
		p.rstd[row] = rstd;
	}
}

void norm_backward(struct norm_backward_launch p)
{
	uint32_t row = row_of_warp();
	const float *x = p.x + (size_t)row * p.width, *dy = p.dy + (size_t)row * p.width;
	float *dx = p.dx + (size_t)row * p.width, sum = 0, dot = 0;

	if (row >= p.rows)
		return;
	float mean = p.mean[row], rstd = p.rstd[row];

	for (uint32_t i = lane_index(); i < p.width; i += WARP) {
		float dxh = dy[i] * p.gain[i];

		sum += dxh;
		dot = fused(dxh, (x[i] - mean) * rstd, dot);
	}
	sum = warp_sum(sum) / (float)p.width;
	dot = warp_sum(dot) / (float)p.width;
	for (uint32_t i = lane_index(); i < p.width; i += WARP) {
		float value = dy[i] * p.gain[i] - sum - (x[i] - mean) * rstd * dot;

		dx[i] = fused(rstd, value, p.add_dx ? dx[i] : 0.0f);
	}
}

void norm_sums(struct norm_sums_launch p)
{
	SHARED struct column_shared *s = SHARED_AS(struct column_shared);
	uint32_t column = block_x() * WARP + lane_index(), first = block_y() * COLUMN_ROWS;
	uint32_t end = first + COLUMN_ROWS < p.rows ? first + COLUMN_ROWS : p.rows;
	float gain = 0, shift = 0;

	for (uint32_t r = first + warp_index(); column < p.width && r < end; r += COLUMN_WARPS) {
		float dy = p.dy[(size_t)r * p.width + column];

		gain = fused(dy, (p.x[(size_t)r * p.width + column] - p.mean[r]) * p.rstd[r], gain);
		shift += dy;
	}
	s->sum[0][warp_index()][lane_index()] = gain;
	s->sum[1][warp_index()][lane_index()] = shift;
	block_sync();
	if (warp_index() > 1 || column >= p.width)
		return;
	float sum = 0;

	for (uint32_t w = 0; w < COLUMN_WARPS; w++)
		sum += s->sum[warp_index()][w][lane_index()];
	p.partial[((size_t)block_y() * 2 + warp_index()) * p.width + column] = sum;
}
