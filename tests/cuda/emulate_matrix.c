#include <string.h>

#include "tests/cuda/copies.h"
#include "tests/cuda/emulate.h"
#include "trainer/cuda/kernels/device.h"

/* ---- the matrix instructions, from the tables of device.h ---- */

static const uint16_t *row_at(const struct warp_request *lane)
{
	size_t at = (size_t)((const char *)lane->at - (const char *)shared_memory());

	if (at % 16 != 0 || at + 16 > emulate_shared_size())
		emulate_fail("ldmatrix of an address that is not aligned or not shared");
	if (copies_are_under_way(at, 16))
		emulate_fail("ldmatrix of what a copy is still on its way to");
	return lane->at;
}

static void load(struct warp_request *const lanes[WARP], bool columns)
{
	for (unsigned lane = 0; lane < WARP; lane++) {
		for (unsigned i = 0; i < 4; i++) {
			uint16_t pair[2];

			for (unsigned h = 0; h < 2; h++) {
				unsigned row = lane / 4, column = lane % 4 * 2 + h;
				const uint16_t *from = lanes[8 * i + (columns ? column : row)]->at;

				pair[h] = from[columns ? row : column];
			}
			lanes[lane]->a[i] = (uint32_t)pair[1] << 16 | pair[0];
		}
	}
}

static void load_rows(struct warp_request *const lanes[WARP])
{
	load(lanes, false);
}
static void load_columns(struct warp_request *const lanes[WARP])
{
	load(lanes, true);
}

static void matrix_load(uint32_t ret[4], const void *row, void (*run)(struct warp_request *const *))
{
	struct warp_request r = {.run = run, .at = row};

	(void)row_at(&r);
	emulate_warp(&r);
	memcpy(ret, r.a, sizeof(r.a));
}

void matrix_load_rows(uint32_t ret[4], const void *row)
{
	matrix_load(ret, row, load_rows);
}
void matrix_load_columns(uint32_t ret[4], const void *row)
{
	matrix_load(ret, row, load_columns);
}

static float half_of(uint32_t pair, unsigned which, float (*value)(uint16_t))
{
	return value((uint16_t)(which ? pair >> 16 : pair));
}

/* sum += a b: fragments to matrices, products in double, a rounding every 8 of depth for f16, back
 * to fragments. PTX leaves the roundings inside of an instruction open; these make one that is 16
 * deep give the bits of two that are 8 deep. */
static void multiply(struct warp_request *const lanes[WARP], float (*value)(uint16_t))
{
	double a[16][16], b[16][8];

	for (unsigned lane = 0; lane < WARP; lane++) {
		unsigned g = lane / 4, t = lane % 4;

		for (unsigned r = 0; r < 4; r++)
			for (unsigned h = 0; h < 2; h++)
				a[g + r % 2 * 8][2 * t + h + r / 2 * 8] =
					half_of(lanes[lane]->a[r], h, value);
		for (unsigned r = 0; r < 2; r++)
			for (unsigned h = 0; h < 2; h++)
				b[2 * t + h + r * 8][g] = half_of(lanes[lane]->b[r], h, value);
	}
	for (unsigned lane = 0; lane < WARP; lane++) {
		for (unsigned i = 0; i < 4; i++) {
			unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
			double sum = lanes[lane]->sum[i];

			for (unsigned k = 0; k < 16; k++) {
				sum += a[row][k] * b[k][column];
				sum = value == f16_value && k == 7 ? (double)(float)sum : sum;
			}
			lanes[lane]->sum[i] = (float)sum;
		}
	}
}

static void multiply_bf16(struct warp_request *const lanes[WARP])
{
	multiply(lanes, bf16_value);
}
static void multiply_f16(struct warp_request *const lanes[WARP])
{
	multiply(lanes, f16_value);
}

/* ---- tf32 ---- */

uint32_t tf32_bits(float value)
{
	enum { BELOW = 0x1fff };
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	if (value != value)
		return 0x7fffffff;
	return (bits + (BELOW + 1) / 2) & ~(uint32_t)BELOW;
}

float tf32_value(uint32_t bits)
{
	float value;

	bits &= 0xffffe000u;
	memcpy(&value, &bits, sizeof(value));
	return value;
}

uint32_t round_tf32(float value)
{
	return tf32_bits(value);
}

/* As `multiply`: fragments to matrices, one rounding. */
static void multiply_tf32(struct warp_request *const lanes[WARP])
{
	double a[16][8], b[8][8];

	for (unsigned lane = 0; lane < WARP; lane++) {
		unsigned g = lane / 4, t = lane % 4;

		for (unsigned r = 0; r < 4; r++)
			a[g + r % 2 * 8][t + r / 2 * 4] = tf32_value(lanes[lane]->a[r]);
		for (unsigned r = 0; r < 2; r++)
			b[t + r * 4][g] = tf32_value(lanes[lane]->b[r]);
	}
	for (unsigned lane = 0; lane < WARP; lane++) {
		for (unsigned i = 0; i < 4; i++) {
			unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
			double sum = lanes[lane]->sum[i];

			for (unsigned k = 0; k < 8; k++)
				sum += a[row][k] * b[k][column];
			lanes[lane]->sum[i] = (float)sum;
		}
	}
}

static void matrix_multiply(float sum[4], const uint32_t a[4], const uint32_t b[2],
                            void (*run)(struct warp_request *const *))
{
	struct warp_request r = {.run = run};

	memcpy(r.a, a, sizeof(r.a));
	memcpy(r.b, b, sizeof(r.b));
	memcpy(r.sum, sum, sizeof(r.sum));
	emulate_warp(&r);
	memcpy(sum, r.sum, sizeof(r.sum));
}

void matrix_multiply_bf16(float sum[4], const uint32_t a[4], const uint32_t b[2])
{
	matrix_multiply(sum, a, b, multiply_bf16);
}
void matrix_multiply_f16(float sum[4], const uint32_t a[4], const uint32_t b[2])
{
	matrix_multiply(sum, a, b, multiply_f16);
}
void matrix_multiply_tf32(float sum[4], const uint32_t a[4], const uint32_t b[2])
{
	matrix_multiply(sum, a, b, multiply_tf32);
}
