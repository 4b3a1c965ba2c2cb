#include "trainer/ops/philox.h"

#include <math.h>
#include <string.h>

/* Multipliers and Weyl constants of Philox 4x32 (Salmon et al. 2011, section 3.3 and table 2). */
void philox_block(const uint32_t key[2], const uint32_t counter[4], uint32_t out[4])
{
	uint32_t k0 = key[0], k1 = key[1];

	memcpy(out, counter, 4 * sizeof(out[0]));
	for (int round = 0; round < 10; round++) {
		uint64_t p0 = (uint64_t)0xD2511F53u * out[0], p1 = (uint64_t)0xCD9E8D57u * out[2];
		uint32_t x0 = (uint32_t)(p1 >> 32) ^ out[1] ^ k0;
		uint32_t x2 = (uint32_t)(p0 >> 32) ^ out[3] ^ k1;

		out[0] = x0;
		out[1] = (uint32_t)p1;
		out[2] = x2;
		out[3] = (uint32_t)p0;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
}

struct philox philox_start(uint64_t seed, enum philox_stream stream, uint64_t index)
{
	return (struct philox){
		.key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
		.counter = {0, (uint32_t)stream, (uint32_t)index, (uint32_t)(index >> 32)}};
}

uint32_t philox_u32(struct philox *p)
{
	if (p->left == 0) {
		philox_block(p->key, p->counter, p->out);
		p->counter[0]++;
		p->left = 4;
	}
	return p->out[4 - p->left--];
}

double philox_uniform(struct philox *p)
{
	return (double)(philox_u32(p) >> 8) * 0x1p-24;
}

double philox_normal(struct philox *p)
{
	double u = ((double)philox_u32(p) + 1) * 0x1p-32, v = philox_uniform(p);

	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

uint32_t philox_below(struct philox *p, uint32_t n)
{
	/* the top of the range that does not divide evenly is drawn again */
	uint32_t rest = (uint32_t)(((uint64_t)1 << 32) % n), value;

	do
		value = philox_u32(p);
	while (rest != 0 && value >= (uint32_t)(0u - rest));
	return value % n;
}
