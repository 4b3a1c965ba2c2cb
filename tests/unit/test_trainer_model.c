/* The whole network: goldens on every path, fast against reference, threads, batches, dropout. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/harness.h"
#include "tests/unit/random_model.h"
#include "trainer/cmd/golden.h"
#include "trainer/model/cost.h"
#include "trainer/ops/ops.h"
#include "trainer/ops/philox.h"
#include "trainer/ops/profile.h"

enum { CONFIGS = 200 };

/* Sets of our own, made by tests/golden/perceiver/make.py; behind them one more, where it is here. */
static const char *const golden_sets[] = {"published", "cross-heads", "explicit-widths",
                                          "many-tokens"};
enum { GOLDEN_SETS = 5 };

/* NULL: there is no such set here. */
static const char *golden_dir(size_t set)
{
	static char path[4096];
	const char *shared = getenv("SLIPWAY_SHARED");

	if (set < ARRAY_LEN(golden_sets)) {
		snprintf(path, sizeof(path), "tests/golden/perceiver/%s", golden_sets[set]);
		return path;
	}
	snprintf(path, sizeof(path), "%s/data/perceiver-golden",
	         shared != NULL ? shared : "../shared");
	return access(path, R_OK) == 0 ? path : NULL;
}

/* What a set's products in bf16 may be off; drawn once, for the tests take it again and again. */
static const struct golden_drawn *drawn_of(size_t set)
{
	static struct golden_drawn drawn[GOLDEN_SETS];
	struct err err = {0};
	struct golden g;

	if (drawn[set].n > 0)
		return &drawn[set];
	CHECK_OK(golden_open(golden_dir(set), &g, &err), &err);
	CHECK_OK(golden_draw(&g, PRECISION_BF16, &drawn[set], &err), &err);
	golden_done(&g);
	return &drawn[set];
}

static void check_set(size_t set, struct ops *ops)
{
	const char *dir = golden_dir(set);
	const struct golden_drawn *drawn = ops_rounds(ops) == PRECISION_BF16 ? drawn_of(set) : NULL;
	struct err err = {0};
	struct golden g;
	struct golden_report report;

	CHECK_OK(golden_open(dir, &g, &err), &err);
	CHECK_OK(golden_hold(&g, ops, drawn, &report, &err), &err);
	for (size_t i = 0; i < report.n; i++) {
		CHECK(report.checks[i].tensors > 0);
		if (report.checks[i].failed)
			printf("# %s: %s: %g > %g in %s\n", dir, report.checks[i].kind,
			       report.checks[i].error, report.checks[i].limit,
			       report.checks[i].worst);
	}
	CHECK(!report.failed);
	golden_done(&g);
}

static void check_golden(const struct ops_options *options)
{
	struct ops ops;

	if (!ops_open(options, &ops))
		SKIP("this processor has no such instruction set");
	for (size_t set = 0; set < GOLDEN_SETS && test_state.ok; set++)
		if (golden_dir(set) != NULL)
			check_set(set, &ops);
	ops_done(&ops);
}

static void golden_reference(void)
{
	check_golden(&(struct ops_options){.reference = true});
}

static void golden_plain(void)
{
	check_golden(&(struct ops_options){.plain_cross = true});
}

static void golden_avx512(void)
{
	check_golden(&(struct ops_options){.isa = "avx512"});
}

static void golden_avx2(void)
{
	check_golden(&(struct ops_options){.isa = "avx2"});
}

static void golden_neon(void)
{
	check_golden(&(struct ops_options){.isa = "neon"});
}

static void golden_generic(void)
{
	check_golden(&(struct ops_options){.isa = "generic"});
}

/* ---- random configurations ---------------------------------------------------------------------
 */

static bool close_tensors(const struct tensor *got, const struct tensor *want)
{
	double largest = 0;

	for (size_t i = 0; i < want->n; i++)
		largest = fmax(largest, fabs((double)want->data[i]));
	for (size_t i = 0; i < want->n; i++) {
		double error = fabs((double)got->data[i] - want->data[i]);

		if (!(error <= 1e-5 + 2e-3 * largest)) {
			printf("# %s[%zu]: %g, expected %g (largest %g)\n", want->name, i,
			       (double)got->data[i], (double)want->data[i], largest);
			return false;
		}
	}
	return true;
}

