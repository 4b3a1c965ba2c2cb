#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "trainer/cmd/cmd.h"
#include "trainer/neuron/find.h"
#include "trainer/neuron/fit.h"
#include "trainer/neuron/limits.h"
#include "trainer/neuron/report.h"
#include "trainer/session/plan.h"

struct compile_flags {
	const char *cache_dir, *target, *use, *compiler, *emit_hlo;
	int64_t ranks, timeout;
	bool retry_failed, report, check, any_size;
};

static const struct flag_row rows[] = {
	FLAG_ROW_TEXT(struct compile_flags, "cache_dir", cache_dir,
                      "folder of compiled modules; train reads it"),
	FLAG_ROW_TEXT(struct compile_flags, "target", target,
                      "trn1 (default), trn1n, inf2 or trn2: what will run them"),
	FLAG_ROW_TEXT(struct compile_flags, "for", use,
                      "train (default), eval, classify or sample: the command that will run them"),
	FLAG_ROW_TEXT(struct compile_flags, "compiler", compiler,
                      "the compiler's program (default: neuronx-cc on PATH)"),
	FLAG_ROW_INT(struct compile_flags, "ranks", ranks, 1, 4096,
                     "processes that sum their gradients (default 1)"),
	FLAG_ROW_INT(struct compile_flags, "compile_timeout", timeout, 0, 1 << 20,
                     "seconds for one module (default 0: as long as it takes)"),
	FLAG_ROW_SWITCH(struct compile_flags, "retry_failed", retry_failed,
                        "compile again what failed before"),
	FLAG_ROW_SWITCH(struct compile_flags, "any_size", any_size,
                        "compile also what, counted without a compiler's fusion, is more than a "
                        "core's memory"),
	FLAG_ROW_SWITCH(struct compile_flags, "report", report,
                        "show all modules of the configuration, how large they are and the least "
                        "time they could take, instead of compiling them"),
	FLAG_ROW_SWITCH(struct compile_flags, "check", check,
                        "compile nothing: fail where the cache lacks a module"),
	FLAG_ROW_TEXT(struct compile_flags, "emit_hlo", emit_hlo,
                      "folder to write the modules into, as protocol buffers and as text, "
                      "instead of compiling them"),
};

static const struct flag_table options = {rows, ARRAY_LEN(rows), "compile"};

static const char *const purpose =
	"Compiles the modules that a run executes on Trainium, ahead of it.\n"
	"All options of `train` are taken too: give the words of the run.";

/* ---- which words are whose ---- */

struct compile_words {
	char **own, **run; /* owned; what they point at is argv's */
	int n_own, n_run;
};

static void words_done(struct compile_words *w)
{
	free(w->own);
	free(w->run);
}

/* The row that a word names, "--target" or "--target=trn1". */
static const struct flag_row *row_of(const char *word)
{
	char name[64];
	size_t n;

	if (strncmp(word, "--", 2) != 0)
		return NULL;
	n = strcspn(word + 2, "=");
	if (n >= sizeof(name))
		return NULL;
	for (size_t i = 0; i < n; i++)
		name[i] = word[2 + i] == '-' ? '_' : word[2 + i];
	name[n] = '\0';
	return flag_table_find(&options, name);
}

static void split(int argc, char **argv, struct compile_words *ret)
{
	ret->own = mem_calloc((size_t)argc + 1, sizeof(char *));
	ret->run = mem_calloc((size_t)argc + 1, sizeof(char *));
	for (int i = 0; i < argc; i++) {
		const struct flag_row *row = row_of(argv[i]);

		if (row == NULL && strcmp(argv[i], "--help") != 0) {
			ret->run[ret->n_run++] = argv[i];
			continue;
		}
		ret->own[ret->n_own++] = argv[i];
		if (row != NULL && row->kind != VALUE_NONE && strchr(argv[i], '=') == NULL &&
		    i + 1 < argc)
			ret->own[ret->n_own++] = argv[++i];
	}
}

