/* Each op: the reference against finite differences, the fast one against the reference. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/harness.h"
#include "trainer/ops/gemm.h"
#include "trainer/ops/kernels.h"
#include "trainer/ops/ops.h"
#include "trainer/ops/philox.h"

/* All that there are; what this machine does not have is passed over. */
static const char *const sets[] = {"avx512_bf16", "avx512", "avx2", "neon_bf16", "neon", "generic"};

static float *random_values(uint64_t seed, size_t n)
{
	struct philox r = philox_start(seed, STREAM_SYNTHETIC, n);
	float *x = mem_calloc(n, sizeof(x[0]));

	for (size_t i = 0; i < n; i++)
		x[i] = (float)philox_normal(&r);
	return x;
}

/*
 * One op as a test sees it: inputs of which each has a derivative, an output, and how to run it.
 * The scalar is sum(weight * output).
 */
enum { INPUTS_MAX = 12 };
struct probe_op {
	const char *name;
	size_t n_inputs, n[INPUTS_MAX], n_out;
	float *in[INPUTS_MAX], *d[INPUTS_MAX], *out, *weight;
	void (*run)(struct ops *ops, struct probe_op *p, bool backward);
	void *op;
};

static void probe_start(struct probe_op *p)
{
	for (size_t i = 0; i < p->n_inputs; i++) {
		p->in[i] = random_values(10 + i, p->n[i]);
		p->d[i] = mem_calloc(p->n[i], sizeof(float));
	}
	p->out = mem_calloc(p->n_out, sizeof(float));
	p->weight = random_values(99, p->n_out);
}

static void probe_end(struct probe_op *p)
{
	for (size_t i = 0; i < p->n_inputs; i++) {
		free(p->in[i]);
		free(p->d[i]);
	}
	free(p->out);
	free(p->weight);
}

static double scalar(struct ops *ops, struct probe_op *p)
{
	double sum = 0;

	p->run(ops, p, false);
	for (size_t i = 0; i < p->n_out; i++)
		sum += (double)p->weight[i] * p->out[i];
	return sum;
}

/* Central differences at up to 40 places of every input. */
static void check_differences(struct ops *ops, struct probe_op *p)
{
	for (size_t i = 0; i < p->n_inputs; i++)
		memset(p->d[i], 0, p->n[i] * sizeof(float));
	p->run(ops, p, false);
	p->run(ops, p, true);
	for (size_t i = 0; i < p->n_inputs; i++) {
		for (size_t k = 0; k < p->n[i]; k += p->n[i] / 40 + 1) {
			float *x = &p->in[i][k], was = *x;
			double up, down, step, got = p->d[i][k], want;

			*x = was + 4e-3f;
			step = *x;
			up = scalar(ops, p);
			*x = was - 4e-3f;
			step -= *x;
			down = scalar(ops, p);
			*x = was;
			want = (up - down) / step;
			if (!(fabs(got - want) <= 3e-3 + 3e-3 * fabs(want))) {
				printf("# %s: input %zu[%zu]: %g, difference %g\n", p->name, i, k,
				       got, want);
				CHECK(false);
				return;
			}
		}
	}
}

static void check_fast(struct probe_op *p)
{
	struct ops reference, fast;
	float *want[INPUTS_MAX], *out = mem_calloc(p->n_out, sizeof(float));

	CHECK(ops_open(&(struct ops_options){.reference = true}, &reference));
	for (size_t i = 0; i < p->n_inputs; i++)
		memset(p->d[i], 0, p->n[i] * sizeof(float));
	p->run(&reference, p, false);
	memcpy(out, p->out, p->n_out * sizeof(float));
	p->run(&reference, p, true);
	for (size_t i = 0; i < p->n_inputs; i++) {
		want[i] = mem_calloc(p->n[i], sizeof(float));
		memcpy(want[i], p->d[i], p->n[i] * sizeof(float));
	}
	for (size_t s = 0; s < ARRAY_LEN(sets); s++) {
		if (!ops_open(&(struct ops_options){.isa = sets[s], .n_threads = 2}, &fast))
			continue;
		for (size_t i = 0; i < p->n_inputs; i++)
			memset(p->d[i], 0, p->n[i] * sizeof(float));
		p->run(&fast, p, false);
		for (size_t k = 0; k < p->n_out; k++)
			CHECK(fabsf(p->out[k] - out[k]) <= 2e-5f + 2e-5f * fabsf(out[k]));
		p->run(&fast, p, true);
		for (size_t i = 0; i < p->n_inputs; i++)
			for (size_t k = 0; k < p->n[i]; k++)
				CHECK(fabsf(p->d[i][k] - want[i][k]) <=
				      2e-4f + 2e-4f * fabsf(want[i][k]));
		ops_done(&fast);
	}
	for (size_t i = 0; i < p->n_inputs; i++)
		free(want[i]);
	free(out);
	ops_done(&reference);
}