static bool same_as_reference(const struct model_config *c, const struct batch *b, struct ops *fast,
                              struct ops *reference)
{
	struct losses got, want;
	struct model *f = run_once(c, fast, b, &got), *r = run_once(c, reference, b, &want);
	bool ok = fabs(got.total - want.total) < 1e-5 * (1 + fabs(want.total));

	if (!ok)
		printf("# loss %g, expected %g (dropout %g, act %d, heads %zu)\n", got.total,
		       want.total, c->attention_probs_dropout_prob, (int)c->hidden_act,
		       c->num_cross_attention_heads);
	for (size_t i = 0; ok && i < model_grads(r)->n; i++)
		ok = close_tensors(&model_grads(f)->at[i], &model_grads(r)->at[i]);
	model_free(f);
	model_free(r);
	return ok;
}

static void check_random(const char *isa, size_t n)
{
	struct ops fast, reference;

	if (!ops_open(&(struct ops_options){.isa = isa, .n_threads = 2}, &fast))
		SKIP("this processor has no such instruction set");
	CHECK(ops_open(&(struct ops_options){.reference = true}, &reference));
	for (size_t i = 0; i < n; i++) {
		struct philox r = philox_start(2024, STREAM_SYNTHETIC, i);
		struct model_config c = random_config(&r);
		struct clip_memory m = random_clips(&r, &c);
		struct err err = {0};
		bool ok;

		CHECK_OK(model_config_check(&c, &err), &err);
		ok = same_as_reference(&c, &m.b, &fast, &reference);
		if (!ok)
			printf("# configuration %zu\n", i);
		CHECK(ok);
		free_clips(&m);
	}
	ops_done(&fast);
	ops_done(&reference);
}

static void random_best(void)
{
	check_random(NULL, CONFIGS);
}

static void random_avx2(void)
{
	check_random("avx2", 40);
}

static void random_generic(void)
{
	check_random("generic", 40);
}

static void golden_bf16(void)
{
	check_golden(&(struct ops_options){.precision = PRECISION_BF16});
}

static void golden_bf16_plain(void)
{
	check_golden(&(struct ops_options){.precision = PRECISION_BF16, .plain_cross = true});
}

static void golden_bf16_emulated(void)
{
	check_golden(&(struct ops_options){.precision = PRECISION_BF16, .isa = "generic"});
}

/*
 * What our draws come to, beside what PyTorch drew with the same rounding in Hugging Face's code: a set
 * has it by file, a row of measures for every tensor in the order of names. A
 * key's bias is not drawn, and a mask's gradient may be 0.
 */
static double their_gradients(const char *dir, const struct st_file *drawn, size_t *ret_n)
{
	AUTO(st_file) struct st_file grads = {0};
	const struct st_tensor *t = st_find(drawn, "grads");
	AUTO_FREE float *rows = mem_calloc(t->n, sizeof(float));
	char path[4096];
	struct err err = {0};
	double sum = 0;

	snprintf(path, sizeof(path), "%s/grads.safetensors", dir);
	CHECK_OK(st_open(path, &grads, &err), &err);
	CHECK_OK(st_read_f32(t, rows, t->n, &err), &err);
	CHECK_INT(t->n, grads.n * GOLDEN_MEASURES);
	for (size_t i = 0; i < grads.n && i * GOLDEN_MEASURES < t->n; i++) {
		if (strstr(grads.at[i].name, ".key.bias") != NULL)
			continue;
		sum += log(rows[i * GOLDEN_MEASURES + GOLDEN_RMS] + 1e-9);
		++*ret_n;
	}
	return exp(sum / (double)*ret_n);
}

