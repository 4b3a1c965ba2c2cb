/*
 * The ops around the network against their definitions, written here a second time: patches, labels,
 * queries, losses, and passes over sets of tensors. With one thread and with three: the same bits.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/harness.h"
#include "trainer/ops/ops.h"
#include "trainer/ops/philox.h"

enum { TEAMS = 2 };

struct teams {
	struct ops ops[TEAMS];
};

static struct teams teams_open(void)
{
	struct teams t;

	CHECK(ops_open(&(struct ops_options){.reference = true}, &t.ops[0]));
	CHECK(ops_open(&(struct ops_options){.n_threads = 3}, &t.ops[1]));
	return t;
}

static void teams_done(struct teams *t)
{
	for (size_t i = 0; i < TEAMS; i++)
		ops_done(&t->ops[i]);
}

static MUST_USE float *noise(size_t n, uint64_t seed)
{
	struct philox r = philox_start(seed, STREAM_SYNTHETIC, 0);
	float *x = mem_calloc(n, sizeof(*x));

	for (size_t i = 0; i < n; i++)
		x[i] = (float)philox_normal(&r);
	return x;
}

static void patches(void)
{
	enum { FRAMES = 3, H = 6, W = 8, S = 2, N = FRAMES * 3 * H * W };
	AUTO_FREE float *image = noise(N, 1);
	struct teams t = teams_open();
	float y[N];

	for (size_t k = 0; k < TEAMS; k++) {
		struct op_patches p = {FRAMES, H, W, S, image, y};
		const float *at = y;

		memset(y, 0, sizeof(y));
		t.ops[k].table->patches(&t.ops[k], &p);
		for (size_t f = 0; f < FRAMES; f++)
			for (size_t r = 0; r < H / S; r++)
				for (size_t c = 0; c < W / S; c++)
					for (size_t i = 0; i < S * S * 3; i++, at++) {
						size_t dy = i / (S * 3), dx = i / 3 % S;
						size_t row = r * S + dy, column = c * S + dx;

						CHECK(*at == image[((f * 3 + i % 3) * H + row) * W +
						                   column]);
					}
	}
	teams_done(&t);
}

static void labels_and_repeats(void)
{
	enum { N = 9000, TIMES = 5 };
	AUTO_FREE float *x = noise(N, 2);
	AUTO_FREE float *dy = noise((size_t)N * TIMES, 3);
	AUTO_FREE float *y = mem_calloc((size_t)N * TIMES, sizeof(float));
	struct teams t = teams_open();
	const int32_t label[3] = {4, 0, 2};
	float onehot[15];

	for (size_t k = 0; k < TEAMS; k++) {
		const struct op_table *table = t.ops[k].table;
		AUTO_FREE float *dx = mem_calloc(N, sizeof(float));
		struct op_repeat p = {N, TIMES, x, y, dy, dx};

		memset(onehot, 0xFF, sizeof(onehot));
		table->onehot(&t.ops[k], &(struct op_onehot){3, 5, label, onehot});
		for (size_t i = 0; i < 15; i++)
			CHECK(onehot[i] == (i % 5 == (size_t)label[i / 5] ? 1 : 0));
		table->repeat_forward(&t.ops[k], &p);
		dx[7] = 100; /* it is added to */
		table->repeat_backward(&t.ops[k], &p);
		for (size_t i = 0; i < N; i++) {
			float sum = i == 7 ? 100 : 0;

			for (size_t r = 0; r < TIMES; r++) {
				CHECK(y[r * N + i] == x[i]);
				sum += dy[r * N + i];
			}
			CHECK(dx[i] == sum);
		}
	}
	teams_done(&t);
}

/* ---- queries ---- */

enum { BANDS = 2, COLUMNS = 1 + 2 * BANDS, PAD = 3, POSITIONS = 2 * COLUMNS };
enum { WIDTH = POSITIONS + PAD, POINTS = 4, FIXED = 6, ROWS = POINTS + 1 };

