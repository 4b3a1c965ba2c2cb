/* bench --shapes: the model's matrix products one by one, as a share of what
 * multiply-add can do. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "trainer/cmd/cmd_bench.h"
#include "trainer/ops/gemm.h"

enum form { NT, NN, TN }; /* y = x w^T; dx = dy w; dw = dy^T x */

struct gemm_shape {
	const char *name;
	size_t m, n, k;
	enum form form;
};

enum { SHAPES_MAX = 32 };

/* A linear layer's three products. */
static size_t add_linear(struct gemm_shape *s, const char *const names[3], size_t rows, size_t in,
                         size_t out)
{
	s[0] = (struct gemm_shape){names[0], rows, out, in, NT};
	s[1] = (struct gemm_shape){names[1], rows, in, out, NN};
	s[2] = (struct gemm_shape){names[2], out, in, rows, TN};
	return 3;
}

static size_t list_shapes(const struct model_config *c, size_t batch, size_t points,
                          struct gemm_shape *s)
{
	static const char *const names[][3] = {
		{"self attention and MLP", "  d input", "  d weight"},
		{"folded queries and values", "  d input", "  d weight"},
		{"decoder MLP", "  d input", "  d weight"},
		{"decoder final layer", "  d input", "  d weight"}};
	struct model_dims d = model_dims(c);
	size_t n = 0, rows = batch * c->num_latents;

	n += add_linear(s + n, names[0], rows, c->d_latents, c->d_latents);
	n += add_linear(s + n, names[1], rows, d.channels, d.enc_v);
	n += add_linear(s + n, names[2], batch * points, d.queries, d.queries);
	n += add_linear(s + n, names[3], batch * points, d.queries, c->output_num_channels);
	return n;
}

struct shape_run {
	struct ops *ops;
	struct gemm g;
};

static double run_shape(void *ctx)
{
	const struct shape_run *r = ctx;
	double start = clock_seconds();

	gemm(cpu_of(r->ops), &r->g);
	return 2.0 * (double)r->g.m * (double)r->g.n * (double)r->g.k / (clock_seconds() - start);
}

/* As a share of the peak. */
static double time_shape(struct ops *ops, const struct gemm_shape *s)
{
	enum { TURNS = 60 };
	size_t largest = s->m * s->k > s->k * s->n ? s->m * s->k : s->k * s->n;
	float *a = mem_calloc(largest, sizeof(float)), *b = mem_calloc(largest, sizeof(float));
	float *c = mem_calloc(s->m * s->n, sizeof(float));
	struct shape_run r = {ops,
	                      {.m = s->m,
	                       .n = s->n,
	                       .k = s->k,
	                       .a = a,
	                       .b = b,
	                       .c = c,
	                       .c_row = s->n,
	                       .a_row = s->form == TN ? 1 : s->k,
	                       .a_col = s->form == TN ? s->m : 1,
	                       .b_row = s->form == NT ? 1 : s->n,
	                       .b_col = s->form == NT ? s->k : 1}};
	double share = bench_share(ops, TURNS, run_shape, &r);

	free(a);
	free(b);
	free(c);
	return share;
}

void bench_shapes(struct ops *ops, const struct model_config *c, size_t batch, size_t points,
                  bool json, struct strbuf *sb)
{
	enum { PEAKS = 9 };
	struct gemm_shape shapes[SHAPES_MAX];
	size_t n = list_shapes(c, batch, points, shapes);
	double peaks[PEAKS], peak;
	struct jsonw w;

	/* the first of a new team are slow: its threads share a processor until they are spread */
	for (size_t i = 0; i < PEAKS; i++)
		peaks[i] = bench_peak(ops, BENCH_PEAK_LONG);
	peak = bench_middle(peaks, PEAKS);

	if (json) {
		jsonw_init(&w, sb, true);
		jsonw_begin_array(&w);
	} else {
		strbuf_addf(sb, "multiply-add peak: %.0f GFLOP/s (%s, %u threads)\n", peak / 1e9,
		            ops_isa(ops), ops_threads(ops));
	}
	for (size_t i = 0; i < n; i++) {
		const struct gemm_shape *s = &shapes[i];
		double share = time_shape(ops, s), rate = share * peak;

		if (!json) {
			strbuf_addf(
				sb,
				"%-28s %5zu x %5zu x %5zu  %6.2f GFLOP %7.0f GFLOP/s %4.0f %%\n",
				s->name, s->m, s->n, s->k,
				2e-9 * (double)s->m * (double)s->n * (double)s->k, rate / 1e9,
				100 * share);
			continue;
		}
		jsonw_begin_object(&w);
		jsonw_key(&w, "name");
		jsonw_string(&w, s->name);
		jsonw_key(&w, "m");
		jsonw_int(&w, (int64_t)s->m);
		jsonw_key(&w, "n");
		jsonw_int(&w, (int64_t)s->n);
		jsonw_key(&w, "k");
		jsonw_int(&w, (int64_t)s->k);
		jsonw_key(&w, "gflops");
		jsonw_double(&w, rate / 1e9);
		jsonw_key(&w, "share_of_peak");
		jsonw_double(&w, share);
		jsonw_end_object(&w);
	}
	if (json)
		jsonw_end_array(&w);
}