/* The gradients lie behind the outputs. */
static void compare_draws(size_t set)
{
	AUTO(st_file) struct st_file theirs = {0};
	const struct golden_drawn *drawn = drawn_of(set);
	const char *dir = golden_dir(set);
	char path[4096];
	struct err err = {0};
	size_t outputs, n = 0;
	double sum = 0, their, ratio;

	snprintf(path, sizeof(path), "%s/bf16.safetensors", dir);
	CHECK_OK(st_open(path, &theirs, &err), &err);
	outputs = st_find(&theirs, "outputs")->n / GOLDEN_MEASURES;
	their = their_gradients(dir, &theirs, &n);
	CHECK(n > 50 && outputs + n < drawn->n);
	for (size_t i = outputs; i < outputs + n; i++)
		sum += log(drawn->at[i].of[GOLDEN_RMS] + 1e-9);
	ratio = exp(sum / (double)n) / their;
	printf("# %s: our draws are %.2f of PyTorch's\n", dir, ratio);
	CHECK(ratio > 0.67 && ratio < 1.5);
}

static void draws_are_those_of_pytorch(void)
{
	for (size_t set = 0; set < ARRAY_LEN(golden_sets); set++)
		compare_draws(set);
}

/* ---- defects that bf16's limits must show ------------------------------------------------------
 */

/* A copy of n values with one defect; the caller frees. */
static float *spoilt(const float *x, size_t n, float (*defect)(float x))
{
	float *copy = mem_calloc(n, sizeof(copy[0]));

	for (size_t i = 0; i < n; i++)
		copy[i] = defect(x[i]);
	return copy;
}

static float cut(float x, uint32_t add, uint32_t mask)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	bits = (bits + add) & mask;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* A significand of 5 bits, for bf16's 8. */
static float three_bits_less(float x)
{
	return cut(x, 0x40000, 0xfff80000u);
}

static float one_percent(float x)
{
	return x * 1.01f;
}

/* The table in use, and what to spoil of it: one defect at a time, of the weights of linear layers. */
static struct {
	const struct op_table *inner;
	float (*defect)(float x);
} spoil;

static void spoilt_linear_forward(struct ops *ops, const struct op_linear *p)
{
	AUTO_FREE float *w = spoilt(p->w, p->out * p->in, spoil.defect);
	struct op_linear other = *p;

	other.w = w;
	spoil.inner->linear_forward(ops, &other);
}

/* The first head's results stand where the second's belong, and the other way round. */
static void swapped_attention_forward(struct ops *ops, const struct op_attention *p)
{
	spoil.inner->attention_forward(ops, p);
	for (size_t i = 0; p->heads > 1 && i < p->batch * p->nq; i++) {
		float *row = p->o + i * p->heads * p->v;

		for (size_t c = 0; c < p->v; c++) {
			float first = row[c];

			row[c] = row[p->v + c];
			row[p->v + c] = first;
		}
	}
}

static void scaled_attention_forward(struct ops *ops, const struct op_attention *p)
{
	spoil.inner->attention_forward(ops, p);
	for (size_t i = 0; i < p->batch * p->nq * p->heads * p->v; i++)
		p->o[i] *= 1.01f;
}

static void scaled_linear_backward(struct ops *ops, const struct op_linear *p)
{
	AUTO_FREE float *dy = spoilt(p->dy, p->rows * p->out, one_percent);
	struct op_linear other = *p;

	other.dy = dy;
	spoil.inner->linear_backward(ops, &other);
}

struct defect {
	const char *what;
	float (*weights)(float x);
	void (*attention)(struct ops *ops, const struct op_attention *p);
	void (*backward)(struct ops *ops, const struct op_linear *p);
};

static bool defect_is_found(const struct golden *g, const struct golden_drawn *drawn,
                            struct ops *ops, const struct defect *defect)
{
	struct op_table table = *spoil.inner;
	struct golden_report report;
	struct err err = {0};

	spoil.defect = defect->weights;
	if (defect->weights != NULL)
		table.linear_forward = spoilt_linear_forward;
	if (defect->attention != NULL)
		table.attention_forward = defect->attention;
	if (defect->backward != NULL)
		table.linear_backward = defect->backward;
	ops->table = &table;
	CHECK_OK(golden_hold(g, ops, drawn, &report, &err), &err);
	ops->table = spoil.inner;
	return report.failed;
}

