#include <math.h>
#include <stdlib.h>

#include "trainer/ops/floats.h"
#include "trainer/ops/ops.h"

/* No multiples of a register tile, and more rows than one block. */
enum { ROWS = 150, IN = 203, OUT = 77 };

/* Operands, then what comes out, side by side. */
enum { X = 0, W = X + ROWS * IN, BIAS = W + OUT * IN, Y = BIAS + OUT, ALL = Y + ROWS * OUT };

/* Values of [-1, 1) that have nothing in common with rows or columns. */
static void fill(float *values, size_t n, uint32_t seed)
{
	for (size_t i = 0; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		values[i] = (float)(int32_t)seed * (1.0f / 2147483648.0f);
	}
}

static struct op_linear product(float *at)
{
	return (struct op_linear){.rows = ROWS,
	                          .in = IN,
	                          .out = OUT,
	                          .x = at + X,
	                          .w = at + W,
	                          .bias = at + BIAS,
	                          .y = at + Y};
}

/* The product of the operands in `host`, to `got`, by these ops. */
static int compute(struct ops *ops, const float *host, float *got, struct err *err)
{
	struct buffer room = buffer_new(ops, ALL * sizeof(float), "a check of the machine");
	struct op_linear p = product(room.at);
	int rc;

	ops_upload(ops, room.at, host, Y * sizeof(float));
	if (!ops_failed(ops))
		ops->table->linear_forward(ops, &p);
	ops_download(ops, got, p.y, ROWS * OUT * sizeof(float));
	rc = ops_sync(ops, err);
	buffer_free(ops, &room);
	return rc;
}

int ops_check_machine(struct ops *ops, struct err *err)
{
	/*
	 * A sum of IN products of values below 1. Rounding to bf16's 8 bits moves each by less
	 * than 2^-8 (to f16's and tf32's 11, than 2^-11), at random, so the sum by some root of IN
	 * of them; float32's sums are rounded too.
	 */
	const double limits[PRECISIONS] = {[PRECISION_F32] = 0x1p-22 * IN,
	                                   [PRECISION_BF16] = 0x1p-7 * sqrt(IN),
	                                   [PRECISION_F16] = 0x1p-10 * sqrt(IN),
	                                   [PRECISION_TF32] = 0x1p-10 * sqrt(IN)};
	double limit = limits[ops_rounds(ops)];
	AUTO_FREE float *host = floats_new(ALL);
	AUTO_FREE float *got = floats_new(ROWS * OUT);
	AUTO(strbuf) struct strbuf by = STRBUF_INIT(256);
	const float *want = host + Y;
	struct op_linear p = product(host);

	fill(host + X, ROWS * IN, 1);
	fill(host + W, OUT * IN, 2);
	fill(host + BIAS, OUT, 3);
	ops_reference.linear_forward(NULL, &p); /* which looks at the operands alone */
	if (compute(ops, host, got, err) != 0)
		return -1;
	for (size_t i = 0; i < ROWS * OUT; i++) {
		if (fabs((double)got[i] - (double)want[i]) <= limit)
			continue;
		ops_describe(ops, &by);
		err_set(err, ERR_MACHINE,
		        "this processor computes wrong results: %.9g instead of %.9g, by %.200s",
		        (double)got[i], (double)want[i], strbuf_str(&by));
		return err_hint(err, "Take the node out of service; slipway-trainer selftest "
		                     "--golden DIR tells more.");
	}
	return 0;
}
