#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/jsonw.h"
#include "base/mem.h"
#include "trainer/cmd/cmd.h"
#include "trainer/cmd/cmd_bench.h"
#include "trainer/device/devices.h"
#include "trainer/model/cost.h"
#include "trainer/ops/cpu.h"
#include "trainer/ops/ops.h"
#include "trainer/ops/philox.h"
#include "trainer/train/draw.h"
#include "trainer/train/optimizer.h"

struct settings {
	const char *config, *output, *isa, *path, *precision, *recompute;
	uint64_t steps, warmup, batch, threads, latents, frames;
	bool dropout, shapes, bounds;
	const char *device, *gemm; /* of products alone */
	uint64_t products;
};

#define TEXT(name, member, help)       FLAG_ROW_TEXT(struct settings, name, member, help)
#define COUNT(name, member, max, help) FLAG_ROW_COUNT(struct settings, name, member, max, help)
#define SWITCH(name, member, help)     FLAG_ROW_SWITCH(struct settings, name, member, help)

static const struct flag_row rows[] = {
	TEXT("config", config, "full (default), mid, tiny, or a config.json"),
	COUNT("steps", steps, 1000000, "steps to measure (default 10)"),
	COUNT("warmup", warmup, 1000000, "warm-up steps before them (default 2)"),
	COUNT("batch-size", batch, 1024, "clips per step (default 1)"),
	COUNT("threads", threads, 1024, "threads (default: one per usable CPU)"),
	TEXT("isa", isa, CMD_ISA_HELP),
	TEXT("precision", precision, "f32 (default) or bf16"),
	TEXT("path", path, "fast (default), plain or reference"),
	TEXT("activation-checkpointing", recompute,
             "none (default), selective, full or N, as in train"),
	COUNT("latents", latents, 65536, "another number of latents"),
	COUNT("frames", frames, 1024, "another number of frames"),
	SWITCH("dropout", dropout, "use the config's attention dropout"),
	SWITCH("shapes", shapes, "time the matrix products one by one instead"),
	COUNT("products", products, 65536,
              "time products of N x N by N instead, which a device may compute"),
	TEXT("device", device, "with --products, what computes: " DEVICE_HELP),
	TEXT("gemm", gemm, "with --products, a GPU's products: auto (default), own or cublaslt"),
	SWITCH("bounds", bounds,
               "measure besides what bounds each part's speed (full, and text only)"),
	TEXT("output", output, "text (default) or json"),
};

#undef TEXT
#undef COUNT
#undef SWITCH

struct bench_result {
	double *seconds; /* per step, sorted; owned */
	double *peaks;   /* of each one's moment, sorted; owned */
	double *shares;  /* of that peak which each reached, sorted; owned */
	size_t n;
	struct model_cost cost;
	size_t parameters, workspace;
	double peak; /* floating operations per second, the middle one; 0 for the reference */
	struct bench_layers layers;
	struct bench_bounds *bounds; /* owned; NULL unless asked for */
	int64_t rss;                 /* most memory of the steps, bytes */
	double loss;
	struct bench_scores scores;
};

static int read_config(const struct settings *s, struct model_config *c, struct err *err)
{
	*c = model_config_full();
	if (strcmp(s->config, "mid") == 0)
		*c = model_config_mid();
	else if (strcmp(s->config, "tiny") == 0)
		*c = model_config_tiny();
	else if (strcmp(s->config, "full") != 0 && model_config_load(c, s->config, NULL, err) != 0)
		return -1;
	c->num_latents = s->latents > 0 ? s->latents : c->num_latents;
	c->num_frames = s->frames > 0 ? s->frames : c->num_frames;
	if (!s->dropout)
		c->attention_probs_dropout_prob = 0;
	return model_config_check(c, err);
}

/* Random clips with the paper's number of output points; all memory in one block. */
struct inputs {
	float *floats, *mask;
	int32_t *ints;
	struct batch batch;
};

static struct inputs make_inputs(const struct model_config *c, size_t batch, bool mid)
{
	struct model_dims d = model_dims(c);
	size_t clip = 3 * d.n_pixels + d.audio_samples;
	size_t image = mid ? 256 : 512, audio = mid ? 64 : 512;
	struct inputs in = {.floats = mem_calloc(batch * clip, sizeof(float)),
	                    .mask = mem_calloc(batch, sizeof(float)),
	                    .ints = mem_calloc(batch + image + audio, sizeof(int32_t))};
	struct philox random = philox_start(1, STREAM_SYNTHETIC, 0);