/* Sound ops pass with the same draws. */
static void check_defects(size_t set, struct ops *ops)
{
	static const struct defect rows[] = {
		{"nothing", NULL, NULL, NULL},
		{"weights of three bits less", three_bits_less, NULL, NULL},
		{"weights off by one percent", one_percent, NULL, NULL},
		{"two heads exchanged", NULL, swapped_attention_forward, NULL},
		{"attention off by one percent", NULL, scaled_attention_forward, NULL},
		{"derivatives off by one percent", NULL, NULL, scaled_linear_backward},
	};
	struct golden g;
	struct err err = {0};

	CHECK_OK(golden_open(golden_dir(set), &g, &err), &err);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (defect_is_found(&g, drawn_of(set), ops, &rows[i]) == (i > 0))
			continue;
		printf("# %s: %s\n", golden_sets[set], rows[i].what);
		test_fail(__FILE__, __LINE__, "taken for the other");
	}
	golden_done(&g);
}

static void bf16_limits_find_defects(void)
{
	struct ops ops;

	CHECK(ops_open(&(struct ops_options){.precision = PRECISION_BF16}, &ops));
	spoil.inner = ops.table;
	for (size_t set = 0; set < ARRAY_LEN(golden_sets); set++)
		check_defects(set, &ops);
	ops_done(&ops);
}

/* ---- the same bits -----------------------------------------------------------------------------
 */

static void check_threads(enum op_precision precision)
{
	struct model_config c = model_config_tiny();
	struct philox r = philox_start(3, STREAM_SYNTHETIC, 0);
	struct clip_memory clips;
	struct model *m[3];
	struct ops ops[3];
	struct losses losses;

	c.attention_probs_dropout_prob = 0.1;
	clips = random_clips(&r, &c);
	for (unsigned i = 0; i < 3; i++) {
		CHECK(ops_open(&(struct ops_options){.n_threads = i == 2 ? 5 : i + 1,
		                                     .precision = precision},
		               &ops[i]));
		m[i] = run_once(&c, &ops[i], &clips.b, &losses);
	}
	for (unsigned i = 1; i < 3; i++)
		CHECK(memcmp(model_grads(m[0])->data, model_grads(m[i])->data,
		             model_grads(m[0])->n_values * sizeof(float)) == 0);
	for (unsigned i = 0; i < 3; i++) {
		model_free(m[i]);
		ops_done(&ops[i]);
	}
	free_clips(&clips);
}

static void threads_do_not_matter(void)
{
	check_threads(PRECISION_F32);
	check_threads(PRECISION_BF16);
}

/* Two micro-steps of one clip each add up to one step of two. */
static void accumulation_equals_batch(void)
{
	static const struct loss_weights weights = {0.5, 1, 0.3};
	struct model_config c = model_config_tiny();
	struct model_dims d = model_dims(&c);
	struct philox r = philox_start(9, STREAM_SYNTHETIC, 0);
	struct clip_memory clips = random_clips(&r, &c);
	struct ops ops;
	struct losses losses;
	struct logits logits;
	struct model *whole, *parts;
	struct batch b = clips.b;

	while (b.n != 2) {
		free_clips(&clips);
		clips = random_clips(&r, &c);
		b = clips.b;
	}
	b.mask_audio = b.mask_image = b.mask_label = NULL;
	CHECK(ops_open(&(struct ops_options){.n_threads = 2}, &ops));
	c.attention_probs_dropout_prob = 0;
	whole = run_once(&c, &ops, &b, &losses);
	parts = model_new(&c, &ops);
	random_params(parts, 5);
	model_zero_grads(parts);
	for (size_t i = 0; i < 2; i++) {
		struct batch one = b;

		one.n = 1;
		one.image += i * 3 * d.n_pixels;
		one.audio += i * d.audio_samples;
		one.label += i;
		model_forward(parts, &one, &logits);
		model_backward(parts, &weights, 0.5);
	}
	for (size_t i = 0; i < model_grads(whole)->n; i++)
		CHECK(close_tensors(&model_grads(parts)->at[i], &model_grads(whole)->at[i]));
	model_free(whole);
	model_free(parts);
	ops_done(&ops);
	free_clips(&clips);
}

