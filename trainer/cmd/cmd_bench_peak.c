/*
 * bench: what multiply-add in registers reaches, beside which all else is a share. A machine's
 * speed changes from moment to moment, with its clock and its neighbours; so a thing and the peak
 * take turns, and the middle one of each one's rounds counts, not the best.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "trainer/cmd/cmd_bench.h"
#include "trainer/ops/cpu.h"
#include "trainer/ops/kernels.h"
#include "trainer/ops/threads.h"

struct peak {
	const struct product_kernels *products;
	size_t rounds;
	double operations[1024]; /* by thread */
};

static void run_peak(void *ctx, size_t i, unsigned worker)
{
	struct peak *p = ctx;

	(void)worker;
	p->operations[i] = p->products->peak(p->rounds);
}

double bench_peak(struct ops *ops, size_t rounds)
{
	struct peak p = {.products = cpu_of(ops)->products, .rounds = rounds};
	unsigned n = ops_threads(ops);
	double start = clock_seconds();

	threads_run(cpu_of(ops)->threads, n, run_peak, &p);
	return p.operations[0] * n / (clock_seconds() - start);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double bench_middle(double *values, size_t n)
{
	qsort(values, n, sizeof(values[0]), by_value);
	return values[n / 2];
}

double bench_share(struct ops *ops, size_t turns, double (*once)(void *ctx), void *ctx)
{
	double *shares = mem_calloc(turns, sizeof(double)), share;

	for (size_t i = 0; i < turns; i++) {
		double rate = once(ctx);

		shares[i] = rate / bench_peak(ops, BENCH_PEAK_SHORT);
	}
	share = bench_middle(shares, turns);
	free(shares);
	return share;
}