/* ---- the modules ---- */

static void say(void *ctx, const char *line)
{
	(void)ctx;
	fprintf(stderr, "slipway-trainer: %s\n", line);
	fflush(stderr);
}

static int write_file(const char *dir, const char *name, const char *end,
                      const struct strbuf *bytes, struct err *err)
{
	char file[64], path[PATH_MAX];

	snprintf(file, sizeof(file), "%s%s", name, end);
	return fs_join(path, dir, file, err) == 0
	               ? fs_write_file(path, bytes->ptr, bytes->len, 0644, err)
	               : -1;
}

/* The module's bytes, once they are seen to be within what AWS says of its compiler. */
static int encode(const struct neuron_net *n, const char *name, struct strbuf *ret_module,
                  struct err *err)
{
	struct neuron_checked ignored;

	neuron_write(n, name, ret_module, NULL);
	if (ret_module->overflow)
		return err_set(err, ERR_LIMIT, "the module %s is larger than 1 GiB", name);
	return neuron_check(name, ret_module->ptr, ret_module->len, &ignored, err);
}

static int emit(const char *dir, const struct neuron_net *n, const char *name, struct err *err)
{
	AUTO(strbuf) struct strbuf module = {0}, text = {0};

	neuron_write(n, name, &module, &text);
	if (fs_mkdirs(dir, err) != 0 || write_file(dir, name, ".hlo.pb", &module, err) != 0 ||
	    write_file(dir, name, ".hlo.txt", &text, err) != 0)
		return -1;
	printf("%s/%s.hlo.pb: %zu bytes, %zu values\n", dir, name, module.len, n->graph.nodes.n);
	return 0;
}

static int compile(const struct neuron_compiler *c, const char *cache, const struct neuron_net *n,
                   const char *name, struct err *err)
{
	AUTO(strbuf) struct strbuf module = {0};
	char neff[PATH_MAX];
	bool was_there = false;

	if (encode(n, name, &module, err) != 0 ||
	    neuron_compile(c, cache, name, &module, &was_there, neff, err) != 0)
		return -1;
	printf("%s: %s%s\n", name, neff, was_there ? " (was there)" : "");
	fflush(stdout);
	return 0;
}

/* Is it in the cache, whoever compiled it? */
static int look_for(const struct neuron_compiler *c, const char *cache, const struct neuron_net *n,
                    const char *name, struct err *err)
{
	AUTO(strbuf) struct strbuf module = {0};
	const char *flags[NEURON_FLAGS_MAX];
	char key[NEURON_KEY_MAX], neff[PATH_MAX];

	if (encode(n, name, &module, err) != 0)
		return -1;
	neuron_flags(c->target, flags);
	neuron_cache_key(&module, flags, key);
	if (neuron_cache_find(cache, key, neff, err) != 0)
		return err_wrap(err, "%s", name);
	printf("%s: %s (was there)\n", name, neff);
	return 0;
}

static int do_module(const struct compile_flags *f, const struct neuron_compiler *c,
                     const struct neuron_net *net, const char *name, struct err *err)
{
	if (f->emit_hlo != NULL)
		return emit(f->emit_hlo, net, name, err);
	return f->check ? look_for(c, f->cache_dir, net, name, err)
	                : compile(c, f->cache_dir, net, name, err);
}

static unsigned count(enum neuron_use use, enum neuron_module end)
{
	unsigned n = 0;

	for (enum neuron_module m = 0; m < end; m++)
		n += neuron_use_needs(use, m);
	return n;
}

static int each_module(const struct compile_flags *f, const struct neuron_compiler *c,
                       const struct neuron_run *run, enum neuron_use use, struct err *err)
{
	for (enum neuron_module m = 0; m < NEURON_MODULES; m++) {
		struct neuron_net net;
		const char *name = neuron_module_name(m);
		int rc;

		if (!neuron_use_needs(use, m))
			continue;
		neuron_module_build(run, m, &net);
		if (f->emit_hlo == NULL)
			fprintf(stderr, "slipway-trainer: module %u of %u: %s\n", count(use, m) + 1,
			        count(use, NEURON_MODULES), name);
		rc = do_module(f, c, &net, name, err);
		neuron_net_done(&net);
		if (rc != 0)
			return -1;
	}
	return 0;
}

