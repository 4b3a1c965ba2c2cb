#include "trainer/data/order.h"

enum { FEISTEL_ROUNDS = 6 };

struct feistel {
	uint32_t key[2];
	enum philox_stream stream;
	uint64_t which; /* permutation */
	unsigned half;  /* bits of each half */
};

static uint64_t feistel(const struct feistel *f, uint64_t x)
{
	uint64_t mask = ((uint64_t)1 << f->half) - 1;
	uint64_t left = x >> f->half, right = x & mask;

	for (uint32_t round = 0; round < FEISTEL_ROUNDS; round++) {
		uint32_t counter[4] = {(uint32_t)right, (uint32_t)f->stream << 8 | round,
		                       (uint32_t)f->which, (uint32_t)(f->which >> 32)};
		uint32_t out[4];
		uint64_t next;

		philox_block(f->key, counter, out);
		next = left ^ (out[0] & mask);
		left = right;
		right = next;
	}
	return left << f->half | right;
}

uint64_t order_permute(uint64_t seed, enum philox_stream stream, uint64_t which, uint64_t n,
                       uint64_t x)
{
	struct feistel f = {{(uint32_t)seed, (uint32_t)(seed >> 32)}, stream, which, 1};

	if (n == 1)
		return x;
	while (f.half < 32 && (uint64_t)1 << 2 * f.half < n)
		f.half++;
	do
		x = feistel(&f, x);
	while (x >= n);
	return x;
}

uint64_t order_clip(uint64_t seed, uint64_t n_clips, uint64_t sample, bool shuffle)
{
	uint64_t x = sample % n_clips;

	return shuffle ? order_permute(seed, STREAM_SHUFFLE, sample / n_clips, n_clips, x) : x;
}
