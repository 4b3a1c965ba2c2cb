#include "tests/cuda/ptx_run.h"

static void shuffle_words(struct warp_request *const lanes[WARP])
{
	uint32_t values[WARP];

	for (unsigned i = 0; i < WARP; i++)
		values[i] = lanes[i]->a[0];
	for (unsigned i = 0; i < WARP; i++)
		lanes[i]->a[0] = values[(i ^ lanes[i]->mask) % WARP];
}

uint32_t ptx_shuffle(uint32_t value, uint32_t mask, uint32_t clamp, uint32_t members)
{
	struct warp_request r = {.run = shuffle_words, .a = {value}, .mask = mask};

	if (clamp != 31 || members != 0xffffffffu || mask > 31)
		emulate_fail("a shuffle within a part of the warp");
	emulate_warp(&r);
	return r.a[0];
}

/* Element (row, column) of matrix i goes to lane row * 4 + column / 2, half column % 2. */
static void spread(struct warp_request *const lanes[WARP], bool transposed)
{
	for (unsigned from = 0; from < WARP; from++) {
		for (unsigned k = 0; k < 8; k++) {
			unsigned row = transposed ? k : from % 8,
				 column = transposed ? from % 8 : k;
			uint32_t *word = &lanes[row * 4 + column / 2]->a[from / 8];
			uint32_t value = ((const uint16_t *)lanes[from]->at)[k];

			*word = column % 2 == 0 ? (*word & 0xffff0000u) | value
			                        : (*word & 0x0000ffffu) | value << 16;
		}
	}
}

static void spread_rows(struct warp_request *const lanes[WARP])
{
	spread(lanes, false);
}
static void spread_columns(struct warp_request *const lanes[WARP])
{
	spread(lanes, true);
}

void ptx_ldmatrix(uint32_t ret[4], uint32_t at, bool transposed)
{
	struct warp_request r = {.run = transposed ? spread_columns : spread_rows,
	                         .at = ptx_shared(at, 16)};

	emulate_warp(&r);
	memcpy(ret, r.a, sizeof(r.a));
}

/* Which lane and word hold element (line, k) of an operand: 8 lines and 8 of depth to a word. */
static float element(struct warp_request *const lanes[WARP], bool left, unsigned line, unsigned k,
                     float (*value)(uint16_t))
{
	const struct warp_request *lane = lanes[line % 8 * 4 + k % 8 / 2];
	uint32_t word = left ? lane->a[line / 8 + k / 8 * 2] : lane->b[k / 8];

	return value((uint16_t)(word >> k % 2 * 16));
}

/* f16 is rounded every 8 of depth, so that one instruction gives the bits of two (emulate.c). */
static void mma(struct warp_request *const lanes[WARP], unsigned depth, float (*value)(uint16_t))
{
	for (unsigned row = 0; row < 16; row++) {
		for (unsigned column = 0; column < 8; column++) {
			float *sum =
				&lanes[row % 8 * 4 + column / 2]->sum[row / 8 * 2 + column % 2];
			double total = *sum;

			for (unsigned k = 0; k < depth; k++) {
				if (value == f16_value && k == 8)
					total = (float)total;
				total += (double)element(lanes, true, row, k, value) *
				         element(lanes, false, column, k, value);
			}
			*sum = (float)total;
		}
	}
}

static void mma_bf16(struct warp_request *const lanes[WARP])
{
	mma(lanes, 16, bf16_value);
}
static void mma_f16(struct warp_request *const lanes[WARP])
{
	mma(lanes, 16, f16_value);
}
static void mma_f16_8(struct warp_request *const lanes[WARP])
{
	mma(lanes, 8, f16_value);
}

/* A word is a value: 8 lines and 4 of depth to a word. The rounding that the kernels' source asks
 * for is in the words; what they have below it is cut off. */
static float tf32_element(struct warp_request *const lanes[WARP], bool left, unsigned line,
                          unsigned k)
{
	const struct warp_request *lane = lanes[line % 8 * 4 + k % 4];
	uint32_t word = left ? lane->a[line / 8 + k / 4 * 2] : lane->b[k / 4];

	return ptx_float(word >> 13 << 13);
}

static void mma_tf32(struct warp_request *const lanes[WARP])
{
	for (unsigned row = 0; row < 16; row++) {
		for (unsigned column = 0; column < 8; column++) {
			float *sum =
				&lanes[row % 8 * 4 + column / 2]->sum[row / 8 * 2 + column % 2];
			double total = *sum;

			for (unsigned k = 0; k < 8; k++)
				total += (double)tf32_element(lanes, true, row, k) *
				         tf32_element(lanes, false, column, k);
			*sum = (float)total;
		}
	}
}

static void run_mma(float sum[4], const uint32_t *words, size_t left, size_t right,
                    void (*run)(struct warp_request *const *))
{
	struct warp_request r = {.run = run};

	memcpy(r.a, words, left * sizeof(r.a[0]));
	memcpy(r.b, words + left, right * sizeof(r.b[0]));
	memcpy(r.sum, sum, sizeof(r.sum));
	emulate_warp(&r);
	memcpy(sum, r.sum, sizeof(r.sum));
}

void ptx_mma_bf16(float sum[4], const uint32_t words[6])
{
	run_mma(sum, words, 4, 2, mma_bf16);
}
void ptx_mma_f16(float sum[4], const uint32_t words[6])
{
	run_mma(sum, words, 4, 2, mma_f16);
}
void ptx_mma_f16_8(float sum[4], const uint32_t words[3])
{
	run_mma(sum, words, 2, 1, mma_f16_8);
}
void ptx_mma_tf32(float sum[4], const uint32_t words[6])
{
	run_mma(sum, words, 4, 2, mma_tf32);
}