static struct op_queries queries(const float *tables, const float *trained, const int32_t *points,
                                 float *y, const float *dy, float *d)
{
	struct op_query_group image = {.n = POINTS,
	                               .ndim = 2,
	                               .dim = {3, 5},
	                               .bands = BANDS,
	                               .point = points,
	                               .position = {tables, tables + 3 * COLUMNS},
	                               .n_pad = PAD,
	                               .pad = trained,
	                               .dpad = d};
	struct op_query_group label = {.n = 1,
	                               .n_fixed = FIXED,
	                               .fixed = trained + PAD,
	                               .dfixed = d + PAD,
	                               .n_pad = WIDTH - FIXED,
	                               .pad = trained + PAD + FIXED,
	                               .dpad = d + PAD + FIXED};

	return (struct op_queries){
		.width = WIDTH, .groups = {{.n = 0}, image, label}, .y = y, .dy = dy};
}

/* Channel c of a point at row `at[0]`, column `at[1]` of the grid. */
static float position(const float *tables, const size_t *at, size_t c)
{
	const float *rows[2] = {tables + at[0] * COLUMNS, tables + (3 + at[1]) * COLUMNS};

	if (c < 2)
		return rows[c][0];
	c -= 2;
	return rows[c % (2 * BANDS) / BANDS][1 + c / (2 * BANDS) * BANDS + c % BANDS];
}

static void decoder_queries(void)
{
	static const int32_t points[POINTS] = {13, 1, 8, 8};
	AUTO_FREE float *tables = noise(8 * COLUMNS, 4);
	AUTO_FREE float *trained = noise(PAD + WIDTH, 5);
	AUTO_FREE float *dy = noise((size_t)ROWS * WIDTH, 6);
	struct teams t = teams_open();

	for (size_t k = 0; k < TEAMS; k++) {
		float y[ROWS * WIDTH], d[PAD + WIDTH] = {0};
		struct op_queries p = queries(tables, trained, points, y, dy, d);

		t.ops[k].table->queries_forward(&t.ops[k], &p);
		t.ops[k].table->queries_backward(&t.ops[k], &p);
		for (size_t r = 0; r < POINTS; r++) {
			size_t at[2] = {(size_t)points[r] / 5, (size_t)points[r] % 5};

			for (size_t c = 0; c < POSITIONS; c++)
				CHECK(y[r * WIDTH + c] == position(tables, at, c));
			CHECK(memcmp(y + r * WIDTH + POSITIONS, trained, PAD * sizeof(float)) == 0);
		}
		CHECK(memcmp(y + POINTS * WIDTH, trained + PAD, WIDTH * sizeof(float)) == 0);
		CHECK(memcmp(d + PAD, dy + POINTS * WIDTH, WIDTH * sizeof(float)) == 0);
		for (size_t i = 0; i < PAD; i++) {
			float sum = 0;

			for (size_t r = 0; r < POINTS; r++)
				sum += dy[r * WIDTH + POSITIONS + i];
			CHECK(d[i] == sum);
		}
	}
	teams_done(&t);
}

/* ---- losses ---- */

static void errors_of_points(void)
{
	enum { BATCH = 2, N = 3, CHANNELS = 3, PLANE = 10, CLIP = 4 * CHANNELS * PLANE };
	static const int32_t points[N] = {39, 0, 12};
	AUTO_FREE float *x = noise((size_t)BATCH * N * CHANNELS, 7);
	AUTO_FREE float *target = noise((size_t)BATCH * CLIP, 8);
	struct teams t = teams_open();
	double want[OP_L1_SUMS] = {0};

	x[4] = target[(0 * CHANNELS + 1) * PLANE + 0]; /* point 0, channel 1: no error */
	for (size_t k = 0; k < TEAMS; k++) {
		double sums[OP_L1_SUMS];
		float dx[BATCH * N * CHANNELS];
		struct op_l1 p = {.batch = BATCH,
		                  .points = N,
		                  .channels = CHANNELS,
		                  .plane = PLANE,
		                  .clip = CLIP,
		                  .x = x,
		                  .target = target,
		                  .point = points,
		                  .sums = sums,
		                  .factor = 0.25,
		                  .dx = dx};

		t.ops[k].table->l1_forward(&t.ops[k], &p);
		t.ops[k].table->l1_backward(&t.ops[k], &p);
		memset(want, 0, sizeof(want));
		for (size_t i = 0; i < BATCH * N * CHANNELS; i++) {
			size_t clip = i / (N * CHANNELS), point = (size_t)points[i / CHANNELS % N];
			size_t frame = point / PLANE, at = point % PLANE;
			double v = (double)target[clip * CLIP +
			                          (frame * CHANNELS + i % CHANNELS) * PLANE + at];
			double e = (double)x[i] - v;

			want[OP_L1_ABSOLUTE] += fabs(e);
			want[OP_L1_SQUARE] += e * e;
			want[OP_L1_POWER] += v * v;
			CHECK(dx[i] == (e > 0 ? 0.25f : e < 0 ? -0.25f : 0));
		}
		CHECK(dx[4] == 0);
		for (size_t i = 0; i < OP_L1_SUMS; i++)
			CHECK(fabs(sums[i] - want[i]) < 1e-12 * want[i]);
	}
	teams_done(&t);
}

