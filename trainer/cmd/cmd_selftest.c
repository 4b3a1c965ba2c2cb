#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "trainer/cmd/cmd.h"
#include "trainer/cmd/golden.h"
#include "trainer/device/devices.h"

/* The options of both commands. */
struct selftest_options {
	const char *golden, *out, *device, *isa, *path, *precision, *gemm;
	uint64_t threads;
};

#define TEXT(name, member, help) FLAG_ROW_TEXT(struct selftest_options, name, member, help)

/* The last one is of `step` alone. */
static const struct flag_row option_rows[] = {
	TEXT("golden", golden, "the golden folder"),
	TEXT("path", path, "fast (default), plain (fast ops, keys and values formed) or reference"),
	TEXT("device", device, "what computes: " DEVICE_HELP),
	TEXT("isa", isa, CMD_ISA_HELP),
	TEXT("precision", precision,
             "f32 (default), bf16, or tf32 or f16 on a GPU; each has its own tolerances"),
	TEXT("gemm", gemm, "what computes a GPU's products: auto (default), own or cublaslt"),
	FLAG_ROW_COUNT(struct selftest_options, "threads", threads, 1024,
                       "threads (default: one per usable CPU)"),
	TEXT("out", out, "the folder to write"),
};

#undef TEXT

static int open_ops(const struct selftest_options *s, struct ops *ret,
                    char ret_device[DEVICE_NAME_MAX], struct err *err)
{
	struct ops_options options = {.isa = s->isa, .n_threads = (unsigned)s->threads};

	if (strcmp(s->path, "reference") == 0)
		options.reference = true;
	else if (strcmp(s->path, "plain") == 0)
		options.plain_cross = true;
	else if (strcmp(s->path, "fast") != 0)
		return err_set(err, ERR_USAGE,
		               "--path is '%.60s', expected fast, plain or reference", s->path);
	if (precision_parse(s->precision, &options.precision, err) != 0 ||
	    gemm_choice_parse(s->gemm, &options.gemm, err) != 0)
		return -1;
	return device_open(&(struct device_choice){s->device, 0}, &options, ret, ret_device, err);
}

static void print_report(const struct golden_report *r, const struct ops *ops, const char *device)
{
	AUTO(strbuf) struct strbuf computes = STRBUF_INIT(256);
	AUTO(strbuf) struct strbuf products = STRBUF_INIT(4096);

	printf("%-20s %12s %12s  %-4s  %s\n", "compared", "error", "limit", "",
	       "nearest to its limit");
	for (size_t i = 0; i < r->n; i++)
		printf("%-20s %12.3e %12.3e  %-4s  %s (%zu compared)\n", r->checks[i].kind,
		       r->checks[i].error, r->checks[i].limit, r->checks[i].failed ? "FAIL" : "ok",
		       r->checks[i].worst, r->checks[i].tensors);
	ops_describe(ops, &computes);
	ops_products(ops, &products);
	printf("selftest: %s (%s: %s%s%s)\n", r->failed ? "failed" : "passed", device,
	       strbuf_str(&computes), products.len > 0 ? ", products by " : "",
	       strbuf_str(&products));
}

static int selftest(const struct selftest_options *s, struct err *err)
{
	struct golden g;
	struct ops ops;
	struct golden_report report;
	char device[DEVICE_NAME_MAX];
	int rc;

	if (open_ops(s, &ops, device, err) != 0)
		return -1;
	if (golden_open(s->golden, &g, err) != 0) {
		ops_done(&ops);
		return -1;
	}
	rc = golden_compare(&g, &ops, &report, err);
	if (rc == 0) {
		print_report(&report, &ops, device);
		rc = report.failed ? 1 : 0;
	}
	golden_done(&g);
	ops_done(&ops);
	return rc;
}

static int write_file(void *ctx, const char *file, const struct st_item *items, size_t n,
                      struct err *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s.safetensors", (const char *)ctx, file);
	return st_write(path, items, n, err);
}

