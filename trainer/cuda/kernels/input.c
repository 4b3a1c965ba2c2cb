/* A clip's way in: patches, tokens, queries, and the sums of their derivatives. */
#include "trainer/cuda/kernels/device.h"
#include "trainer/cuda/kernels/entries.h"

/* Where value i of the patches lies in the image: its colour is the fastest, then dx, dy, then the
 * patch. */
INLINE uint64_t place_in_image(const struct patches_launch *p, uint64_t i)
{
	uint32_t colour = (uint32_t)(i % 3);
	uint64_t rest = i / 3;
	uint32_t dx = (uint32_t)(rest % p->patch), dy = (uint32_t)(rest / p->patch % p->patch);

	rest /= (uint64_t)p->patch * p->patch;
	uint32_t x = (uint32_t)(rest % p->grid_w), y = (uint32_t)(rest / p->grid_w % p->grid_h);

	rest /= (uint64_t)p->grid_w * p->grid_h;
	return rest / p->frames * p->clip_stride + rest % p->frames * p->frame_stride +
	       (uint64_t)(y * p->patch + dy) * p->row_stride +
	       (uint64_t)(x * p->patch + dx) * p->pixel_stride + colour * p->colour_stride;
}

void patches_of_floats(struct patches_launch p)
{
	uint64_t stride = (uint64_t)grid_x() * EACH_THREADS;

	for (uint64_t i = (uint64_t)block_x() * EACH_THREADS + thread_index(); i < p.n; i += stride)
		p.patches[i] = ((const float *)p.image)[place_in_image(&p, i)];
}

void patches_of_bytes(struct patches_launch p)
{
	uint64_t stride = (uint64_t)grid_x() * EACH_THREADS;

	for (uint64_t i = (uint64_t)block_x() * EACH_THREADS + thread_index(); i < p.n; i += stride)
		p.patches[i] =
			(float)((const uint8_t *)p.image)[place_in_image(&p, i)] * (1.0f / 255.0f);
}

/* Which value of the row-major index `at` is position channel `channel` (struct op_tokens). */
INLINE float position_value(const float *const position[3], const uint32_t dim[3], uint32_t ndim,
                            uint32_t bands, uint32_t at, uint32_t channel)
{
	uint32_t d = channel, column = 0, index = at;

	if (channel >= ndim) {
		uint32_t wave = channel - ndim, half = wave / (ndim * bands);

		d = wave % (ndim * bands) / bands;
		column = 1 + half * bands + wave % bands;
	}
	/* Not indexed by d: kernel parameters that are would be copied to local memory. */
	if (ndim == 3)
		index = d == 2 ? at % dim[2] : d == 1 ? at / dim[2] % dim[1] : at / dim[2] / dim[1];
	if (ndim == 2)
		index = d == 1 ? at % dim[1] : at / dim[1];
	const float *table = d == 0 ? position[0] : d == 1 ? position[1] : position[2];

	return table[(size_t)index * (1 + 2 * bands) + column];
}

void queries(struct queries_launch p)
{
	uint32_t at = p.ndim > 0 ? (uint32_t)p.points[block_x()] : 0;
	uint32_t positions = p.ndim * (1 + 2 * p.bands), fixed = positions + p.n_fixed;
	float *out = p.out + (size_t)block_x() * p.width;

	for (uint32_t i = thread_index(); i < p.width; i += EACH_THREADS) {
		if (i < positions)
			out[i] = position_value(p.position, p.dim, p.ndim, p.bands, at, i);
		else if (i < fixed)
			out[i] = p.fixed[i - positions];
		else
			out[i] = p.pad[i - fixed];
	}
}

void tokens(struct tokens_launch p)
{
	uint32_t token = block_x(), clip = block_y(), end = p.width - p.n_pad;
	size_t at = (size_t)clip * p.n + token;
	float *out = p.out + ((size_t)clip * p.all + p.first + token) * p.width;
	bool masked = p.mask != NULL && p.mask[at] != 0;

	for (uint32_t i = thread_index(); i < p.width; i += EACH_THREADS) {
		if (masked)
			out[i] = p.mask_token[i];
		else if (i < p.n_data)
			out[i] = p.data[at * p.n_data + i];
		else if (i < end)
			out[i] = position_value(p.position, p.dim, p.ndim, p.bands, token,
			                        i - p.n_data);
		else
			out[i] = p.pad[i - end];
	}
}

void token_sums(struct token_sums_launch p)
{
	SHARED struct column_shared *s = SHARED_AS(struct column_shared);
	uint32_t column = block_x() * WARP + lane_index();
	uint64_t rows = (uint64_t)p.clips * p.n;
	float sum = 0;

	for (uint64_t r = warp_index(); column < p.columns && r < rows; r += COLUMN_WARPS) {
		uint64_t row = r / p.n * p.all + p.first + r % p.n;
		bool masked = p.mask != NULL && p.mask[r] != 0;

		if (masked == (p.masked != 0))
			sum += p.dx[row * p.width + p.from + column];
	}
	s->sum[0][warp_index()][lane_index()] = sum;
	block_sync();
	if (warp_index() > 0 || column >= p.columns)
		return;
	for (uint32_t w = 1; w < COLUMN_WARPS; w++)
		sum += s->sum[0][w][lane_index()];
	p.out[column] += sum;
}