/* The derivative is that of the sum, by differences; equal logits are ordered by their number. */
static void label_entropy(void)
{
	enum { ROWS_HERE = 3, LABELS = 8, N = ROWS_HERE * LABELS };
	static const int32_t label[ROWS_HERE] = {2, 7, 0};
	AUTO_FREE float *x = noise(N, 9);
	struct teams t = teams_open();

	for (size_t i = 0; i < LABELS; i++)
		x[i] = i == 5 ? 2 : i == 2 ? 2 : 0; /* the label is the smaller of two largest */
	for (size_t k = 0; k < TEAMS; k++) {
		double sums[OP_ENTROPY_SUMS], up[OP_ENTROPY_SUMS], down[OP_ENTROPY_SUMS];
		float dx[N];
		struct op_entropy p = {ROWS_HERE, LABELS, x, label, sums, 0.5, dx};

		t.ops[k].table->entropy_forward(&t.ops[k], &p);
		t.ops[k].table->entropy_backward(&t.ops[k], &p);
		for (size_t i = 0; i < N; i++) {
			float kept = x[i], step = 1.0f / 64;

			x[i] = kept + step;
			p.sums = up;
			t.ops[k].table->entropy_forward(&t.ops[k], &p);
			x[i] = kept - step;
			p.sums = down;
			t.ops[k].table->entropy_forward(&t.ops[k], &p);
			x[i] = kept;
			CHECK(fabs(dx[i] - 0.5 * (up[0] - down[0]) / (2 * step)) < 1e-4);
		}
		for (size_t r = 0, hits = 0, hits5 = 0; r < ROWS_HERE; r++) {
			size_t larger = 0;

			for (size_t i = 0; i < LABELS; i++)
				larger += x[r * LABELS + i] > x[r * LABELS + (size_t)label[r]];
			hits += larger < 1;
			hits5 += larger < 5;
			if (r + 1 == ROWS_HERE)
				CHECK(sums[OP_ENTROPY_HITS] == (double)hits &&
				      sums[OP_ENTROPY_HITS5] == (double)hits5);
		}
	}
	x[5] = x[1] = 2; /* and now it is not */
	for (size_t k = 0; k < TEAMS; k++) {
		double sums[OP_ENTROPY_SUMS];
		struct op_entropy p = {1, LABELS, x, label, sums, 0, NULL};

		t.ops[k].table->entropy_forward(&t.ops[k], &p);
		CHECK(sums[OP_ENTROPY_HITS] == 0 && sums[OP_ENTROPY_HITS5] == 1);
	}
	teams_done(&t);
}

/* ---- sets of tensors ---- */

/* What a step's figures come to. */
struct verdict_case {
	double figure, squares, limit, max_norm;
	uint32_t barred, goes;
	double norm, scale;
};

static const struct verdict_case verdicts[] = {
	{1, 64, INFINITY, 0, 0, 1, 4, 0.5},    {1, 64, 4, 2, 0, 1, 4, 0.5 * 2 / (4 + 1e-6)},
	{1, 64, INFINITY, 10, 0, 1, 4, 0.5},   {1, 64, 3.9, 0, 0, 0, 4, 0.5}, /* a spike */
	{1, 64, INFINITY, 0, 1, 0, 4, 0.5}, /* barred by the host */
	{NAN, 64, INFINITY, 0, 0, 0, 4, 0.5},  {INFINITY, 64, INFINITY, 0, 0, 0, 4, 0.5},
	{1, NAN, INFINITY, 0, 0, 0, NAN, 0.5}, {1, INFINITY, INFINITY, 0, 0, 0, INFINITY, 0.5},
};