	for (size_t i = 0; i < batch * clip; i++)
		in.floats[i] = (float)philox_uniform(&random);
	for (size_t i = 0; i < batch; i++) {
		in.mask[i] = 1;
		in.ints[i] = (int32_t)philox_below(&random, (uint32_t)c->num_labels);
	}
	draw_points(1, 0, d.n_pixels, in.ints + batch, image);
	draw_points(1, 1, d.n_audio, in.ints + batch + image, audio);
	in.batch = (struct batch){.n = batch,
	                          .image = in.floats,
	                          .audio = in.floats + batch * 3 * d.n_pixels,
	                          .label = in.ints,
	                          .mask_label = in.mask,
	                          .out_image = in.ints + batch,
	                          .n_out_image = image,
	                          .out_audio = in.ints + batch + image,
	                          .n_out_audio = audio,
	                          .decode_label = true};
	return in;
}

static void free_inputs(struct inputs *in)
{
	free(in->floats);
	free(in->mask);
	free(in->ints);
}

static struct bench_scores count_scores(const struct model_config *c, const struct batch *b,
                                        bool plain)
{
	struct model_dims d = model_dims(c);
	double latents = (double)(b->n * c->num_latents);
	double cross = (double)c->num_cross_attention_heads;
	double points = (double)(b->n_out_image + b->n_out_audio + 1);

	return (struct bench_scores){
		.cross = cross * latents * (double)d.n_tokens,
		.self = (double)(d.n_layers * c->num_self_attention_heads * c->num_latents) *
	                latents,
		.decoder = cross * latents * points,
		.folded = !plain && c->num_cross_attention_heads == 1};
}

/* Adds the time since *start to a row of the profile and starts anew. */
static void lap(struct ops *ops, const char *op, double *start)
{
	double end = clock_seconds();

	profile_add(ops->profile, "step", op, 0, end - *start);
	*start = end;
}

static double one_step(struct model *m, struct optimizer *o, const struct batch *b, struct ops *ops)
{
	static const struct loss_weights weights = {0.03, 1, 1e-4};
	struct logits logits;
	struct losses losses;
	double start, scale;

	model_forward(m, b, &logits);
	start = clock_seconds();
	model_loss(m, &weights, &losses);
	lap(ops, "loss", &start);
	model_zero_grads(m);
	lap(ops, "gradients to zero", &start);
	model_backward(m, &weights, 1);
	start = clock_seconds();
	scale = clip_scale(grads_norm(model_grads(m), ops), 10);
	lap(ops, "gradient norm, clipping", &start);
	optimizer_step(o, model_params(m), model_grads(m), 1e-5, scale, ops);
	lap(ops, "optimizer", &start);
	return losses.total;
}

static double step_peak(struct ops *ops)
{
	return cpu_of(ops)->kernels != NULL ? bench_peak(ops, BENCH_PEAK_LONG) : 0;
}

static int64_t peak_rss(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (int64_t)usage.ru_maxrss * 1024;
}

/* The bounds' turn after a step; they take memory of their own, once the first step has had all of
 * its. */
static void bound_step(const struct settings *s, struct ops *ops, bool measured,
                       struct bench_result *ret)
{
	if (ret->bounds == NULL)
		ret->rss = peak_rss();
	if (!s->bounds || cpu_of(ops)->kernels == NULL)
		return;
	if (ret->bounds == NULL)
		ret->bounds = bench_bounds_new(ops, s->steps);
	if (measured)
		bench_bounds_turn(ret->bounds);
}

/* A step's peak is the greater one of those just before and just after it: what disturbs one of
 * them must not flatter the step. */
static void measure_steps(const struct settings *s, struct model *m, struct optimizer *o,
                          struct batch *b, struct ops *ops, struct bench_result *ret)
{
	double executed = ret->cost.executed;
	struct profile profile;

	profile_attach(&profile, ops);
	for (size_t i = 0; i < s->warmup + s->steps; i++) {
		double before = step_peak(ops), start = clock_seconds(), seconds, after, peak;

		profile_reset(&profile);
		b->dropout_seed = i;
		ret->loss = one_step(m, o, b, ops);
		seconds = clock_seconds() - start;
		after = step_peak(ops);
		peak = before > after ? before : after;
		bound_step(s, ops, i >= s->warmup, ret);
		if (i < s->warmup)
			continue;
		ret->seconds[i - s->warmup] = seconds;
		ret->peaks[i - s->warmup] = peak;
		ret->shares[i - s->warmup] = peak > 0 ? executed / seconds / peak : 0;
		bench_layers_take(&ret->layers, &profile, seconds, peak);
	}
	profile_detach(&profile, ops);
}