static int print_report(const struct neuron_run *run, const struct neuron_target *target)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);

	neuron_report(run, target, &text);
	fputs(strbuf_str(&text), stdout);
	return 0;
}

/* How many clips a step has, where the words do not say it. */
static int settle(const struct neuron_target *target, struct neuron_run *run, struct err *err)
{
	size_t most = run->most_clips;

	if (run->step.batch > 0)
		return 0;
	if (neuron_fit(run, neuron_chip_of(target), err) != 0)
		return -1;
	if (run->step.batch != most)
		fprintf(stderr,
		        "slipway-trainer: --batch_size %sis %zu, by the memory of a core of %s\n",
		        most == 0 ? "auto " : "", run->step.batch, target->name);
	return 0;
}

/* What would be too large is not worth hours of compiling, nor a device that then cannot load it.
 */
static int check_size(const struct compile_flags *f, const struct neuron_target *target,
                      enum neuron_use use, struct neuron_run *run, struct err *err)
{
	if (settle(target, run, err) != 0)
		return -1;
	if (f->any_size || f->report || f->check || f->emit_hlo != NULL)
		return 0;
	return neuron_check_fit(run, use, neuron_chip_of(target), err);
}

static int compile_run(const struct compile_flags *f, const struct train_flags *flags,
                       struct err *err)
{
	AUTO(strbuf) struct strbuf remarks = STRBUF_INIT(1 << 20);
	struct neuron_compiler c = {.program = f->compiler,
	                            .timeout_s = (unsigned)f->timeout,
	                            .retry = f->retry_failed,
	                            .say = say};
	enum neuron_use use;
	struct neuron_run run;

	if (f->cache_dir == NULL && f->emit_hlo == NULL && !f->report)
		return err_set(err, ERR_USAGE,
		               "compile needs --cache_dir, or --emit_hlo or --report");
	if (neuron_target_find(f->target, &c.target, err) != 0 ||
	    neuron_use_find(f->use, &use, err) != 0 ||
	    session_neuron_run(flags, (unsigned)f->ranks, &run, &remarks, err) != 0)
		return -1;
	fputs(strbuf_str(&remarks), stderr);
	if (check_size(f, c.target, use, &run, err) != 0)
		return -1;
	if (f->report)
		return print_report(&run, c.target);
	if (f->emit_hlo == NULL && !f->check && neuron_compiler_open(&c, err) != 0)
		return -1;
	return each_module(f, &c, &run, use, err);
}

static const char *look(const char *name)
{
	return getenv(name);
}

static int parse_and_run(const struct compile_words *w, struct err *err)
{
	AUTO(train_flags) struct train_flags flags = {0};
	AUTO(strbuf) struct strbuf remarks = STRBUF_INIT(1 << 20);
	struct compile_flags f = {
		.target = "trn1", .use = "train", .compiler = "neuronx-cc", .ranks = 1};
	int status = cmd_parse(purpose, &options, w->n_own, w->own, &f);
	bool help;

	if (status >= 0)
		return status;
	if (train_flags_parse(w->n_run, w->run, look, &flags, &remarks, &help, err) != 0)
		return cmd_fail(err);
	fputs(strbuf_str(&remarks), stderr);
	interrupt_install();
	return compile_run(&f, &flags, err) == 0 ? RUN_EXIT_DONE : cmd_fail(err);
}

int cmd_compile(int argc, char **argv)
{
	struct compile_words w = {0};
	struct err err = {0};
	int status;

	split(argc, argv, &w);
	status = parse_and_run(&w, &err);
	words_done(&w);
	return status;
}