static void an_update_is_judged_by_its_figures(void)
{
	struct teams t = teams_open();

	for (size_t k = 0; k < TEAMS; k++)
		for (size_t i = 0; i < ARRAY_LEN(verdicts); i++) {
			const struct verdict_case *v = &verdicts[i];
			struct ops *ops = &t.ops[k];
			double figures[3] = {0, v->figure, 2}, norm, goes;
			struct op_terms terms = {.unscale = 0.5,
			                         .max_norm = v->max_norm,
			                         .limit = v->limit,
			                         .barred = v->barred};

			ops->table->vote(ops, &(struct op_vote){3, figures, &terms});
			ops->table->judge(ops,
			                  &(struct op_judge){&v->squares, &terms, &norm, &goes});
			CHECK(terms.goes == v->goes && goes == v->goes);
			CHECK(norm == v->norm || (isnan(norm) && isnan(v->norm)));
			CHECK(terms.scale == (float)v->scale);
		}
	teams_done(&t);
}

static void passes_over_sets(void)
{
	enum { N = 100000 - 100000 % 16 };
	AUTO_FREE float *first = noise(N, 10);
	AUTO_FREE float *second = noise(N, 11);
	struct teams t = teams_open();
	double sums[TEAMS], squares = 0, bad;
	struct op_terms still = {.average = 0.5f}, eighth = {.average = 0.125f, .goes = 1},
			whole = {.average = 1, .goes = 1};

	for (size_t i = 0; i < N; i++)
		squares += (double)first[i] * first[i];
	for (size_t k = 0; k < TEAMS; k++) {
		struct ops *ops = &t.ops[k];
		AUTO_FREE float *a = noise(N, 10);
		AUTO_FREE float *b = noise(N, 11);

		ops->table->sum_squares(ops, &(struct op_sum_squares){N, a, &sums[k]});
		CHECK(fabs(sums[k] - squares) < 1e-9 * squares);
		ops->table->exchange(ops, &(struct op_exchange){N, a, b});
		CHECK(memcmp(a, second, N * sizeof(float)) == 0);
		CHECK(memcmp(b, first, N * sizeof(float)) == 0);
		ops->table->average(ops, &(struct op_average){N, a, b, &still});
		CHECK(memcmp(a, second, N * sizeof(float)) == 0);
		ops->table->average(ops, &(struct op_average){N, a, b, &eighth});
		for (size_t i = 0; i < N; i++)
			CHECK(fabsf(a[i] - (0.875f * second[i] + 0.125f * first[i])) < 1e-6f);
		ops->table->average(ops, &(struct op_average){N, a, b, &whole});
		CHECK(memcmp(a, b, N * sizeof(float)) == 0);
		ops->table->count_bad(ops, &(struct op_count_bad){N, a, &bad});
		CHECK(bad == 0);
		a[3] = NAN;
		a[N - 1] = INFINITY;
		a[70000] = -INFINITY;
		ops->table->count_bad(ops, &(struct op_count_bad){N, a, &bad});
		CHECK(bad == 3);
	}
	CHECK(sums[0] == sums[1]);
	teams_done(&t);
}

int main(void)
{
	TEST("ops: frames are cut to patches, colours last", patches);
	TEST("ops: labels are one-hot, repeats are summed row after row", labels_and_repeats);
	TEST("ops: queries hold positions and what is trained, which gets their derivatives",
	     decoder_queries);
	TEST("ops: absolute and squared errors are those of the decoded points", errors_of_points);
	TEST("ops: the label's entropy, its derivative and its hits", label_entropy);
	TEST("ops: an update is judged by its figures", an_update_is_judged_by_its_figures);
	TEST("ops: sums, averages and exchanges of whole sets", passes_over_sets);
	return test_done();
}