/* |got - want| / |want|, as vectors */
static double distance(const float *got, const float *want, size_t n)
{
	double difference = 0, size = 1e-30;

	for (size_t i = 0; i < n; i++) {
		difference += ((double)got[i] - want[i]) * ((double)got[i] - want[i]);
		size += (double)want[i] * want[i];
	}
	return sqrt(difference / size);
}

/* The op in bf16 is near itself in float32, but not the same. */
static void check_bf16(struct probe_op *p)
{
	for (size_t s = 0; s < ARRAY_LEN(sets); s++) {
		struct ops ops[2];
		float *out = mem_calloc(p->n_out, sizeof(float)), *want[INPUTS_MAX];

		if (!ops_open(&(struct ops_options){.isa = sets[s], .n_threads = 2}, &ops[0])) {
			free(out);
			continue;
		}
		CHECK(ops_open(&(struct ops_options){.isa = sets[s],
		                                     .n_threads = 2,
		                                     .precision = PRECISION_BF16},
		               &ops[1]));
		for (size_t i = 0; i < p->n_inputs; i++)
			memset(p->d[i], 0, p->n[i] * sizeof(float));
		p->run(&ops[0], p, false);
		memcpy(out, p->out, p->n_out * sizeof(float));
		p->run(&ops[0], p, true);
		for (size_t i = 0; i < p->n_inputs; i++) {
			want[i] = mem_calloc(p->n[i], sizeof(float));
			memcpy(want[i], p->d[i], p->n[i] * sizeof(float));
			memset(p->d[i], 0, p->n[i] * sizeof(float));
		}
		p->run(&ops[1], p, false);
		CHECK(distance(p->out, out, p->n_out) < 0.02);
		CHECK(distance(p->out, out, p->n_out) > 0);
		p->run(&ops[1], p, true);
		for (size_t i = 0; i < p->n_inputs; i++) {
			CHECK(distance(p->d[i], want[i], p->n[i]) < 0.05);
			free(want[i]);
		}
		free(out);
		ops_done(&ops[0]);
		ops_done(&ops[1]);
	}
}

static void check_op(struct probe_op *p, bool products)
{
	struct ops reference;

	CHECK(ops_open(&(struct ops_options){.reference = true}, &reference));
	probe_start(p);
	check_differences(&reference, p);
	check_fast(p);
	if (products)
		check_bf16(p);
	probe_end(p);
	ops_done(&reference);
}

static void run_linear(struct ops *ops, struct probe_op *p, bool backward)
{
	struct op_linear *op = p->op;

	op->x = p->in[0];
	op->w = p->in[1];
	op->bias = p->in[2];
	op->y = p->out;
	op->dy = p->weight;
	op->dx = p->d[0];
	op->dw = p->d[1];
	op->dbias = p->d[2];
	if (backward)
		ops->table->linear_backward(ops, op);
	else
		ops->table->linear_forward(ops, op);
}

static void linear_op(void)
{
	static const size_t shapes[][3] = {{5, 7, 3}, {61, 33, 47}, {1, 4, 5}, {57, 64, 32}};

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		size_t rows = shapes[i][0], in = shapes[i][1], out = shapes[i][2];
		struct op_linear op = {.rows = rows, .in = in, .out = out};
		struct probe_op p = {.name = "linear",
		                     .n_inputs = 3,
		                     .n = {rows * in, out * in, out},
		                     .n_out = rows * out,
		                     .run = run_linear,
		                     .op = &op};

		check_op(&p, true);
	}
}

static void run_norm(struct ops *ops, struct probe_op *p, bool backward)
{
	struct op_norm *op = p->op;

	op->x = p->in[0];
	op->gain = p->in[1];
	op->shift = p->in[2];
	op->y = p->out;
	op->dy = p->weight;
	op->dx = p->d[0];
	op->dgain = p->d[1];
	op->dshift = p->d[2];
	if (backward)
		ops->table->norm_backward(ops, op);
	else
		ops->table->norm_forward(ops, op);
}

