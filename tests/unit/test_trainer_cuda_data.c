/*
 * Kernels between clips, losses and weights, each beside what its struct says (args.h), written
 * down plainly; on every engine, in several orders of threads.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "tests/cuda/compare.h"
#include "tests/harness.h"
#include "trainer/ops/ops.h"

#define CHECK_SAME(c)                                                                              \
	do {                                                                                       \
		const char *why = compare(c);                                                      \
                                                                                                   \
		if (why != NULL)                                                                   \
			test_fail(__FILE__, __LINE__, why);                                        \
	} while (0)

/* A kernel's struct with how many blocks it is launched on; a second kernel that ends its sums. */
struct one_launch {
	enum cuda_kernel kernel;
	unsigned grid[3];
	void *params;
	const struct add_doubles_launch *end;
	void (*reference)(void *params);
};

static void by_launch(struct cuda_queue *q, void *op)
{
	const struct one_launch *l = op;

	q->launch(q, l->kernel, l->grid, l->params);
	if (l->end != NULL)
		q->launch(q, KERNEL_add_doubles, (const unsigned[3]){1, 1, 1}, l->end);
}

static void by_reference(void *op)
{
	const struct one_launch *l = op;

	l->reference(l->params);
}

static struct compared compared(struct one_launch *l, double tolerance)
{
	return (struct compared){.name = cuda_kernels[l->kernel].name,
	                         .op = l,
	                         .reference = by_reference,
	                         .device = by_launch,
	                         .tolerance = tolerance};
}

/* ---- the optimizer ---- */

static const struct update_terms rates = {
	.lr = 0.02f, .correct1 = 10, .correct2 = 1000, .average = 0.3f, .scale = 0.5f, .goes = 1};
static const struct update_terms stays = {.average = 0.3f, .scale = 0.5f};

static void sgd_reference(void *params)
{
	const struct sgd_launch *u = params;

	for (size_t k = 0; k < u->n; k++) {
		u->m[k] = u->momentum * u->m[k] + (u->terms->scale * u->g[k] + u->decay * u->p[k]);
		u->p[k] -= u->terms->lr * u->m[k];
	}
}

static void adamw_reference(void *params)
{
	const struct adamw_launch *u = params;
	const struct update_terms *t = u->terms;

	for (size_t k = 0; k < u->n; k++) {
		double grad = t->scale * u->g[k];

		u->m[k] = (float)(u->beta1 * u->m[k] + (1 - u->beta1) * grad);
		u->v[k] = (float)(u->beta2 * u->v[k] + (1 - u->beta2) * grad * grad);
		u->p[k] = (float)(u->p[k] * (1 - t->lr * u->decay) -
		                  t->lr * (u->m[k] * t->correct1) /
		                          (sqrt(u->v[k] * t->correct2) + u->eps));
	}
}

static void updates_are_the_cpus(void)
{
	for (size_t n = 1; n < 3000; n += 1111) {
		struct sgd_launch s = {.terms = &rates, .n = n, .decay = 0.01f, .momentum = 0.9f};
		struct adamw_launch a = {.terms = &rates,
		                         .n = n,
		                         .decay = 0.1f,
		                         .beta1 = 0.9f,
		                         .beta2 = 0.999f,
		                         .eps = 1e-8f};
		struct one_launch sgd = {
			KERNEL_sgd, {cuda_each_blocks(n), 1, 1}, &s, NULL, sgd_reference};
		struct one_launch adamw = {KERNEL_adamw, {2, 1, 1}, &a, NULL, adamw_reference};
		struct compared c = compared(&sgd, 1e-6);

		s.g = compared_input(&c, n);
		s.p = compared_result(&c, n);
		s.m = compared_result(&c, n);
		CHECK_SAME(&c);
		c = compared(&adamw, 2e-6);
		a.g = compared_input(&c, n);
		a.p = compared_result(&c, n);
		a.m = compared_result(&c, n);
		a.v = compared_result(&c, n);
		for (size_t k = 0; k < n; k++)
			a.v[k] = fabsf(a.v[k]);
		CHECK_SAME(&c);
	}
}

static void nothing(void *params)
{
	(void)params;
}

