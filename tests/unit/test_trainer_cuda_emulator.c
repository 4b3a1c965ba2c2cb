/*
 * That the emulator finds what it is there for: faults planted in small kernels, and instructions
 * whose operands were read wrongly.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/cuda/emulate.h"
#include "tests/cuda/engine.h"
#include "tests/cuda/ptx_run.h"
#include "tests/harness.h"
#include "trainer/cuda/kernels/device.h"

enum { THREADS = 128, ORDERS = 20 };

struct planted {
	float out[THREADS];
	bool correct; /* without the fault */
};

/* Turns the block's values round through shared memory; the fault: nobody waits. */
static void turn_block(const void *params)
{
	struct planted *p = *(struct planted *const *)params;
	float *s = shared_memory();

	s[thread_index()] = (float)thread_index();
	if (p->correct)
		block_sync();
	p->out[thread_index()] = s[THREADS - 1 - thread_index()];
}

/* The same within each warp. */
static void turn_warp(const void *params)
{
	struct planted *p = *(struct planted *const *)params;
	float *s = shared_memory();
	unsigned first = thread_index() / WARP * WARP;

	s[thread_index()] = (float)thread_index();
	if (p->correct)
		warp_sync();
	p->out[thread_index()] = s[first + WARP - 1 - thread_index() % WARP];
}

/* Writes over what slower warps still read: one barrier where two are needed. */
static void turn_twice(const void *params)
{
	struct planted *p = *(struct planted *const *)params;
	float *s = shared_memory(), value = (float)thread_index();

	for (int i = 0; i < 2; i++) {
		s[thread_index()] = value;
		block_sync();
		value = s[THREADS - 1 - thread_index()] + 1000;
		if (p->correct)
			block_sync();
	}
	p->out[thread_index()] = value;
}

static size_t count_wrong(void (*kernel)(const void *), bool correct, float (*want)(unsigned i))
{
	size_t wrong = 0;

	for (uint64_t seed = 0; seed < ORDERS; seed++) {
		struct planted p = {.correct = correct}, *at = &p;
		struct emulated launch = {.kernel = kernel,
		                          .args = &at,
		                          .grid = {1, 1, 1},
		                          .threads = THREADS,
		                          .shared = THREADS * sizeof(float)};
		bool right = emulate(&launch, seed) == NULL;

		for (unsigned i = 0; i < THREADS; i++)
			right = right && p.out[i] == want(i);
		wrong += !right;
	}
	return wrong;
}

static float of_block(unsigned i)
{
	return (float)(THREADS - 1 - i);
}
static float of_warp(unsigned i)
{
	return (float)(i / WARP * WARP + WARP - 1 - i % WARP);
}
static float of_two(unsigned i)
{
	return (float)i + 2000;
}

static void finds_races(void)
{
	CHECK_INT(count_wrong(turn_block, true, of_block), 0);
	CHECK(count_wrong(turn_block, false, of_block) >= ORDERS - 1);
	CHECK_INT(count_wrong(turn_warp, true, of_warp), 0);
	CHECK(count_wrong(turn_warp, false, of_warp) >= ORDERS - 1);
	CHECK_INT(count_wrong(turn_twice, true, of_two), 0);
	CHECK(count_wrong(turn_twice, false, of_two) >= ORDERS / 2);
}

/* ---- fragments: a 16 x 16 times 16 x 8 product, the operands gathered by hand ---- */

enum product_by { BY_KERNEL, BY_PTX, BY_PTX_8 };

struct fragments {
	float a[16][16], b[16][8], sum[16][8];
	bool f16, swapped;
	enum product_by how;
};

static uint32_t pair(const struct fragments *p, float low, float high)
{
	return p->f16 ? pack_f16(low, high) : pack_bf16(low, high);
}

/* As the host's kernels do, as translated PTX does, or as that of sm_75 does f16: 8 deep, twice. */
static void multiply_words(const struct fragments *p, float sum[4], const uint32_t words[6])
{
	if (p->how == BY_KERNEL && p->f16)
		matrix_multiply_f16(sum, words, words + 4);
	else if (p->how == BY_KERNEL)
		matrix_multiply_bf16(sum, words, words + 4);
	else if (!p->f16)
		ptx_mma_bf16(sum, words);
	else if (p->how == BY_PTX)
		ptx_mma_f16(sum, words);
	for (unsigned i = 0; p->how == BY_PTX_8 && i < 2; i++)
		ptx_mma_f16_8(sum, (uint32_t[]){words[2 * i], words[2 * i + 1], words[4 + i]});
}