static void full_has_the_published_size(void)
{
	struct model_config full = model_config_full(), mid = model_config_mid();
	struct err err = {0};
	struct ops ops;
	struct model *m;

	CHECK(ops_open(&(struct ops_options){.reference = true}, &ops));
	CHECK_OK(model_config_check(&full, &err), &err);
	CHECK_OK(model_config_check(&mid, &err), &err);
	CHECK_INT(model_dims(&full).n_tokens, 52097);
	CHECK_INT(model_dims(&full).channels, 704);
	CHECK_INT(model_dims(&full).queries, 1026);
	m = model_new(&full, &ops);
	CHECK_INT(model_params(m)->n, 183);
	CHECK_INT(model_params(m)->n_params, 19858855);
	model_free(m);
	m = model_new(&mid, &ops);
	CHECK_INT(model_params(m)->n_params, 6327207);
	model_free(m);
	ops_done(&ops);
}

/* An untrained model says about 0, so its loss is the mean of what it should have said. */
static void first_loss_is_the_data(void)
{
	static const struct loss_weights weights = {0.03, 1, 1e-4};
	struct model_config c = model_config_tiny();
	struct philox r = philox_start(4, STREAM_SYNTHETIC, 0);
	struct clip_memory clips = random_clips(&r, &c);
	struct ops ops;
	struct losses losses;
	struct logits logits;
	struct model *m;

	clips.b.decode_label = true;
	CHECK(ops_open(&(struct ops_options){.n_threads = 1}, &ops));
	m = model_new(&c, &ops);
	model_init(m, 1);
	model_forward(m, &clips.b, &logits);
	model_loss(m, &weights, &losses);
	CHECK(fabs(losses.image - 2.5) < 0.1);
	CHECK(fabs(losses.audio - 2.5) < 0.1);
	CHECK(fabs(losses.label - log(10)) < 0.05);
	model_free(m);
	ops_done(&ops);
	free_clips(&clips);
}

static void decode_gives_the_same_points(void)
{
	struct model_config c = model_config_tiny();
	struct philox r = philox_start(8, STREAM_SYNTHETIC, 0);
	struct clip_memory clips = random_clips(&r, &c);
	struct ops ops;
	struct logits logits;
	struct model *m;
	size_t n = clips.b.n_out_image * 3;
	float *first = mem_calloc(n, sizeof(float));
	struct batch b = clips.b;

	b.n = 1;
	CHECK(ops_open(&(struct ops_options){.n_threads = 2}, &ops));
	m = model_new(&c, &ops);
	random_params(m, 5);
	model_forward(m, &b, &logits);
	memcpy(first, logits.image, n * sizeof(float));
	b.n_out_audio = 0;
	b.decode_label = false;
	model_decode(m, &b, &logits);
	for (size_t i = 0; i < n; i++)
		CHECK(fabsf(first[i] - logits.image[i]) < 1e-5f);
	free(first);
	model_free(m);
	ops_done(&ops);
	free_clips(&clips);
}

static void check_nan_weight(const char *name, const struct ops_options *options)
{
	static const struct loss_weights weights = {0.03, 1, 1e-4};
	struct model_config c = model_config_tiny();
	struct philox r = philox_start(4, STREAM_SYNTHETIC, 0);
	struct clip_memory clips = random_clips(&r, &c);
	struct ops ops;
	struct losses losses;
	struct logits logits;
	struct model *m;

	if (!ops_open(options, &ops))
		return;
	m = model_new(&c, &ops);
	model_init(m, 1);
	tensors_find(model_params(m), name)->data[0] = NAN;
	model_forward(m, &clips.b, &logits);
	model_loss(m, &weights, &losses);
	CHECK(isnan(losses.total));
	model_free(m);
	ops_done(&ops);
	free_clips(&clips);
}