/* Updates that the device has judged not to be made. */
static void updates_that_do_not_go_change_nothing(void)
{
	enum { N = 600 };
	struct sgd_launch s = {.terms = &stays, .n = N, .momentum = 0.9f};
	struct adamw_launch a = {.terms = &stays, .n = N, .beta1 = 0.9f, .eps = 1e-8f};
	struct average_launch m = {.terms = &stays, .n = N};
	struct one_launch sgd = {KERNEL_sgd, {2, 1, 1}, &s, NULL, nothing};
	struct one_launch adamw = {KERNEL_adamw, {2, 1, 1}, &a, NULL, nothing};
	struct one_launch average = {KERNEL_average, {2, 1, 1}, &m, NULL, nothing};
	struct compared c = compared(&sgd, 0);

	s.g = compared_input(&c, N);
	s.p = compared_result(&c, N);
	s.m = compared_result(&c, N);
	CHECK_SAME(&c);
	c = compared(&adamw, 0);
	a.g = compared_input(&c, N);
	a.p = compared_result(&c, N);
	a.m = compared_result(&c, N);
	a.v = compared_result(&c, N);
	CHECK_SAME(&c);
	c = compared(&average, 0);
	m.b = compared_input(&c, N);
	m.a = compared_result(&c, N);
	CHECK_SAME(&c);
}

/* By the CPU's op, bit by bit: results are looked at as floats. */
static void vote_reference(void *params)
{
	const struct vote_launch *v = params;

	ops_reference.vote(NULL, &(struct op_vote){v->n, v->figures, (void *)v->terms});
}

static void judge_reference(void *params)
{
	const struct judge_launch *j = params;

	ops_reference.judge(NULL,
	                    &(struct op_judge){j->squares, (void *)j->terms, j->norm, j->goes});
}

static void verdicts_are_the_cpus(void)
{
	static const double figures[][2] = {{1, 2}, {NAN, 2}, {1, INFINITY}};
	static const double squares[] = {64, 1e300, NAN, INFINITY, 0, 3};
	enum { FLOATS = sizeof(struct update_terms) / sizeof(float) };
	struct vote_launch v = {.n = 2};
	struct judge_launch j = {0};
	struct one_launch vote = {KERNEL_vote, {1, 1, 1}, &v, NULL, vote_reference};
	struct one_launch judge = {KERNEL_judge, {1, 1, 1}, &j, NULL, judge_reference};

	for (size_t i = 0; i < ARRAY_LEN(squares) * ARRAY_LEN(figures); i++) {
		struct update_terms terms = {.unscale = 1.0 / 3,
		                             .max_norm = i % 2 == 0 ? 0.5 : 0,
		                             .limit = i % 4 == 1 ? 2.0 : INFINITY,
		                             .barred = i == 5};
		struct compared c = compared(&vote, 0);

		v.figures = figures[i % ARRAY_LEN(figures)];
		v.terms = (void *)compared_result(&c, FLOATS);
		memcpy(v.terms, &terms, sizeof(terms));
		CHECK_SAME(&c);
		c = compared(&judge, 0);
		j.squares = &squares[i / ARRAY_LEN(figures)];
		j.terms = (void *)compared_result(&c, FLOATS);
		terms.vote = i % 7 == 6;
		memcpy(j.terms, &terms, sizeof(terms));
		j.norm = (void *)compared_result(&c, 2);
		j.goes = (void *)compared_result(&c, 2);
		CHECK_SAME(&c);
	}
}

static void squares_reference(void *params)
{
	const struct total_launch *t = params;
	double sum = 0;

	for (size_t k = 0; k < t->n; k++)
		sum += (double)t->x[k] * t->x[k];
	/* The sum follows the partial sums, which nobody compares. */
	t->partial[SUM_BLOCKS] = sum;
}

static void bad_reference(void *params)
{
	const struct total_launch *t = params;

	t->partial[SUM_BLOCKS] = 0;
	for (size_t k = 0; k < t->n; k++)
		t->partial[SUM_BLOCKS] += isfinite(t->x[k]) ? 0 : 1;
}

/* Partial sums that the reference does not have are made equal before the comparison. */
static void totals_by_launch(struct cuda_queue *q, void *op)
{
	const struct one_launch *l = op;
	const struct total_launch *t = l->params;

	by_launch(q, op);
	memset(t->partial, 0x5a, SUM_BLOCKS * sizeof(double));
}