static void print_losses(const struct golden *g, const struct golden_result *r, struct strbuf *sb)
{
	struct jsonw w;

	jsonw_init(&w, sb, true);
	jsonw_begin_object(&w);
	jsonw_key(&w, "runs");
	jsonw_begin_object(&w);
	for (size_t run = 0; run < GOLDEN_RUNS; run++) {
		jsonw_key(&w, g->runs[run].name);
		jsonw_begin_array(&w);
		for (size_t s = 0; s < GOLDEN_STEPS; s++) {
			const struct losses *l = &r->losses[run][s];
			const struct {
				const char *key;
				double value;
			} rows[] = {{"loss", l->total},
			            {"image", l->image},
			            {"audio", l->audio},
			            {"label", l->label},
			            {"grad_norm", r->norms[run][s]}};

			jsonw_begin_object(&w);
			for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
				jsonw_key(&w, rows[i].key);
				jsonw_double(&w, rows[i].value);
			}
			jsonw_end_object(&w);
		}
		jsonw_end_array(&w);
	}
	jsonw_end_object(&w);
	jsonw_end_object(&w);
}

static int write_expected(const struct golden *g, const struct golden_result *r, const char *dir,
                          struct err *err)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);
	char path[PATH_MAX + 32];
	FILE *f;
	bool ok;

	print_losses(g, r, &sb);
	snprintf(path, sizeof(path), "%s/expected.json", dir);
	f = fopen(path, "we");
	if (f == NULL)
		return err_set(err, ERR_IO, "create '%s'", path);
	ok = fwrite(sb.ptr, 1, sb.len, f) == sb.len;
	ok = fclose(f) == 0 && ok;
	return ok ? 0 : err_set(err, ERR_IO, "write '%s'", path);
}

static int step(const struct selftest_options *s, struct err *err)
{
	struct golden g;
	struct ops ops;
	struct golden_result result = {0};
	char dir[PATH_MAX], device[DEVICE_NAME_MAX];
	struct golden_sink sink = {write_file, dir};
	int rc;

	snprintf(dir, sizeof(dir), "%s", s->out);
	if (mkdir(dir, 0777) != 0 && errno != EEXIST)
		return err_set(err, ERR_IO, "create folder '%s'", dir);
	if (open_ops(s, &ops, device, err) != 0)
		return -1;
	if (golden_open(s->golden, &g, err) != 0) {
		ops_done(&ops);
		return -1;
	}
	rc = golden_run(&g, &ops, &sink, &result, err);
	if (rc == 0)
		rc = write_expected(&g, &result, dir, err);
	golden_done(&g);
	ops_done(&ops);
	return rc;
}

static int run_check(const char *name, const char *purpose,
                     int (*work)(const struct selftest_options *s, struct err *err), int argc,
                     char **argv)
{
	struct selftest_options s = {
		.device = "auto", .path = "fast", .precision = "f32", .gemm = "auto"};
	bool writes = strcmp(name, "step") == 0;
	const struct flag_table options = {option_rows, ARRAY_LEN(option_rows) - !writes, name};
	struct err err = {0};
	int rc = cmd_parse(purpose, &options, argc, argv, &s);

	if (rc >= 0)
		return rc;
	if (s.golden == NULL || (writes && s.out == NULL)) {
		fprintf(stderr, "slipway-trainer: error: %s needs --golden DIR%s\n", name,
		        writes ? " and --out DIR" : "");
		return RUN_EXIT_USAGE;
	}
	rc = work(&s, &err);
	return rc < 0 ? cmd_fail(&err) : rc;
}

int cmd_selftest(int argc, char **argv)
{
	return run_check(
		"selftest",
		"Runs a golden folder's steps and prints the largest error of each kind against "
		"it;\nfails beyond the tolerances of float32 arithmetic.",
		selftest, argc, argv);
}

int cmd_step(int argc, char **argv)
{
	return run_check(
		"step",
		"Runs a golden folder's steps and writes activations, logits, gradients and "
		"weights\nunder the folder's own file names, so that another program can compare.",
		step, argc, argv);
}
