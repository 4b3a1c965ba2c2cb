/* bench: each part of a training step with its time and its share of what multiply-add can do. */
#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "trainer/cmd/cmd_bench.h"

void bench_layers_init(struct bench_layers *l, size_t steps)
{
	*l = (struct bench_layers){.steps = steps,
	                           .seconds = mem_calloc(PROFILE_ROWS * steps, sizeof(double))};
}

void bench_layers_done(struct bench_layers *l)
{
	free(l->seconds);
	*l = (struct bench_layers){0};
}

static void keep_time(struct bench_layers *l, size_t row, const struct profile_row *from,
                      double seconds)
{
	l->rows[row] = *from;
	l->seconds[row * l->steps + l->taken] = seconds;
}

void bench_layers_take(struct bench_layers *l, const struct profile *p, double seconds)
{
	static const struct profile_row rest = {.part = "rest", .op = "patches, queries, latents"};
	size_t n = p->n < PROFILE_ROWS ? p->n : PROFILE_ROWS - 1;

	for (size_t i = 0; i < n; i++) {
		keep_time(l, i, &p->rows[i], p->rows[i].seconds);
		seconds -= p->rows[i].seconds;
	}
	keep_time(l, n, &rest, seconds > 0 ? seconds : 0);
	l->n = n + 1;
	l->taken++;
}

double bench_median(struct bench_layers *l, size_t row)
{
	return bench_middle(l->seconds + row * l->steps, l->taken);
}

void bench_layers_text(struct bench_layers *l, double peak, struct strbuf *sb)
{
	strbuf_addf(sb, "%-20s %-26s %8s %9s %9s %6s\n", "part", "op", "GFLOP", "ms", "GFLOP/s",
	            "peak");
	for (size_t i = 0; i < l->n; i++) {
		const struct profile_row *r = &l->rows[i];
		double seconds = bench_median(l, i);

		strbuf_addf(sb, "%-20s %-26s ", r->part, r->op);
		if (r->flop > 0)
			strbuf_addf(sb, "%8.2f %9.2f %9.0f %4.0f %%\n", r->flop / 1e9,
			            seconds * 1e3, r->flop / seconds / 1e9,
			            peak > 0 ? 100 * r->flop / seconds / peak : 0);
		else
			strbuf_addf(sb, "%8s %9.2f\n", "", seconds * 1e3);
	}
}

static void add_number(struct jsonw *w, const char *key, double value)
{
	jsonw_key(w, key);
	jsonw_double(w, value);
}

void bench_layers_json(struct bench_layers *l, double peak, struct jsonw *w)
{
	jsonw_begin_array(w);
	for (size_t i = 0; i < l->n; i++) {
		const struct profile_row *r = &l->rows[i];
		double seconds = bench_median(l, i), rate = seconds > 0 ? r->flop / seconds : 0;

		jsonw_begin_object(w);
		jsonw_key(w, "part");
		jsonw_string(w, r->part);
		jsonw_key(w, "op");
		jsonw_string(w, r->op);
		add_number(w, "gflop", r->flop / 1e9);
		add_number(w, "milliseconds", seconds * 1e3);
		add_number(w, "gflops", rate / 1e9);
		add_number(w, "share_of_peak", peak > 0 ? rate / peak : 0);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}