static void measure(const struct settings *s, const struct model_config *c, struct recompute again,
                    struct ops *ops, struct bench_result *ret)
{
	static const struct optimizer_options adamw = {.kind = OPTIMIZER_ADAMW,
	                                               .lr = 1e-5,
	                                               .beta1 = 0.9,
	                                               .beta2 = 0.999,
	                                               .eps = 1e-8,
	                                               .weight_decay = 0.1};
	struct inputs in = make_inputs(c, s->batch, strcmp(s->config, "full") != 0);
	struct model *m = model_new(c, ops);
	struct optimizer o;

	model_set_recompute(m, again);
	model_init(m, 1);
	model_set_training(m, true);
	optimizer_init(&o, &adamw, model_params(m), ops);
	ret->n = s->steps;
	ret->seconds = mem_calloc(s->steps, sizeof(ret->seconds[0]));
	ret->peaks = mem_calloc(s->steps, sizeof(ret->peaks[0]));
	ret->shares = mem_calloc(s->steps, sizeof(ret->shares[0]));
	ret->cost = model_cost(c, &in.batch);
	bench_layers_init(&ret->layers, s->steps);
	measure_steps(s, m, &o, &in.batch, ops, ret);
	bench_middle(ret->seconds, ret->n);
	bench_middle(ret->shares, ret->n);
	ret->peak = bench_middle(ret->peaks, ret->n);
	ret->scores = count_scores(c, &in.batch, strcmp(s->path, "plain") == 0);
	ret->parameters = model_params(m)->n_params;
	ret->workspace = model_workspace_bytes(m);
	optimizer_done(&o);
	model_free(m);
	free_inputs(&in);
}

static void add_number(struct jsonw *w, const char *key, double value)
{
	jsonw_key(w, key);
	jsonw_double(w, value);
}

static void add_int(struct jsonw *w, const char *key, size_t value)
{
	jsonw_key(w, key);
	jsonw_int(w, (int64_t)value);
}

static void report_json(const struct settings *s, struct bench_result *r, const struct ops *ops,
                        struct strbuf *sb)
{
	double median = r->seconds[r->n / 2];
	struct jsonw w;

	jsonw_init(&w, sb, true);
	jsonw_begin_object(&w);
	jsonw_key(&w, "config");
	jsonw_string(&w, s->config);
	add_number(&w, "steps_per_second", 1 / median);
	add_number(&w, "clips_per_second", (double)s->batch / median);
	add_number(&w, "best_steps_per_second", 1 / r->seconds[0]);
	add_number(&w, "gflops", r->cost.executed / median / 1e9);
	add_number(&w, "peak_gflops", r->peak / 1e9);
	add_number(&w, "share_of_peak", r->shares[r->n / 2]);
	add_number(&w, "least_share_of_peak", r->shares[0]);
	add_number(&w, "greatest_share_of_peak", r->shares[r->n - 1]);
	add_number(&w, "gflop_per_step", r->cost.executed / 1e9);
	add_number(&w, "gflop_per_step_unfolded", r->cost.plain / 1e9);
	add_int(&w, "peak_rss_bytes", (size_t)r->rss);
	add_int(&w, "workspace_bytes", r->workspace);
	add_int(&w, "parameters", r->parameters);
	add_int(&w, "batch_size", s->batch);
	add_int(&w, "steps", r->n);
	add_number(&w, "loss", r->loss);
	jsonw_key(&w, "precision");
	jsonw_string(&w, ops_precision(ops));
	jsonw_key(&w, "isa");
	jsonw_string(&w, ops_isa(ops));
	add_int(&w, "threads", ops_threads(ops));
	jsonw_key(&w, "layers");
	bench_layers_json(&r->layers, &w);
	jsonw_end_object(&w);
}

static void report_text(const struct settings *s, struct bench_result *r, const struct ops *ops,
                        struct strbuf *sb)
{
	double median = r->seconds[r->n / 2];

	strbuf_addf(sb,
	            "config %s, batch %llu, %s, %s, %u threads: %.3f steps/s (median of %zu; best "
	            "%.3f)\n%.1f GFLOP a step (%.0f if keys and values were formed), %.0f GFLOP/s; "
	            "peak memory %.0f MB\nof the peak before and after each step: %.1f %% (median; "
	            "%.1f to %.1f %%); the peak was %.0f to %.0f GFLOP/s\n",
	            s->config, (unsigned long long)s->batch, ops_isa(ops), ops_precision(ops),
	            ops_threads(ops), 1 / median, r->n, 1 / r->seconds[0], r->cost.executed / 1e9,
	            r->cost.plain / 1e9, r->cost.executed / median / 1e9, (double)r->rss / 1e6,
	            100 * r->shares[r->n / 2], 100 * r->shares[0], 100 * r->shares[r->n - 1],
	            r->peaks[0] / 1e9, r->peaks[r->n - 1] / 1e9);
	bench_layers_text(&r->layers, sb);
}