static void totals_are_exact(void)
{
	for (size_t i = 0; i < 4; i++) {
		struct total_launch t = {.n = i < 2 ? 100000 : 77};
		struct add_doubles_launch end = {.rows = SUM_BLOCKS, .columns = 1};
		struct one_launch l = {i % 2 ? KERNEL_count_bad : KERNEL_sum_squares,
		                       {SUM_BLOCKS, 1, 1},
		                       &t,
		                       &end,
		                       i % 2 ? bad_reference : squares_reference};
		struct compared c = compared(&l, 1e-13);
		float *x = compared_input(&c, t.n);

		c.device = totals_by_launch;
		t.x = x;
		t.partial = compared_doubles(&c, SUM_BLOCKS + 1);
		end.x = t.partial;
		end.out = t.partial + SUM_BLOCKS;
		if (i % 2) {
			x[5] = NAN;
			x[t.n - 1] = -INFINITY;
		}
		CHECK_SAME(&c);
	}
}

/* ---- values ---- */

static void average_reference(void *params)
{
	const struct average_launch *p = params;

	for (size_t i = 0; i < p->n; i++)
		p->a[i] = fmaf(p->terms->average, p->b[i] - p->a[i], p->a[i]);
}

static void exchange_reference(void *params)
{
	const struct exchange_launch *p = params;

	for (size_t i = 0; i < p->n; i++) {
		float kept = p->a[i];

		p->a[i] = p->b[i];
		p->b[i] = kept;
	}
}

static void repeat_reference(void *params)
{
	const struct repeat_launch *p = params;

	for (size_t i = 0; i < p->n * p->copies; i++)
		p->out[i] = p->x[i % p->n];
}

static void onehot_reference(void *params)
{
	const struct onehot_launch *p = params;

	for (size_t i = 0; i < p->n; i++)
		p->out[i] = i % p->width == (size_t)p->label[i / p->width];
}

static void values_are_moved(void)
{
	static const int32_t labels[] = {2, 0, 6};
	struct average_launch a = {.terms = &rates, .n = 700};
	struct exchange_launch e = {.n = 700};
	struct repeat_launch r = {.n = 700, .copies = 3};
	struct onehot_launch o = {.label = labels, .n = 3 * 7, .width = 7};
	struct one_launch average = {KERNEL_average, {2, 1, 1}, &a, NULL, average_reference};
	struct one_launch exchange = {KERNEL_exchange, {3, 1, 1}, &e, NULL, exchange_reference};
	struct one_launch repeat = {KERNEL_repeat, {1, 1, 1}, &r, NULL, repeat_reference};
	struct one_launch onehot = {KERNEL_onehot, {1, 1, 1}, &o, NULL, onehot_reference};
	struct compared c = compared(&average, 0);

	a.a = compared_result(&c, a.n);
	a.b = compared_input(&c, a.n);
	CHECK_SAME(&c);
	c = compared(&exchange, 0);
	e.a = compared_result(&c, e.n);
	e.b = compared_result(&c, e.n);
	CHECK_SAME(&c);
	c = compared(&repeat, 0);
	r.x = compared_input(&c, r.n);
	r.out = compared_result(&c, r.n * r.copies);
	CHECK_SAME(&c);
	c = compared(&onehot, 0);
	o.out = compared_result(&c, o.n);
	CHECK_SAME(&c);
}

/* ---- losses ---- */

enum { PARTS = 8 };

static void absolute_reference(void *params)
{
	const struct absolute_launch *p = params;
	double sum[3] = {0};

	for (size_t i = 0; i < p->n; i++) {
		size_t row = i / p->channels, clip = row / p->n_points, k = i % p->channels;
		size_t point = (size_t)p->points[row % p->n_points];
		double t = p->target[clip * p->clip_stride +
		                     (point / p->plane * p->channels + k) * p->plane +
		                     point % p->plane];
		double d = (double)p->x[i] - t;

		sum[0] += fabs(d);
		sum[1] += d * d;
		sum[2] += t * t;
		p->d[i] = d > 0 ? p->factor : d < 0 ? -p->factor : 0;
	}
	memcpy(p->partial + PARTS * 3, sum, sizeof(sum));
}

static void losses_by_launch(struct cuda_queue *q, void *op)
{
	const struct one_launch *l = op;

	by_launch(q, op);
	memset((double *)(uintptr_t)l->end->x, 0x5a, PARTS * 3 * sizeof(double));
}