static void norm_op(void)
{
	static const size_t shapes[][2] = {{3, 5}, {40, 130}, {7, 64}};

	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		size_t rows = shapes[i][0], width = shapes[i][1];
		float mean[64], rstd[64];
		struct op_norm op = {.rows = rows, .width = width, .mean = mean, .rstd = rstd};
		struct probe_op p = {.name = "norm",
		                     .n_inputs = 3,
		                     .n = {rows * width, width, width},
		                     .n_out = rows * width,
		                     .run = run_norm,
		                     .op = &op};

		check_op(&p, false);
	}
}

static void run_gelu(struct ops *ops, struct probe_op *p, bool backward)
{
	struct op_gelu *op = p->op;

	op->x = p->in[0];
	op->y = p->out;
	op->dy = p->weight;
	op->dx = p->d[0];
	if (backward)
		ops->table->gelu_backward(ops, op);
	else
		ops->table->gelu_forward(ops, op);
}

static void gelu_op(void)
{
	for (int form = 0; form < 2; form++) {
		struct op_gelu op = {.n = 203, .form = (enum gelu_form)form};
		struct probe_op p = {.name = "gelu",
		                     .n_inputs = 1,
		                     .n = {203},
		                     .n_out = 203,
		                     .run = run_gelu,
		                     .op = &op};

		check_op(&p, false);
	}
}

/* Far from zero the exponential must neither overflow nor lose the sign. */
static void gelu_tails(void)
{
	static const float x[] = {-1e30f, -100, -20, -6, 0, 6, 20, 100, 1e30f};
	float y[9], dx[9], dy[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};

	for (int form = 0; form < 2; form++) {
		kernels_find(NULL)->gelu(x, y, 9, (enum gelu_form)form);
		kernels_find(NULL)->gelu_dx(x, dy, dx, 9, (enum gelu_form)form);
		for (int i = 0; i < 9; i++) {
			if (form == 1 && fabsf(x[i]) > 1e20f)
				continue; /* x^3 is not a float */
			CHECK(fabsf(y[i] - (x[i] > 0 ? x[i] : 0)) <= 1e-6f * fabsf(x[i]) + 1e-8f);
			CHECK(x[i] == 0 || fabsf(dx[i] - (x[i] > 0 ? 1 : 0)) < 1e-5f);
		}
	}
}

static void run_attention(struct ops *ops, struct probe_op *p, bool backward)
{
	struct op_attention *op = p->op;

	op->q = p->in[0];
	op->k = p->in[1];
	op->values = p->in[2];
	op->o = p->out;
	op->d_o = p->weight;
	op->dq = p->d[0];
	op->dk = p->d[1];
	op->dvalues = p->d[2];
	if (backward)
		ops->table->attention_backward(ops, op);
	else
		ops->table->attention_forward(ops, op);
}

static void attention_op(void)
{
	static const struct {
		size_t batch, heads, nq, nk, qk, v;
		bool shared;
		double dropout;
	} rows[] = {{1, 1, 3, 4, 2, 3, false, 0},
	            {2, 3, 5, 9, 4, 2, false, 0},
	            {2, 2, 60, 70, 8, 5, true, 0},
	            {2, 2, 7, 37, 4, 4, false, 0.3},
	            {1, 1, 58, 33, 16, 32, true, 0.5}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t heads = rows[i].heads, q = rows[i].shared ? 1 : rows[i].batch;
		float *lse = mem_calloc(rows[i].batch * heads * rows[i].nq, sizeof(float));
		struct op_attention op = {.batch = rows[i].batch,
		                          .heads = heads,
		                          .nq = rows[i].nq,
		                          .nk = rows[i].nk,
		                          .qk = rows[i].qk,
		                          .v = rows[i].v,
		                          .q_shared = rows[i].shared,
		                          .lse = lse,
		                          .dropout = {rows[i].dropout, 7, 3, NULL}};
		struct probe_op p = {.name = "attention",
		                     .n_inputs = 3,
		                     .n = {q * op.nq * heads * op.qk,
		                           op.batch * op.nk * heads * op.qk,
		                           op.batch * op.nk * heads * op.v},
		                     .n_out = op.batch * op.nq * heads * op.v,
		                     .run = run_attention,
		                     .op = &op};

		check_op(&p, true);
		free(lse);
	}
}