/* Also where the rounding to bf16 could carry into the exponent and hide it. */
static void nan_weight_gives_nan_loss(void)
{
	static const char *const names[] = {
		"perceiver.encoder.cross_attention.attention.self.key.weight",
		"perceiver.encoder.self_attends.0.mlp.dense1.weight",
		"perceiver.decoder.decoder.final_layer.weight"};
	static const char *const sets[] = {NULL, "avx2", "generic"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		for (size_t k = 0; k < 2 * ARRAY_LEN(sets); k++)
			check_nan_weight(
				names[i],
				&(struct ops_options){.n_threads = 1,
			                              .isa = sets[k / 2],
			                              .precision = k % 2 == 1 ? PRECISION_BF16
			                                                      : PRECISION_F32});
}

/* ---- the profile -------------------------------------------------------------------------------
 */

/* What the rows add up to is what the cost's formulas say; and nothing is measured afterwards. */
static void profile_explains_the_step(void)
{
	struct model_config c = model_config_mid();
	struct philox r = philox_start(11, STREAM_SYNTHETIC, 0);
	struct clip_memory clips = random_clips(&r, &c);
	struct profile profile;
	struct model_cost cost;
	struct losses losses;
	struct ops ops;
	double flop = 0, seconds = 0;

	CHECK(ops_open(&(struct ops_options){.n_threads = 2}, &ops));
	clips.b.n = 1; /* the formulas count what clips share once for each */
	cost = model_cost(&c, &clips.b);
	profile_attach(&profile, &ops);
	model_free(run_once(&c, &ops, &clips.b, &losses));
	profile_detach(&profile, &ops);
	for (size_t i = 0; i < profile.n; i++) {
		flop += profile.rows[i].flop;
		seconds += profile.rows[i].seconds;
		CHECK(profile.rows[i].part[0] != '\0');
	}
	CHECK(profile.n > 20 && profile.n < PROFILE_ROWS && seconds > 0);
	printf("# %.4f GFLOP in rows, %.4f by formulas\n", flop / 1e9, cost.executed / 1e9);
	CHECK(fabs(flop / cost.executed - 1) < 0.02);
	profile_reset(&profile);
	model_free(run_once(&c, &ops, &clips.b, &losses));
	for (size_t i = 0; i < profile.n; i++)
		CHECK(profile.rows[i].flop == 0 && profile.rows[i].seconds == 0);
	ops_done(&ops);
	free_clips(&clips);
}

int main(void)
{
	TEST("model: reference arithmetic gives the golden numbers", golden_reference);
	TEST("model: fast arithmetic with formed keys gives the golden numbers", golden_plain);
	TEST("model: avx512 gives the golden numbers", golden_avx512);
	TEST("model: avx2 gives the golden numbers", golden_avx2);
	TEST("model: neon gives the golden numbers", golden_neon);
	TEST("model: generic vectors give the golden numbers", golden_generic);
	TEST("model: bf16 gives the golden numbers within its limits", golden_bf16);
	TEST("model: bf16 with formed keys gives the golden numbers", golden_bf16_plain);
	TEST("model: emulated bf16 gives the golden numbers", golden_bf16_emulated);
	TEST("model: errors of bf16 are drawn as large as PyTorch draws them",
	     draws_are_those_of_pytorch);
	TEST("model: bf16's limits show coarse weights, exchanged heads and a percent of scale",
	     bf16_limits_find_defects);
	TEST("model: fast equals reference on 200 random configurations", random_best);
	TEST("model: avx2 equals reference on random configurations", random_avx2);
	TEST("model: generic vectors equal reference on random configurations", random_generic);
	TEST("model: gradients have the same bits with 1, 2 and 5 threads", threads_do_not_matter);
	TEST("model: accumulated clips equal a batch", accumulation_equals_batch);
	TEST("model: the full configuration has 183 tensors and 19,858,855 parameters",
	     full_has_the_published_size);
	TEST("model: an untrained model's loss is the mean of its targets", first_loss_is_the_data);
	TEST("model: decoding points anew gives the same values", decode_gives_the_same_points);
	TEST("model: a NaN weight is seen in the loss, in bf16, too", nan_weight_gives_nan_loss);
	TEST("profile: its rows add up to the step's cost", profile_explains_the_step);
	return test_done();
}