static void absolute_errors_are_the_cpus(void)
{
	static const int32_t points[] = {0, 23, 7, 7, 40, 59};

	for (size_t i = 0; i < 2; i++) {
		struct absolute_launch p = {.points = points,
		                            .n = 2 * 6 * (i ? 5 : 3),
		                            .n_points = 6,
		                            .channels = i ? 5 : 3,
		                            .plane = i ? 1 : 20,
		                            .clip_stride = i ? 300 : 180,
		                            .factor = 0.25f};
		struct add_doubles_launch end = {.rows = 1, .columns = 3};
		struct one_launch l = {
			KERNEL_absolute_loss, {1, 1, 1}, &p, &end, absolute_reference};
		struct compared c = compared(&l, 1e-12);
		float *x = compared_input(&c, p.n);

		c.device = losses_by_launch;
		p.x = x;
		p.target = compared_input(&c, 2 * p.clip_stride);
		x[0] = p.target[0]; /* no difference: no slope */
		p.d = compared_result(&c, p.n);
		p.partial = compared_doubles(&c, PARTS * 3 + 3);
		end.x = p.partial;
		end.out = p.partial + PARTS * 3;
		CHECK_SAME(&c);
	}
}

static void entropy_reference(void *params)
{
	const struct entropy_launch *p = params;
	double sums[3] = {0};

	for (size_t r = 0; r < p->rows; r++) {
		const float *x = p->x + r * p->width;
		size_t label = (size_t)p->label[r], before = 0;
		double sum = 0;

		for (size_t i = 0; i < p->width; i++) {
			sum += exp((double)x[i] - x[label]);
			before += x[i] > x[label] || (i < label && x[i] == x[label]);
		}
		for (size_t i = 0; i < p->width; i++)
			p->d[r * p->width + i] =
				(float)(p->factor *
			                (exp((double)x[i] - x[label]) / sum - (i == label)));
		sums[0] += log(sum);
		sums[1] += before < 1;
		sums[2] += before < 5;
	}
	memcpy(p->partial + PARTS * 3, sums, sizeof(sums));
}

static void entropy_is_the_cpus(void)
{
	static const int32_t labels[] = {0, 39, 12, 5, 3, 1, 20};
	struct entropy_launch p = {.label = labels, .rows = 7, .width = 40, .factor = 0.5f};
	struct add_doubles_launch end = {.rows = 7, .columns = 3};
	struct one_launch l = {KERNEL_entropy, {2, 1, 1}, &p, &end, entropy_reference};
	struct compared c = compared(&l, 2e-6);
	float *x = compared_input(&c, (size_t)p.rows * p.width);

	c.device = losses_by_launch;
	p.x = x;
	x[0] = 9; /* the likeliest */
	for (size_t i = 0; i < p.width; i++)
		x[p.width + i] = 1; /* all alike: the last is the 40th */
	p.d = compared_result(&c, (size_t)p.rows * p.width);
	p.partial = compared_doubles(&c, PARTS * 3 + 3);
	end.x = p.partial;
	end.out = p.partial + PARTS * 3;
	CHECK_SAME(&c);
}

/* ---- a clip's way in ---- */

static void patches_reference(void *params)
{
	const struct patches_launch *p = params;
	float *out = p->patches;
	size_t clips = p->n / p->frames / p->grid_h / p->grid_w / p->patch / p->patch / 3;

	for (size_t f = 0; f < clips * p->frames; f++)
		for (size_t y = 0; y < p->grid_h; y++)
			for (size_t x = 0; x < p->grid_w; x++)
				for (size_t i = 0; i < (size_t)p->patch * p->patch * 3; i++) {
					size_t dy = i / 3 / p->patch, dx = i / 3 % p->patch;
					size_t at = f / p->frames * p->clip_stride +
					            f % p->frames * p->frame_stride +
					            (y * p->patch + dy) * p->row_stride +
					            (x * p->patch + dx) * p->pixel_stride +
					            i % 3 * p->colour_stride;

					*out++ = p->colour_stride == 1
					                 ? (float)((const uint8_t *)p->image)[at] *
					                           (1.0f / 255.0f)
					                 : ((const float *)p->image)[at];
				}
}