/* The fault: words 1 and 2 of the left operand changed with each other. */
static void multiply_fragments(const void *params)
{
	struct fragments *p = *(struct fragments *const *)params;
	unsigned g = lane_index() / 4, t = lane_index() % 4 * 2;
	uint32_t words[6];
	float sum[4] = {0};

	for (unsigned i = 0; i < 4; i++) {
		unsigned row = g + i % 2 * 8, k = t + i / 2 * 8;

		words[p->swapped && (i == 1 || i == 2) ? 3 - i : i] =
			pair(p, p->a[row][k], p->a[row][k + 1]);
	}
	for (unsigned i = 0; i < 2; i++)
		words[4 + i] = pair(p, p->b[t + i * 8][g], p->b[t + i * 8 + 1][g]);
	multiply_words(p, sum, words);
	for (unsigned i = 0; i < 4; i++)
		p->sum[g + i / 2 * 8][t + i % 2] = sum[i];
}

/* Whole numbers below 16, so that every format holds them and every sum is exact. */
static bool product_is_right(bool f16, bool swapped, enum product_by how)
{
	struct fragments p = {.f16 = f16, .swapped = swapped, .how = how}, *at = &p;
	struct emulated launch = {
		.kernel = multiply_fragments, .args = &at, .grid = {1, 1, 1}, .threads = WARP};
	bool right = true;

	for (unsigned i = 0; i < 256; i++)
		p.a[i / 16][i % 16] = (float)(i * 7 % 13);
	for (unsigned i = 0; i < 128; i++)
		p.b[i / 8][i % 8] = (float)(i * 5 % 11);
	right = emulate(&launch, 3) == NULL;
	for (unsigned i = 0; i < 128; i++) {
		float want = 0;

		for (unsigned k = 0; k < 16; k++)
			want += p.a[i / 8][k] * p.b[k][i % 8];
		right = right && p.sum[i / 8][i % 8] == want;
	}
	return right;
}

static void finds_wrong_fragments(void)
{
	for (enum product_by how = BY_KERNEL; how <= BY_PTX_8; how++) {
		for (int f16 = how == BY_PTX_8; f16 < 2; f16++) {
			CHECK(product_is_right(f16, false, how));
			CHECK(!product_is_right(f16, true, how));
		}
	}
}

/* ---- tf32: a 16 x 8 times 8 x 8 product ---- */

struct tf32_fragments {
	float a[16][8], b[8][8], sum[16][8];
	bool translated, swapped, below;
};

/* The faults: words 1 and 2 of the left operand changed with each other. below: what a unit does
 * not look at is there. */
static void multiply_tf32_fragments(const void *params)
{
	struct tf32_fragments *p = *(struct tf32_fragments *const *)params;
	unsigned g = lane_index() / 4, t = lane_index() % 4;
	uint32_t words[6], more = p->below ? 0x1fff : 0;
	float sum[4] = {0};

	for (unsigned i = 0; i < 4; i++)
		words[p->swapped && (i == 1 || i == 2) ? 3 - i : i] =
			round_tf32(p->a[g + i % 2 * 8][t + i / 2 * 4]) | more;
	for (unsigned i = 0; i < 2; i++)
		words[4 + i] = round_tf32(p->b[t + i * 4][g]) | more;
	if (p->translated)
		ptx_mma_tf32(sum, words);
	else
		matrix_multiply_tf32(sum, words, words + 4);
	for (unsigned i = 0; i < 4; i++)
		p->sum[g + i / 2 * 8][t * 2 + i % 2] = sum[i];
}

static bool tf32_is_right(struct tf32_fragments p)
{
	struct tf32_fragments *at = &p;
	struct emulated launch = {
		.kernel = multiply_tf32_fragments, .args = &at, .grid = {1, 1, 1}, .threads = WARP};
	bool right;

	for (unsigned i = 0; i < 128; i++)
		p.a[i / 8][i % 8] = (float)(i * 7 % 13);
	for (unsigned i = 0; i < 64; i++)
		p.b[i / 8][i % 8] = (float)(i * 5 % 11);
	right = emulate(&launch, 3) == NULL;
	for (unsigned i = 0; i < 128; i++) {
		float want = 0;

		for (unsigned k = 0; k < 8; k++)
			want += p.a[i / 8][k] * p.b[k][i % 8];
		right = right && p.sum[i / 8][i % 8] == want;
	}
	return right;
}

static void tf32_is_as_it_is_defined(void)
{
	for (int translated = 0; translated < 2; translated++) {
		CHECK(tf32_is_right((struct tf32_fragments){.translated = translated}));
		CHECK(tf32_is_right(
			(struct tf32_fragments){.translated = translated, .below = true}));
		CHECK(!tf32_is_right(
			(struct tf32_fragments){.translated = translated, .swapped = true}));
	}
	CHECK(tf32_value(tf32_bits(1.00048828125f)) == 1.0009765625f); /* half way: away from 0 */
	CHECK(tf32_value(tf32_bits(-1.00048828125f)) == -1.0009765625f);
	CHECK(tf32_value(tf32_bits(0x1.001ffep0f)) == 1);
	CHECK(tf32_value(tf32_bits(0x1.fffffep3f)) == 16);
	CHECK(tf32_value(tf32_bits(0x1.fffffep127f)) == __builtin_inff());
	CHECK_INT(tf32_bits(__builtin_inff()), 0x7f800000);
	CHECK(tf32_value(tf32_bits(__builtin_nanf(""))) != tf32_value(tf32_bits(1)));
}