/* ---- cross attention ---------------------------------------------------------------------------
 */

struct cross_case {
	size_t batch, nq, qk, v;
	double dropout;
	const float *masks[3];
	struct op_cross op;
	float *data[3], *positions[4];
};

enum { AUDIO_N = 37, GRID_T = 2, GRID_Y = 3, GRID_X = 5, IMAGE_N = 30, LABELS = 6, CHANNELS = 24 };

/* Inputs: q, gain, shift, wk, wv, bv, pads and masks of the three groups; bk's derivative is 0. */
static void run_cross(struct ops *ops, struct probe_op *p, bool backward)
{
	struct cross_case *c = p->op;
	struct op_cross *op = &c->op;
	float zero[64] = {0}, dbk[64] = {0};

	op->q = p->in[0];
	op->gain = p->in[1];
	op->shift = p->in[2];
	op->wk = p->in[3];
	op->wv = p->in[4];
	op->bv = p->in[5];
	op->bk = zero;
	op->context = p->out;
	op->dcontext = p->weight;
	op->dq = p->d[0];
	op->dgain = p->d[1];
	op->dshift = p->d[2];
	op->dwk = p->d[3];
	op->dwv = p->d[4];
	op->dbv = p->d[5];
	op->dbk = dbk;
	for (size_t g = 0; g < 3; g++) {
		op->groups[g].pad = p->in[6 + g];
		op->groups[g].dpad = p->d[6 + g];
		op->groups[g].mask_token = p->in[9 + g];
		op->groups[g].dmask_token = p->d[9 + g];
	}
	if (!backward) {
		/* a state belongs to its ops */
		op->state = ops->table->cross_state_new(ops, op);
		ops->table->cross_forward(ops, op);
		ops->table->cross_state_free(ops, op->state);
		return;
	}
	op->state = ops->table->cross_state_new(ops, op);
	ops->table->cross_forward(ops, op);
	ops->table->cross_backward(ops, op);
	ops->table->cross_state_free(ops, op->state);
	for (size_t i = 0; i < c->qk; i++)
		CHECK(fabsf(dbk[i]) < 1e-3f);
}

static void describe(struct cross_case *c)
{
	size_t n[3] = {AUDIO_N, IMAGE_N, 1}, data[3] = {4, 6, LABELS}, bands[3] = {3, 2, 0};
	size_t pos[3] = {7, 15, 0}, dims[4] = {AUDIO_N, GRID_T, GRID_Y, GRID_X};

	c->op = (struct op_cross){.batch = c->batch,
	                          .heads = 1,
	                          .nq = c->nq,
	                          .qk = c->qk,
	                          .v = c->v,
	                          .channels = CHANNELS,
	                          .dropout = {c->dropout, 5, 0, NULL}};
	for (size_t i = 0; i < 4; i++)
		c->positions[i] = random_values(50 + i, dims[i] * (i == 0 ? 7 : 5));
	for (size_t g = 0; g < 3; g++) {
		c->data[g] = random_values(60 + g, c->batch * n[g] * data[g]);
		c->op.groups[g] = (struct op_tokens){.n = n[g],
		                                     .n_data = data[g],
		                                     .n_pad = CHANNELS - data[g] - pos[g],
		                                     .bands = bands[g],
		                                     .data = c->data[g],
		                                     .mask = c->masks[g]};
	}
	c->op.groups[0].ndim = 1;
	c->op.groups[0].dim[0] = AUDIO_N;
	c->op.groups[0].position[0] = c->positions[0];
	c->op.groups[1].ndim = 3;
	for (size_t i = 0; i < 3; i++) {
		c->op.groups[1].dim[i] = dims[i + 1];
		c->op.groups[1].position[i] = c->positions[i + 1];
	}
}

static void check_cross(struct cross_case *c)
{
	struct probe_op p = {.name = "cross", .n_inputs = 12, .run = run_cross, .op = c};

	describe(c);
	p.n[0] = c->nq * c->qk;
	p.n[1] = p.n[2] = CHANNELS;
	p.n[3] = c->qk * CHANNELS;
	p.n[4] = c->v * CHANNELS;
	p.n[5] = c->v;
	for (size_t g = 0; g < 3; g++) {
		p.n[6 + g] = c->op.groups[g].n_pad;
		p.n[9 + g] = CHANNELS;
	}
	p.n_out = c->batch * c->nq * c->v;
	check_op(&p, true);
	for (size_t i = 0; i < 4; i++)
		free(c->positions[i]);
	for (size_t g = 0; g < 3; g++)
		free(c->data[g]);
}