static void patches_are_cut(void)
{
	enum { H = 6, W = 8, N = 2 * 2 * 3 * H * W };
	struct patches_launch f = {.n = N,
	                           .clip_stride = 2 * 3 * H * W,
	                           .frame_stride = 3 * H * W,
	                           .row_stride = W,
	                           .pixel_stride = 1,
	                           .colour_stride = H * W,
	                           .frames = 2,
	                           .grid_h = 3,
	                           .grid_w = 4,
	                           .patch = 2};
	struct patches_launch b = f;
	uint8_t bytes[N];
	struct one_launch floats = {
		KERNEL_patches_of_floats, {2, 1, 1}, &f, NULL, patches_reference};
	struct one_launch of_bytes = {
		KERNEL_patches_of_bytes, {1, 1, 1}, &b, NULL, patches_reference};
	struct compared c = compared(&floats, 0);

	f.image = compared_input(&c, N);
	f.patches = compared_result(&c, N);
	CHECK_SAME(&c);
	for (size_t i = 0; i < N; i++)
		bytes[i] = (uint8_t)(i * 37);
	b.image = bytes;
	b.row_stride = 3 * W;
	b.pixel_stride = 3;
	b.colour_stride = 1;
	c = compared(&of_bytes, 0);
	b.patches = compared_result(&c, N);
	CHECK_SAME(&c);
}

/* Tokens of three groups, as op_tokens_form forms them. */
struct formed {
	struct op_cross cross;
	float *out;
	struct tokens_launch launch[OP_TOKEN_GROUPS];
};

static void tokens_reference(void *op)
{
	struct formed *f = op;

	for (size_t b = 0; b < f->cross.batch; b++)
		op_tokens_form(&f->cross, b, f->out + b * f->launch[0].all * f->launch[0].width);
}

static void tokens_by_cuda(struct cuda_queue *q, void *op)
{
	struct formed *f = op;

	for (size_t g = 0; g < OP_TOKEN_GROUPS; g++)
		q->launch(q, KERNEL_tokens,
		          (const unsigned[3]){f->launch[g].n, (unsigned)f->cross.batch, 1},
		          &f->launch[g]);
}

static struct tokens_launch launch_of(const struct op_tokens *g, float *out)
{
	return (struct tokens_launch){
		.data = g->data,
		.mask = g->mask,
		.position = {g->position[0], g->position[1], g->position[2]},
		.pad = g->pad,
		.mask_token = g->mask_token,
		.out = out,
		.n = (uint32_t)g->n,
		.n_data = (uint32_t)g->n_data,
		.n_pad = (uint32_t)g->n_pad,
		.ndim = (uint32_t)g->ndim,
		.bands = (uint32_t)g->bands,
		.dim = {(uint32_t)g->dim[0], (uint32_t)g->dim[1], (uint32_t)g->dim[2]}};
}

static void tokens_are_formed(void)
{
	enum { WIDTH = 24, BATCH = 2, ALL = 5 + 12 + 1 };
	struct formed f = {.cross = {.batch = BATCH, .channels = WIDTH}};
	struct op_tokens shapes[] = {
		{.n = 5, .n_data = 3, .ndim = 1, .dim = {5}, .bands = 4, .n_pad = 12},
		{.n = 12, .n_data = 4, .ndim = 3, .dim = {2, 3, 2}, .bands = 2, .n_pad = 5},
		{.n = 1, .n_data = 20, .n_pad = 4}};
	struct compared c = {.name = "tokens",
	                     .op = &f,
	                     .reference = tokens_reference,
	                     .device = tokens_by_cuda};
	uint32_t first = 0;

	f.out = compared_result(&c, (size_t)BATCH * ALL * WIDTH);
	for (size_t g = 0; g < OP_TOKEN_GROUPS; first += f.launch[g].n, g++) {
		struct op_tokens *t = &f.cross.groups[g];
		float *mask = compared_input(&c, BATCH * shapes[g].n);

		*t = shapes[g];
		t->data = compared_input(&c, BATCH * t->n * t->n_data);
		t->pad = compared_input(&c, t->n_pad);
		t->mask_token = compared_input(&c, WIDTH);
		for (size_t i = 0; i < BATCH * t->n; i++)
			mask[i] = mask[i] > 0;
		t->mask = g == 1 ? NULL : mask;
		for (size_t d = 0; d < 3; d++) /* tables may be one: they are only read */
			t->position[d] = g == 0 && d > 0 ? NULL : f.cross.groups[0].data;
		f.launch[g] = launch_of(t, f.out);
		f.launch[g].width = WIDTH;
		f.launch[g].first = first;
		f.launch[g].all = ALL;
	}
	CHECK_SAME(&c);
}

