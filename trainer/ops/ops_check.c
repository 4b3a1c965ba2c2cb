#include <math.h>
#include <stdlib.h>

#include "trainer/ops/floats.h"
#include "trainer/ops/ops.h"

/* No multiples of a register tile, and more rows than one block. */
enum { ROWS = 150, IN = 203, OUT = 77 };

/* Values of [-1, 1) that have nothing in common with rows or columns. */
static float *fill(size_t n, uint32_t seed)
{
	float *values = floats_new(n);

	for (size_t i = 0; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		values[i] = (float)(int32_t)seed * (1.0f / 2147483648.0f);
	}
	return values;
}

int ops_check_machine(struct ops *ops, struct err *err)
{
	/*
	 * A sum of IN products of values below 1. Rounding to bf16's 8 bits moves each by less
	 * than 2^-8, at random, so the sum by some root of IN of them; float32's sums are rounded
	 * too.
	 */
	double bf16 = 0x1p-7 * sqrt(IN), f32 = 0x1p-22 * IN;
	double limit = ops_rounds(ops) == PRECISION_BF16 ? bf16 : f32;
	AUTO_FREE float *x = fill(ROWS * IN, 1);
	AUTO_FREE float *w = fill(OUT * IN, 2);
	AUTO_FREE float *bias = fill(OUT, 3);
	AUTO_FREE float *got = floats_new(ROWS * OUT);
	AUTO_FREE float *want = floats_new(ROWS * OUT);
	struct op_linear p = {
		.rows = ROWS, .in = IN, .out = OUT, .x = x, .w = w, .bias = bias, .y = got};
	struct ops plain = {.table = &ops_reference, .part = ""};

	ops->table->linear_forward(ops, &p);
	p.y = want;
	plain.table->linear_forward(&plain, &p);
	for (size_t i = 0; i < ROWS * OUT; i++) {
		if (fabs((double)got[i] - (double)want[i]) <= limit)
			continue;
		err_set(err, ERR_MACHINE,
		        "this processor computes wrong results: %.9g instead of %.9g, by %s",
		        (double)got[i], (double)want[i], ops_isa(ops));
		return err_hint(err, "Take the node out of service; slipway-trainer selftest "
		                     "--golden DIR tells more.");
	}
	return 0;
}
