/*
 * The cross attention on a GPU, folded and plain, beside the CPU's definition of it: random
 * configurations, forward and backward, on every engine, in several orders of threads.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/cuda/compare.h"
#include "tests/harness.h"
#include "tests/unit/random_cross.h"

static void by_cpu(void *op)
{
	struct op_cross *p = op;
	struct ops ops;

	CHECK(ops_open(&(struct ops_options){.reference = true}, &ops));
	p->state = ops.table->cross_state_new(&ops, p);
	ops.table->cross_forward(&ops, p);
	ops.table->cross_backward(&ops, p);
	ops.table->cross_state_free(&ops, p->state);
	ops_done(&ops);
}

/* `tolerance` is of sums over up to 140 rows, so it is far above one rounding. A few of the series,
 * or all 200 of it. */
static void check_random(enum cuda_operands operands, uint64_t series, size_t some,
                         double tolerance)
{
	size_t n = getenv("SLIPWAY_TEST_LONG") != NULL ? 200 : some;

	for (size_t i = 0; i < n; i++) {
		struct philox r = philox_start(series, STREAM_SYNTHETIC, i);
		struct op_cross p;
		struct compared c = {.name = "cross attention",
		                     .op = &p,
		                     .reference = by_cpu,
		                     .device = random_cross_by_launches,
		                     .operands = operands,
		                     .tolerance = tolerance};
		const char *why;

		random_cross(&r, &c, &p, 0);
		why = compare(&c);
		if (why != NULL) {
			printf("# configuration %zu: %s\n", i, why);
			test_fail(__FILE__, __LINE__, why);
		}
	}
}

static void cross_is_the_cpus(void)
{
	check_random(OPERANDS_F32, 5, 8, 3e-4);
}

static void cross_of_16_bits_rounds_its_operands(void)
{
	check_random(OPERANDS_F16, 7, 3, 2e-2);
	check_random(OPERANDS_BF16, 7, 3, 16e-2); /* as f16, of three bits less */
}

int main(void)
{
	TEST("cuda: the cross attention is the CPU's, folded or plain", cross_is_the_cpus);
	TEST("cuda: the cross attention in f16 and bf16 is near the CPU's",
	     cross_of_16_bits_rounds_its_operands);
	return test_done();
}