static void queries_reference(void *params)
{
	const struct queries_launch *p = params;
	size_t columns = 1 + 2 * p->bands, positions = p->ndim * columns;

	for (size_t r = 0; r < 3; r++) {
		float *out = p->out + r * p->width;
		size_t point = p->ndim > 0 ? (size_t)p->points[r] : 0;

		for (size_t d = p->ndim; d-- > 0; point /= p->dim[d]) {
			const float *row = p->position[d] + point % p->dim[d] * columns;

			out[d] = row[0];
			memcpy(out + p->ndim + d * p->bands, row + 1, p->bands * sizeof(float));
			memcpy(out + p->ndim + (p->ndim + d) * p->bands, row + 1 + p->bands,
			       p->bands * sizeof(float));
		}
		memcpy(out + positions, p->fixed, p->n_fixed * sizeof(float));
		memcpy(out + positions + p->n_fixed, p->pad,
		       (p->width - positions - p->n_fixed) * sizeof(float));
	}
}

static void queries_are_built(void)
{
	static const int32_t points[] = {0, 29, 17};

	for (uint32_t i = 0; i < 3; i++) {
		struct queries_launch p = {.points = i == 0 ? NULL : points,
		                           .width = 40,
		                           .n_fixed = i == 0 ? 30 : 2,
		                           .ndim = (const uint32_t[]){0, 1, 3}[i],
		                           .bands = 3,
		                           .dim = {i == 1 ? 30 : 2, 3, 5}};
		struct one_launch l = {KERNEL_queries, {3, 1, 1}, &p, NULL, queries_reference};
		struct compared c = compared(&l, 0);

		for (size_t d = 0; d < 3; d++)
			p.position[d] = compared_input(&c, 30 * 7);
		p.fixed = compared_input(&c, p.n_fixed);
		p.pad = compared_input(&c, 40);
		p.out = compared_result(&c, 3 * 40);
		CHECK_SAME(&c);
	}
}

static void token_sums_reference(void *params)
{
	const struct token_sums_launch *p = params;

	for (size_t column = 0; column < p->columns; column++) {
		double sum = 0;

		for (size_t r = 0; r < (size_t)p->clips * p->n; r++)
			if ((p->mask != NULL && p->mask[r] != 0) == (p->masked != 0))
				sum += p->dx[(r / p->n * p->all + p->first + r % p->n) * p->width +
				             p->from + column];
		p->out[column] += (float)sum;
	}
}

static void tokens_derivatives_are_summed(void)
{
	for (uint32_t i = 0; i < 3; i++) {
		struct token_sums_launch p = {.clips = 2,
		                              .n = 21,
		                              .first = 4,
		                              .all = 30,
		                              .width = 50,
		                              .from = 10,
		                              .columns = 40,
		                              .masked = i == 1};
		struct one_launch l = {
			KERNEL_token_sums, {2, 1, 1}, &p, NULL, token_sums_reference};
		struct compared c = compared(&l, 1e-5);
		float *mask = compared_input(&c, 42);

		for (size_t k = 0; k < 42; k++)
			mask[k] = mask[k] > 0;
		p.mask = i == 2 ? NULL : mask;
		p.dx = compared_input(&c, 2 * 30 * 50);
		p.out = compared_result(&c, p.columns);
		CHECK_SAME(&c);
	}
}

int main(void)
{
	TEST("cuda: SGD and AdamW are the CPU's", updates_are_the_cpus);
	TEST("cuda: an update that is judged not to be made changes nothing",
	     updates_that_do_not_go_change_nothing);
	TEST("cuda: verdicts have the CPU's bits", verdicts_are_the_cpus);
	TEST("cuda: sums of squares and counts of bad values are exact", totals_are_exact);
	TEST("cuda: averages, exchanges, copies and one-hot rows", values_are_moved);
	TEST("cuda: absolute errors, their sums and slopes", absolute_errors_are_the_cpus);
	TEST("cuda: cross-entropy, its slope and the hits", entropy_is_the_cpus);
	TEST("cuda: patches are cut from floats and from bytes", patches_are_cut);
	TEST("cuda: tokens are formed as the CPU forms them", tokens_are_formed);
	TEST("cuda: queries are built from positions, fixed values and padding", queries_are_built);
	TEST("cuda: derivatives are summed over masked and unmasked tokens",
	     tokens_derivatives_are_summed);
	return test_done();
}
