/*
 * The kernels that measure a device's peak: what they add up, by definition, on every engine; and
 * that they are as many operations as they say. No GPU was ever asked.
 */
#include <math.h>
#include <stdlib.h>

#include "tests/cuda/compare.h"
#include "tests/harness.h"
#include "trainer/cuda/kernels/entries.h"

enum { BLOCKS = 2, ROUNDS = 9, LANES = 32 };

struct case_of_peak {
	enum cuda_kernel kernel;
	struct peak_launch l;
};

static void by_launch(struct cuda_queue *q, void *op)
{
	const struct case_of_peak *c = op;

	q->launch(q, c->kernel, (const unsigned[3]){BLOCKS, 1, 1}, &c->l);
}

static void chains(void *op)
{
	const struct peak_launch *l = &((struct case_of_peak *)op)->l;

	for (unsigned i = 0; i < BLOCKS * PEAK_THREADS; i++) {
		l->out[i] = 0;
		for (unsigned k = 0; k < PEAK_CHAINS; k++) {
			float sum = (float)(i % PEAK_THREADS + k);

			for (unsigned r = 0; r < l->rounds; r++)
				sum = fmaf(sum, l->factor, l->addend);
			l->out[i] += sum;
		}
	}
}

static float value(unsigned lane, unsigned i)
{
	return (float)((lane * 5 + i * 3) % 8) - 3;
}

/* Fragments as PTX has them: value h of word w of a lane's left operand is row g + 8 (w % 2),
 * column 2t + h + 8 (w / 2); of its right operand, row 2t + h + 8 w of column g. */
static void gather(float a[16][16], float b[16][8])
{
	for (unsigned lane = 0; lane < LANES; lane++) {
		unsigned g = lane / 4, t = lane % 4;

		for (unsigned i = 0; i < 8; i++)
			a[g + i / 2 % 2 * 8][2 * t + i % 2 + i / 4 * 8] = value(lane, i);
		for (unsigned i = 0; i < 4; i++)
			b[2 * t + i % 2 + i / 2 * 8][g] = value(lane, 11 + i);
	}
}

static float product_of(float a[16][16], float b[16][8], unsigned row, unsigned column)
{
	float sum = 0;

	for (unsigned k = 0; k < 16; k++)
		sum += a[row][k] * b[k][column];
	return sum;
}

static void tiles(void *op)
{
	const struct peak_launch *l = &((struct case_of_peak *)op)->l;
	float a[16][16], b[16][8];

	gather(a, b);
	for (unsigned i = 0; i < BLOCKS * PEAK_THREADS; i++) {
		unsigned g = i % LANES / 4, t = i % 4;
		float sum = 0;

		for (unsigned k = 0; k < 4; k++)
			sum += l->addend +
			       (float)l->rounds * product_of(a, b, g + k / 2 * 8, 2 * t + k % 2);
		l->out[i] = sum * PEAK_TILES;
	}
}

static void check_peak(enum cuda_kernel kernel, enum cuda_operands operands,
                       void (*reference)(void *op))
{
	struct case_of_peak p = {.kernel = kernel,
	                         .l = {.rounds = ROUNDS, .factor = -1, .addend = 3}};
	struct compared c = {.name = cuda_kernels[kernel].name,
	                     .op = &p,
	                     .reference = reference,
	                     .device = by_launch,
	                     .operands = operands,
	                     .tolerance = 0};
	const char *why;

	p.l.out = compared_result(&c, (size_t)BLOCKS * PEAK_THREADS);
	why = compare(&c);
	if (why != NULL)
		test_fail(__FILE__, __LINE__, why);
}

static void peaks_add_up(void)
{
	check_peak(KERNEL_peak_f32, OPERANDS_F32, chains);
	check_peak(KERNEL_peak_f16, OPERANDS_F16, tiles);
	check_peak(KERNEL_peak_bf16, OPERANDS_BF16, tiles);
}

/* A queue that notes what it is asked for. */
static struct noted {
	struct cuda_queue queue;
	enum cuda_kernel kernel;
	unsigned blocks;
	uint32_t rounds;
} noted;

static void note(struct cuda_queue *q, enum cuda_kernel kernel, const unsigned grid[3],
                 const void *params)
{
	(void)q;
	noted.kernel = kernel;
	noted.blocks = grid[0];
	noted.rounds = ((const struct peak_launch *)params)->rounds;
}

static void *room(struct cuda_queue *q, size_t n)
{
	static float some[4 * PEAK_THREADS];

	(void)q;
	return n <= sizeof(some) ? some : NULL;
}

static void operations_are_counted(void)
{
	static const struct {
		enum cuda_operands operands;
		enum cuda_kernel kernel;
		double flop; /* of a thread, in a turn */
	} want[] = {{OPERANDS_F32, KERNEL_peak_f32, 2 * PEAK_CHAINS},
	            {OPERANDS_F16, KERNEL_peak_f16, 4096.0 / LANES * PEAK_TILES},
	            {OPERANDS_BF16, KERNEL_peak_bf16, 4096.0 / LANES * PEAK_TILES}};

	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		noted.queue = (struct cuda_queue){
			.launch = note, .scratch = room, .operands = want[i].operands};
		CHECK(cuda_peak(&noted.queue, 3, 11) == want[i].flop * 3 * PEAK_THREADS * 11);
		CHECK(noted.kernel == want[i].kernel && noted.blocks == 3 && noted.rounds == 11);
	}
}

int main(void)
{
	TEST("cuda: the peak's kernels add up what they say, in f32, f16 and bf16", peaks_add_up);
	TEST("cuda: the peak's operations are counted", operations_are_counted);
	return test_done();
}