static void cross_op(void)
{
	static float audio[2 * AUDIO_N], image[2 * IMAGE_N], label[2] = {1, 0}, all[2] = {1, 1};
	struct cross_case plain = {.batch = 1, .nq = 3, .qk = 5, .v = 4};
	struct cross_case hidden = {
		.batch = 2, .nq = 35, .qk = 6, .v = 7, .masks = {audio, image, label}};
	struct cross_case dropped = {
		.batch = 2, .nq = 5, .qk = 6, .v = 7, .dropout = 0.4, .masks = {audio, image, all}};

	for (size_t i = 0; i < ARRAY_LEN(audio); i += 3)
		audio[i] = 1;
	for (size_t i = 0; i < ARRAY_LEN(image); i += 4)
		image[i] = 1;
	check_cross(&plain);
	check_cross(&hidden);
	check_cross(&dropped);
}

/* Scores of very different sizes: the running maximum must follow, without overflow. */
static void cross_large_scores(void)
{
	struct cross_case c = {.batch = 1, .nq = 20, .qk = 8, .v = 3};
	struct ops fast, reference;
	struct probe_op p = {.name = "cross", .n_inputs = 12, .run = run_cross, .op = &c};
	float want[60];

	describe(&c);
	for (size_t i = 0; i < 12; i++)
		p.n[i] = 1024;
	p.n_out = 60;
	probe_start(&p);
	for (size_t i = 0; i < 1024; i++)
		p.in[0][i] *= 100;
	CHECK(ops_open(&(struct ops_options){.reference = true}, &reference));
	CHECK(ops_open(&(struct ops_options){.n_threads = 1}, &fast));
	run_cross(&reference, &p, false);
	memcpy(want, p.out, sizeof(want));
	run_cross(&fast, &p, false);
	for (size_t i = 0; i < 60; i++)
		CHECK(fabsf(p.out[i] - want[i]) < 2e-3f * (1 + fabsf(want[i])));
	probe_end(&p);
	for (size_t i = 0; i < 4; i++)
		free(c.positions[i]);
	for (size_t g = 0; g < 3; g++)
		free(c.data[g]);
	ops_done(&fast);
	ops_done(&reference);
}

/* ---- smaller things ----------------------------------------------------------------------------
 */