/* ---- ldmatrix: both readings of it, beside its definition ---- */

struct loaded {
	uint32_t words[WARP][4];
	bool columns, translated;
	unsigned offset; /* of the addresses: the fault */
};

static void load_four_matrices(const void *params)
{
	struct loaded *p = *(struct loaded *const *)params;
	uint16_t *s = shared_memory();
	unsigned at = lane_index() * 8;

	for (unsigned i = 0; i < 8; i++)
		s[at + i] = (uint16_t)(at + i);
	warp_sync();
	if (p->translated)
		ptx_ldmatrix(p->words[lane_index()], at * 2 + p->offset, p->columns);
	else if (p->columns)
		matrix_load_columns(p->words[lane_index()], (char *)(s + at) + p->offset);
	else
		matrix_load_rows(p->words[lane_index()], (char *)(s + at) + p->offset);
}

static const char *load_matrices(struct loaded *p)
{
	struct emulated launch = {.kernel = load_four_matrices,
	                          .args = &p,
	                          .grid = {1, 1, 1},
	                          .threads = WARP,
	                          .shared = 512};

	return emulate(&launch, 1);
}

static void loads_matrices(void)
{
	for (unsigned i = 0; i < 4; i++) {
		struct loaded p = {.columns = i % 2, .translated = i / 2};

		CHECK(load_matrices(&p) == NULL);
		for (unsigned lane = 0; lane < WARP; lane++) {
			for (unsigned m = 0; m < 4; m++) {
				unsigned row = lane / 4, column = lane % 4 * 2;
				unsigned step = p.columns ? 8 : 1;
				unsigned low =
					m * 64 + (p.columns ? column * 8 + row : row * 8 + column);

				CHECK_INT(p.words[lane][m], low | (low + step) << 16);
			}
		}
		p.offset = 2;
		CHECK(load_matrices(&p) != NULL); /* not a multiple of 16 */
		p.offset = 16;
		CHECK(load_matrices(&p) != NULL); /* the last row lies beyond */
	}
}

/* ---- what a device would hang on ---- */

static void wait_alone(const void *params)
{
	(void)params;
	if (thread_index() < WARP)
		block_sync();
}

static void shuffle_alone(const void *params)
{
	(void)params;
	if (lane_index() > 0)
		(void)warp_xor(1, 1);
}

static void shuffle_or_load(const void *params)
{
	(void)params;
	if (lane_index() % 2)
		warp_sync();
	else
		(void)warp_xor(1, 1);
}

static void finds_hangs(void)
{
	void (*const kernels[])(const void *) = {wait_alone, shuffle_alone, shuffle_or_load};

	for (size_t i = 0; i < ARRAY_LEN(kernels); i++) {
		struct emulated launch = {
			.kernel = kernels[i], .grid = {2, 1, 1}, .threads = 2 * WARP};

		CHECK(emulate(&launch, i) != NULL);
		launch.threads = 33;
		CHECK(emulate(&launch, i) != NULL);
	}
}

/* ---- 16 bits ---- */

static void converts_16_bits(void)
{
	for (uint32_t i = 0; i < 0x10000; i++) {
		uint16_t bits = (uint16_t)i;
		float b = bf16_value(bits), f = f16_value(bits);

		CHECK(b != b || bf16_bits(b) == bits);
		CHECK(f != f || f16_bits(f) == bits);
	}
	CHECK_INT(f16_bits(1.00048828125f), 0x3c00); /* half way: to even */
	CHECK_INT(f16_bits(1.00146484375f), 0x3c02);
	CHECK_INT(f16_bits(65519), 0x7bff);
	CHECK_INT(f16_bits(65520), 0x7c00);
	CHECK_INT(f16_bits(0x1p-25f), 0);
	CHECK_INT(f16_bits(-0x1.8p-25f), 0x8001);
	CHECK_INT(bf16_bits(1.00390625f), 0x3f80);
	CHECK_INT(bf16_bits(1.01171875f), 0x3f82);
}

int main(void)
{
	TEST("emulator: a missing barrier gives other results in another order", finds_races);
	TEST("emulator: a product of fragments in the wrong order is wrong", finds_wrong_fragments);
	TEST("emulator: tf32 has 11 bits of significand, and fragments of its own",
	     tf32_is_as_it_is_defined);
	TEST("emulator: ldmatrix hands out rows and columns, within bounds", loads_matrices);
	TEST("emulator: what would hang a device is a problem", finds_hangs);
	TEST("emulator: 16-bit floats round to nearest even", converts_16_bits);
	return test_done();
}
