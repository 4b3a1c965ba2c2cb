/* bench --products: square products on a device, where what was asked for is done when it says so,
 * and what a step of the model would need of them. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "trainer/cmd/cmd_bench.h"
#include "trainer/model/cost.h"
#include "trainer/ops/ops.h"
#include "trainer/ops/philox.h"

enum { ROUNDS = 5, IN_A_ROUND = 8 };

/* Device's arrays of a layer with n inputs and outputs, and n rows. */
struct square {
	struct buffer x, w, bias, y;
	size_t n;
};

/* Numbers as weights are; zeros would let a GPU run cooler, and faster, than it can. */
static struct buffer random_array(struct ops *ops, size_t n)
{
	struct buffer b = buffer_new(ops, n * sizeof(float), "a product's operand");
	struct philox r = philox_start(1, STREAM_SYNTHETIC, 0);
	float *values = mem_calloc(n, sizeof(*values));
	struct err failed = {0};

	for (size_t i = 0; i < n; i++)
		values[i] = (float)philox_uniform(&r) - 0.5f;
	ops_upload(ops, b.at, values, b.bytes);
	if (ops_sync(ops, &failed) != 0) /* sticks */
		ops_fail(ops, &failed);
	free(values);
	return b;
}

static void multiply(struct ops *ops, const struct square *s)
{
	struct op_linear p = {.rows = s->n,
	                      .in = s->n,
	                      .out = s->n,
	                      .x = s->x.at,
	                      .w = s->w.at,
	                      .bias = s->bias.at,
	                      .y = s->y.at};

	ops->table->linear_forward(ops, &p);
}

/* The middle round's operations per second. */
static int time_square(struct ops *ops, const struct square *s, double *ret, struct err *err)
{
	double seconds[ROUNDS];

	for (size_t r = 0; r <= ROUNDS; r++) { /* one before those that count */
		double start = clock_seconds();

		for (size_t i = 0; i < IN_A_ROUND; i++)
			multiply(ops, s);
		if (ops_sync(ops, err) != 0)
			return -1;
		if (r > 0)
			seconds[r - 1] = clock_seconds() - start;
	}
	*ret = 2.0 * (double)s->n * (double)s->n * (double)s->n * IN_A_ROUND /
	       bench_middle(seconds, ROUNDS);
	return 0;
}

/* Turns that take a fiftieth of a second, whatever the device. */
static int time_turns(struct ops *ops, uint32_t *rounds, double *ret, struct err *err)
{
	enum { MOST = 1 << 24, MORE = 4 };

	for (;; *rounds *= MORE) {
		double start = clock_seconds(), flop = ops->device->peak(ops, *rounds), seconds;

		if (ops_sync(ops, err) != 0)
			return -1;
		seconds = clock_seconds() - start;
		*ret = flop / seconds;
		if (seconds > 0.02 || *rounds > MOST / MORE)
			return 0;
	}
}

/* Multiply-adds in registers, the middle of several times. */
static int time_peak(struct ops *ops, double *ret, struct err *err)
{
	double rates[ROUNDS];
	uint32_t rounds = 4;

	if (ops->device->peak == NULL) {
		*ret = bench_peak(ops, BENCH_PEAK_LONG);
		return 0;
	}
	for (size_t r = 0; r < ROUNDS; r++)
		if (time_turns(ops, &rounds, &rates[r], err) != 0)
			return -1;
	*ret = bench_middle(rates, ROUNDS);
	return 0;
}

static int measure(struct ops *ops, size_t n, double *ret, struct err *err)
{
	struct square s = {.n = n};
	int rc;

	s.x = random_array(ops, n * n);
	s.w = random_array(ops, n * n);
	s.bias = random_array(ops, n);
	s.y = buffer_new(ops, n * n * sizeof(float), "a product");
	rc = time_square(ops, &s, ret, err);
	buffer_free(ops, &s.y);
	buffer_free(ops, &s.bias);
	buffer_free(ops, &s.w);
	buffer_free(ops, &s.x);
	return rc;
}

/* Of one clip, with as many points decoded as the paper has. */
static double step_flop(const struct model_config *c)
{
	enum { POINTS = 512 };
	struct batch b = {
		.n = 1, .n_out_image = POINTS, .n_out_audio = POINTS, .decode_label = true};

	return model_cost(c, &b).executed;
}

/* Floating operations per second. */
struct measured {
	double products, peak;
};

static void print_text(const struct bench_products *b, const char *by, const struct measured *m,
                       struct strbuf *sb)
{
	strbuf_addf(sb, "products of %zu x %zu by %zu: %.3f TFLOP/s (%s)\n", b->n, b->n, b->n,
	            m->products / 1e12, by);
	strbuf_addf(sb,
	            "multiply-adds in registers: %.3f TFLOP/s, of which the products are %.0f %%\n",
	            m->peak / 1e12, 100 * m->products / m->peak);
	strbuf_addf(sb, "a step of one clip: %.3f TFLOP\n", step_flop(b->config) / 1e12);
}

static void print_json(const struct bench_products *b, const char *by, const struct measured *m,
                       struct strbuf *sb)
{
	struct jsonw w;

	jsonw_init(&w, sb, true);
	jsonw_begin_object(&w);
	jsonw_key(&w, "products");
	jsonw_string(&w, by);
	jsonw_key(&w, "n");
	jsonw_int(&w, (int64_t)b->n);
	jsonw_key(&w, "tflops");
	jsonw_double(&w, m->products / 1e12);
	jsonw_key(&w, "register_tflops");
	jsonw_double(&w, m->peak / 1e12);
	jsonw_key(&w, "clip_tflop");
	jsonw_double(&w, step_flop(b->config) / 1e12);
	jsonw_end_object(&w);
}

int bench_products(const struct bench_products *b, struct ops *ops, struct strbuf *sb,
                   struct err *err)
{
	AUTO(strbuf) struct strbuf by = STRBUF_INIT(4096);
	struct measured m;

	if (measure(ops, b->n, &m.products, err) != 0 || time_peak(ops, &m.peak, err) != 0)
		return -1;
	ops_products(ops, &by);
	if (by.len == 0)
		strbuf_adds(&by, "own kernels");
	if (b->json)
		print_json(b, strbuf_str(&by), &m, sb);
	else
		print_text(b, strbuf_str(&by), &m, sb);
	return 0;
}
