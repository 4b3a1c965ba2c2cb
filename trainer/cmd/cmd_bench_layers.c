/* bench: each part of a training step with its time and its share of what multiply-add can do. */
#include <stdlib.h>
#include <string.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "trainer/cmd/cmd_bench.h"

void bench_layers_init(struct bench_layers *l, size_t steps)
{
	*l = (struct bench_layers){.steps = steps,
	                           .seconds = mem_calloc(PROFILE_ROWS * steps, sizeof(double)),
	                           .peaks = mem_calloc(steps, sizeof(double))};
}

void bench_layers_done(struct bench_layers *l)
{
	free(l->seconds);
	free(l->peaks);
	*l = (struct bench_layers){0};
}

static void keep_time(struct bench_layers *l, size_t row, const struct profile_row *from,
                      double seconds)
{
	l->rows[row] = *from;
	l->seconds[row * l->steps + l->taken] = seconds;
}

void bench_layers_take(struct bench_layers *l, const struct profile *p, double seconds, double peak)
{
	static const struct profile_row rest = {.part = "rest", .op = "patches, queries, latents"};
	size_t n = p->n < PROFILE_ROWS ? p->n : PROFILE_ROWS - 1;

	for (size_t i = 0; i < n; i++) {
		keep_time(l, i, &p->rows[i], p->rows[i].seconds);
		seconds -= p->rows[i].seconds;
	}
	keep_time(l, n, &rest, seconds > 0 ? seconds : 0);
	l->n = n + 1;
	l->peaks[l->taken++] = peak;
}

double bench_seconds(const struct bench_layers *l, size_t row)
{
	AUTO_FREE double *seconds = mem_calloc(l->taken, sizeof(double));

	memcpy(seconds, l->seconds + row * l->steps, l->taken * sizeof(double));
	return bench_middle(seconds, l->taken);
}

double bench_row_share(const struct bench_layers *l, size_t row)
{
	AUTO_FREE double *shares = mem_calloc(l->taken, sizeof(double));

	for (size_t i = 0; i < l->taken; i++) {
		double could = l->seconds[row * l->steps + i] * l->peaks[i];

		shares[i] = could > 0 ? l->rows[row].flop / could : 0;
	}
	return bench_middle(shares, l->taken);
}

void bench_layers_text(const struct bench_layers *l, struct strbuf *sb)
{
	strbuf_addf(sb, "%-20s %-26s %8s %9s %9s %6s\n", "part", "op", "GFLOP", "ms", "GFLOP/s",
	            "peak");
	for (size_t i = 0; i < l->n; i++) {
		const struct profile_row *r = &l->rows[i];
		double seconds = bench_seconds(l, i);

		strbuf_addf(sb, "%-20s %-26s ", r->part, r->op);
		if (r->flop > 0)
			strbuf_addf(sb, "%8.2f %9.2f %9.0f %4.0f %%\n", r->flop / 1e9,
			            seconds * 1e3, r->flop / seconds / 1e9,
			            100 * bench_row_share(l, i));
		else
			strbuf_addf(sb, "%8s %9.2f\n", "", seconds * 1e3);
	}
}

static void add_number(struct jsonw *w, const char *key, double value)
{
	jsonw_key(w, key);
	jsonw_double(w, value);
}

void bench_layers_json(const struct bench_layers *l, struct jsonw *w)
{
	jsonw_begin_array(w);
	for (size_t i = 0; i < l->n; i++) {
		const struct profile_row *r = &l->rows[i];
		double seconds = bench_seconds(l, i), rate = seconds > 0 ? r->flop / seconds : 0;

		jsonw_begin_object(w);
		jsonw_key(w, "part");
		jsonw_string(w, r->part);
		jsonw_key(w, "op");
		jsonw_string(w, r->op);
		add_number(w, "gflop", r->flop / 1e9);
		add_number(w, "milliseconds", seconds * 1e3);
		add_number(w, "gflops", rate / 1e9);
		add_number(w, "share_of_peak", bench_row_share(l, i));
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}