static int print(const struct strbuf *sb, struct err *err)
{
	if (fputs(strbuf_str(sb), stdout) == EOF || fflush(stdout) != 0)
		return err_set(err, ERR_IO, "write standard output");
	return 0;
}

/* The one thing here that is measured on any device. */
static int time_products(const struct settings *s, struct err *err)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);
	struct ops_options options = {.isa = s->isa, .n_threads = (unsigned)s->threads};
	char name[DEVICE_NAME_MAX];
	struct model_config c;
	struct bench_products b = {&c, s->products, strcmp(s->output, "json") == 0};
	struct ops ops;
	int rc;

	if (read_config(s, &c, err) != 0 ||
	    precision_parse(s->precision, &options.precision, err) != 0 ||
	    gemm_choice_parse(s->gemm, &options.gemm, err) != 0 ||
	    device_open(&(struct device_choice){s->device, 0}, &options, &ops, name, err) != 0)
		return -1;
	rc = bench_products(&b, &ops, &sb, err);
	ops_done(&ops);
	return rc == 0 ? print(&sb, err) : -1;
}

/* The loops have the shapes of the full configuration alone. */
static int check_bounds(const struct settings *s, struct err *err)
{
	if (!s->bounds || (strcmp(s->config, "full") == 0 && s->latents == 0 && s->frames == 0))
		return 0;
	err_set(err, ERR_USAGE,
	        "--bounds: what bounds a part is known of the full configuration alone");
	return err_hint(err, "Leave --config, --latents and --frames out, or --bounds.");
}

static int bench(const struct settings *s, struct err *err)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);
	struct ops_options options = {.isa = s->isa,
	                              .n_threads = (unsigned)s->threads,
	                              .plain_cross = strcmp(s->path, "plain") == 0,
	                              .reference = strcmp(s->path, "reference") == 0};
	struct bench_result outcome = {0};
	struct recompute again;
	struct model_config c;
	struct ops ops;

	if (check_bounds(s, err) != 0 || read_config(s, &c, err) != 0 ||
	    recompute_parse(s->recompute, &again, err) != 0 ||
	    precision_parse(s->precision, &options.precision, err) != 0 ||
	    ops_require(&options, &ops, err) != 0)
		return -1;
	if (s->shapes && !options.reference) {
		bench_shapes(&ops, &c, s->batch, 1025, strcmp(s->output, "json") == 0, &sb);
		ops_done(&ops);
		return print(&sb, err);
	}
	measure(s, &c, again, &ops, &outcome);
	if (strcmp(s->output, "json") == 0)
		report_json(s, &outcome, &ops, &sb);
	else
		report_text(s, &outcome, &ops, &sb);
	if (outcome.bounds != NULL)
		bench_bounds_text(outcome.bounds, &outcome.layers, &outcome.scores, outcome.peak,
		                  &sb);
	bench_bounds_free(outcome.bounds);
	ops_done(&ops);
	bench_layers_done(&outcome.layers);
	free(outcome.seconds);
	free(outcome.peaks);
	free(outcome.shares);
	return print(&sb, err);
}

int cmd_bench(int argc, char **argv)
{
	static const struct flag_table options = {rows, ARRAY_LEN(rows), "bench"};
	struct settings s = {.config = "full",
	                     .output = "text",
	                     .path = "fast",
	                     .precision = "f32",
	                     .recompute = "none",
	                     .device = "cpu",
	                     .gemm = "auto",
	                     .steps = 10,
	                     .warmup = 2,
	                     .batch = 1};
	struct err err = {0};
	int status =
		cmd_parse("Measures training steps (forward, backward, AdamW) on random clips.",
	                  &options, argc, argv, &s);

	if (status >= 0)
		return status;
	s.steps = s.steps > 0 ? s.steps : 1;
	s.batch = s.batch > 0 ? s.batch : 1;
	s.bounds = s.bounds && strcmp(s.output, "json") != 0;
	return (s.products > 0 ? time_products : bench)(&s, &err) == 0 ? RUN_EXIT_DONE
	                                                               : cmd_fail(&err);
}