/* A float's nearest bf16, ties to even. */
static float rounded(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* c += a b, a or b or both transposed, against sums in double of the operands as rounded. */
static void check_gemm(struct ops *ops, size_t m, size_t n, size_t k, unsigned turned)
{
	float *a = random_values(1, m * k), *b = random_values(2, k * n);
	float *c = random_values(3, m * n), *was = random_values(3, m * n);
	bool bf16 = ops_rounds(ops) == PRECISION_BF16;
	struct gemm g = {
		.m = m, .n = n, .k = k, .a = a, .b = b, .c = c, .c_row = n, .accumulate = true};

	g.a_row = turned & 1 ? 1 : k;
	g.a_col = turned & 1 ? m : 1;
	g.b_row = turned & 2 ? 1 : n;
	g.b_col = turned & 2 ? k : 1;
	gemm(cpu_of(ops), &g);
	for (size_t at = 0; at < m * n; at++) {
		double sum = was[at];

		for (size_t x = 0; x < k; x++) {
			float left = a[at / n * g.a_row + x * g.a_col];
			float right = b[x * g.b_row + at % n * g.b_col];

			sum += bf16 ? (double)rounded(left) * rounded(right) : (double)left * right;
		}
		CHECK(fabs(sum - c[at]) < 1e-5 * sqrt((double)k));
	}
	free(a);
	free(b);
	free(c);
	free(was);
}

static void gemm_deep_and_ragged(void)
{
	static const size_t shapes[][3] = {{1, 1, 1},       {15, 33, 1030}, {57, 31, 17},
	                                   {113, 70, 2051}, {56, 64, 64},   {2, 3, 2179},
	                                   {503, 33, 9}};

	for (size_t s = 0; s < 2 * ARRAY_LEN(sets); s++) {
		struct ops ops;
		struct ops_options o = {.n_threads = 2,
		                        .isa = sets[s / 2],
		                        .precision = s % 2 == 1 ? PRECISION_BF16 : PRECISION_F32};

		if (!ops_open(&o, &ops))
			continue;
		for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
			for (unsigned turned = 0; turned < 4; turned++)
				check_gemm(&ops, shapes[i][0], shapes[i][1], shapes[i][2], turned);
		ops_done(&ops);
	}
}

enum { SHARE_ROWS = 500, SHARE_COLUMNS = 70, SHARE_DEPTH = 40, BESIDE = 5 };

static void count_beside(void *ctx, size_t i, unsigned worker)
{
	unsigned *ran = ctx;

	(void)worker;
	ran[i]++;
}

static void multiply_shared(unsigned threads, float *c)
{
	float *a = random_values(1, SHARE_ROWS * SHARE_DEPTH);
	float *b = random_values(2, SHARE_DEPTH * SHARE_COLUMNS);
	unsigned ran[BESIDE] = {0};
	struct ops ops;
	struct gemm g = {.m = SHARE_ROWS,
	                 .n = SHARE_COLUMNS,
	                 .k = SHARE_DEPTH,
	                 .a = a,
	                 .a_row = SHARE_DEPTH,
	                 .a_col = 1,
	                 .b = b,
	                 .b_row = SHARE_COLUMNS,
	                 .b_col = 1,
	                 .c = c,
	                 .c_row = SHARE_COLUMNS,
	                 .beside = count_beside,
	                 .beside_ctx = ran,
	                 .beside_n = BESIDE};

	CHECK(ops_open(&(struct ops_options){.n_threads = threads}, &ops));
	gemm(cpu_of(&ops), &g);
	for (size_t i = 0; i < BESIDE; i++)
		CHECK_INT(ran[i], 1);
	ops_done(&ops);
	free(a);
	free(b);
}

static void gemm_shared(void)
{
	static float alone[SHARE_ROWS * SHARE_COLUMNS], shared[SHARE_ROWS * SHARE_COLUMNS];

	multiply_shared(1, alone);
	for (unsigned threads = 2; threads <= 5; threads++) {
		multiply_shared(threads, shared);
		CHECK(memcmp(alone, shared, sizeof(alone)) == 0);
	}
}

/* The i-th of the values in places: the halves of a place, or the upper half of it. */
static uint32_t bf16_at(const struct product_kernels *products, const float *places, size_t i)
{
	uint32_t bits;

	memcpy(&bits, places + i / products->per, sizeof(bits));
	if (products->per == 2)
		return i % 2 == 0 ? bits & 0xffff : bits >> 16;
	CHECK_INT(bits & 0xffff, 0);
	return bits >> 16;
}

/* To nearest, ties to even; infinity stays, and NaN does not become infinite or 0. */
static void bf16_rounding(void)
{
	static const struct {
		uint32_t from, to;
	} rows[] = {{0x3f800000, 0x3f80}, {0x3f808000, 0x3f80}, {0x3f808001, 0x3f81},
	            {0x3f818000, 0x3f82}, {0x3f817fff, 0x3f81}, {0xbf818000, 0xbf82},
	            {0x7f7fffff, 0x7f80}, {0x7f800000, 0x7f80}, {0xff800000, 0xff80},
	            {0x80000000, 0x8000}, {0x7f800001, 0x7fc0}, {0x7fffffff, 0x7fff},
	            {0xffffffff, 0xffff}};

	for (size_t s = 0; s < ARRAY_LEN(sets); s++) {
		const struct kernels *k = kernels_find(sets[s]);
		float in[64] = {0}, out[64] = {0};
		size_t places;

		if (k == NULL)
			continue;
		places = (63 + k->bf16.per - 1) / k->bf16.per;
		for (size_t i = 0; i < 64; i++)
			memcpy(&in[i], &rows[i % ARRAY_LEN(rows)].from, sizeof(in[i]));
		k->bf16.pack_row(63, in, out);
		for (size_t i = 0; i < 63; i++)
			CHECK_INT(bf16_at(&k->bf16, out, i), rows[i % ARRAY_LEN(rows)].to);
		CHECK_INT(bf16_at(&k->bf16, out, 63), 0);
		k->bf16.pack_row(63, in, in); /* in place */
		CHECK(memcmp(in, out, places * sizeof(float)) == 0);
	}
}

/* A piece is its rows by depth, rounded where the precision rounds, and little is written beyond. */
static void pieces(void)
{
	enum { DEEP = 21, ROW = 24, MOST = KERNEL_MR_MAX, BEYOND = 16 };
	static float rows[MOST * ROW], rounded[MOST * ROW], out[MOST * DEEP + BEYOND + 1];

	for (size_t i = 0; i < MOST * ROW; i++)
		rows[i] = 1 + (float)i / 1024 + (float)(i % 3) / 65536;
	for (size_t s = 0; s < ARRAY_LEN(sets); s++) {
		const struct kernels *k = kernels_find(sets[s]);

		for (size_t n = 1; k != NULL && k->f32.pack_piece != NULL && n <= k->mr; n++) {
			out[DEEP * n + BEYOND] = -1;
			k->f32.pack_piece(DEEP, n, rows, ROW, out);
			for (size_t i = 0; i < DEEP * n; i++)
				CHECK(out[i] == rows[i % n * ROW + i / n]);
			for (size_t r = 0; r < n; r++)
				k->bf16.pack_row(DEEP, rows + r * ROW, rounded + r * ROW);
			k->bf16.pack_piece(DEEP, n, rows, ROW, out);
			for (size_t i = 0; i < DEEP * n; i++)
				CHECK(out[i] == rounded[i % n * ROW + i / n]);
			CHECK(out[DEEP * n + BEYOND] == -1);
		}
	}
}

/* Vectors published with the generator (Random123's kat_vectors, philox4x32 10). */
static void philox_known_answers(void)
{
	static const struct {
		uint32_t counter[4], key[2], want[4];
	} rows[] = {
		{{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
	         {0xffffffff, 0xffffffff},
	         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
	         {0xa4093822, 0x299f31d0},
	         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint32_t out[4];

		philox_block(rows[i].key, rows[i].counter, out);
		CHECK(memcmp(out, rows[i].want, sizeof(out)) == 0);
	}
}

static void dropout_is_the_same_everywhere(void)
{
	struct op_dropout d = {.p = 0.3, .seed = 0x123456789abcdef, .layer = 2};

	for (size_t s = 0; s < ARRAY_LEN(sets); s++) {
		const struct kernels *k = kernels_find(sets[s]);
		float row[101], tile[7 * KERNEL_NR_MAX];

		if (k == NULL)
			continue;
		k->dropout(&d, 0, 4 * 26, 101, row);
		for (size_t i = 0; i < 101; i++)
			CHECK(row[i] == op_dropout_factor(&d, 0, 4, 101, i));
		k->cross_keep(&d, 0, 9, 26, 5, 7, tile);
		for (size_t j = 0; j < 7; j++)
			for (size_t i = 0; i < k->nr; i++)
				CHECK(tile[j * k->nr + i] ==
				      op_dropout_factor(&d, 0, 9 + i, 101, 5 + j));
	}
}

static void dropout_keeps_its_share(void)
{
	struct op_dropout d = {.p = 0.1, .seed = 1, .layer = 1};
	double sum = 0;

	for (size_t i = 0; i < 20000; i++)
		sum += op_dropout_factor(&d, 0, 0, 20000, i);
	CHECK(fabs(sum / 20000 - 1) < 0.01);
}

int main(void)
{
	TEST("ops: linear: differences, and every instruction set", linear_op);
	TEST("ops: norm: differences, and every instruction set", norm_op);
	TEST("ops: gelu: differences, and every instruction set", gelu_op);
	TEST("ops: gelu far from zero is 0 or x", gelu_tails);
	TEST("ops: attention: differences, and every instruction set", attention_op);
	TEST("ops: cross attention: differences, and every instruction set", cross_op);
	TEST("ops: cross attention with large scores", cross_large_scores);
	TEST("ops: products of ragged and deep matrices, all transpositions", gemm_deep_and_ragged);
	TEST("ops: a product has the same bits on any number of threads, its side tasks run once",
	     gemm_shared);
	TEST("ops: rounding to bf16, and what is not finite", bf16_rounding);
	TEST("ops: a piece is its rows by depth, in every precision", pieces);
	TEST("philox: the published vectors", philox_known_answers);
	TEST("ops: dropout masks are the same on every path", dropout_is_the_same_everywhere);
	TEST("ops: dropout keeps the mean", dropout_keeps_its_share);
	return test_done();
}
