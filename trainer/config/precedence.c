/*
 * Which value of an option counts: the layers, weakest first, written over each other in order.
 */
#include <string.h>

#include "base/slurp.h"
#include "trainer/config/flags.h"
#include "trainer/config/flat_yaml.h"

enum { OPTIONS_BYTES_MAX = 1 << 20 };

/* ---- the presets ---- */

static const struct flag_preset {
	const char *preset, *option, *value;
} presets[] = {
	{"seeds", "label_mask_prob", "1"},
	{"seeds", "spike_factor", "10"},
	/* 512 audio points are single samples there; 32 patches of 16 decode as many. The warm-up
	 * is 1000 steps of 28125, the cosine the second half. */
	{"paper", "audio_points", "32"},
	{"paper", "label_mask_prob", "0.5"},
	{"paper", "lr", "5e-4"},
	{"paper", "schedule", "cosine"},
	{"paper", "warmup_share", "0.0355"},
	{"paper", "decay_share", "0.5"},
	{"paper", "spike_factor", "10"},
};

/* What --augment stands for: of the same layer, beside any preset. */
static const struct flag_preset augment[] = {
	{"augment", "augment_offset", "1"},
	{"augment", "augment_crop", "0.8"},
	{"augment", "augment_flip", "0.5"},
	{"augment", "augment_gain", "6"},
};

static void mark(struct train_flags *f, const char *name, enum flag_layer layer, const char *where)
{
	const struct flag_table *t = train_flags_table();

	f->origins[flag_table_find(t, name) - t->rows] = (struct flag_origin){layer, where};
}

static int set(struct train_flags *f, const char *name, const char *text, enum flag_layer layer,
               const char *where, struct err *err)
{
	if (flag_table_set(train_flags_table(), name, text, f, err) != FLAGS_READ)
		return -1;
	mark(f, flag_table_find(train_flags_table(), name)->name, layer, where);
	return 0;
}

/* The rows of that name; false when there are none. */
static bool apply_rows(struct train_flags *f, const struct flag_preset *rows, size_t n,
                       const char *name)
{
	struct err err = {0};
	bool known = false;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(rows[i].preset, name) != 0)
			continue;
		known = true;
		if (set(f, rows[i].option, rows[i].value, LAYER_PRESET, rows[i].preset, &err) != 0)
			BUG("preset %s: %s", name, err.msg);
	}
	return known;
}

static int apply_preset(struct train_flags *f, const char *preset, struct err *err)
{
	if (!apply_rows(f, presets, ARRAY_LEN(presets), preset))
		return err_set(err, ERR_USAGE, "--preset is '%.60s', expected seeds or paper",
		               preset);
	return 0;
}

/* ---- the options file ---- */

struct file_reader {
	struct train_flags *f;
	const char *path;
	unsigned line;
};

static void at_line(void *ctx, unsigned line)
{
	((struct file_reader *)ctx)->line = line;
}

static int set_from_file(void *ctx, const char *key, const char *text, struct err *err)
{
	struct file_reader *r = ctx;
	struct arena *a = &r->f->texts;

	if (strcmp(key, "options_file") == 0)
		return err_set(err, ERR_USAGE, "an options file cannot name another");
	return set(r->f, key, arena_strdup(a, text), LAYER_FILE,
	           arena_printf(a, "%s:%u", r->path, r->line), err);
}

static int apply_file(struct train_flags *f, const char *path, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	struct file_reader reader = {f, path, 0};
	struct flat_yaml_sink sink = {.value = set_from_file, .ctx = &reader, .at_line = at_line};

	if (path == NULL)
		return 0;
	if (slurp_file(path, OPTIONS_BYTES_MAX, &text, err) != 0)
		return err_wrap(err, "--options_file");
	if (flat_yaml_read(path, strbuf_str(&text), text.len, &sink, err) != 0) {
		err->code = ERR_USAGE;
		return err_hint(err, "It holds options without their dashes: `lr: 1e-4`. "
		                     "slipway-trainer train --help lists them.");
	}
	return 0;
}

/* ---- the environment and the words ---- */

static int apply_environment(struct train_flags *f, const char *(*look)(const char *name),
                             struct err *err)
{
	static const struct {
		const char *variable, *flag;
	} pairs[] = {{"DATASET_DIR", "dataset_dir"},
	             {"MAX_STEPS", "max_steps"},
	             {"BATCH_SIZE", "batch_size"},
	             {"METRICS_PORT", "metrics_port"}};

	for (size_t i = 0; look != NULL && i < ARRAY_LEN(pairs); i++) {
		const char *value = look(pairs[i].variable);

		if (value == NULL || *value == '\0')
			continue;
		if (set(f, pairs[i].flag, value, LAYER_ENVIRONMENT, pairs[i].variable, err) != 0)
			return err_wrap(err, "the environment's %s", pairs[i].variable);
	}
	return 0;
}

static int apply_words(struct train_flags *f, int argc, char **argv, struct strbuf *remarks,
                       bool *ret_help, struct err *err)
{
	const struct flag_table *t = train_flags_table();
	bool given[TRAIN_FLAGS_MAX] = {false};
	enum flag_end end = FLAGS_HELP;
	int at = 0;

	*ret_help = false;
	/* A bad word after --help is still an error. */
	while (end == FLAGS_HELP) {
		end = flag_table_read_given(t, argc, argv, &at, f, given, remarks, err);
		*ret_help = *ret_help || end == FLAGS_HELP;
	}
	if (end != FLAGS_READ)
		return -1;
	for (size_t i = 0; i < t->n; i++)
		if (given[i])
			f->origins[i] = (struct flag_origin){LAYER_FLAG, NULL};
	return 0;
}

/* The preset and the options file are named in layers above their own, so those are read twice. */
int train_flags_parse(int argc, char **argv, const char *(*look)(const char *name),
                      struct train_flags *ret, struct strbuf *remarks, bool *ret_help,
                      struct err *err)
{
	AUTO(strbuf) struct strbuf said_before = STRBUF_INIT(0);
	AUTO(train_flags) struct train_flags named = train_flags_defaults;
	AUTO(train_flags) struct train_flags filed = train_flags_defaults;
	AUTO(train_flags) struct train_flags f = train_flags_defaults;

	if (apply_words(&named, argc, argv, &said_before, ret_help, err) != 0 ||
	    apply_file(&filed, named.options_file, err) != 0)
		return -1;
	if (train_flags_origin(&named, "preset").layer != LAYER_FLAG)
		named.preset = filed.preset;
	if (apply_preset(&f, named.preset, err) != 0)
		return -1;
	if (named.augment || filed.augment)
		apply_rows(&f, augment, ARRAY_LEN(augment), "augment");
	if (apply_file(&f, named.options_file, err) != 0 || apply_environment(&f, look, err) != 0 ||
	    apply_words(&f, argc, argv, remarks, ret_help, err) != 0)
		return -1;
	*ret = f;
	f.texts = (struct arena){0};
	return 0;
}

void train_flags_done(struct train_flags *f)
{
	arena_done(&f->texts);
}

struct flag_origin train_flags_origin(const struct train_flags *f, const char *name)
{
	const struct flag_table *t = train_flags_table();

	return f->origins[flag_table_find(t, name) - t->rows];
}

void train_flags_settle_batch(struct train_flags *f, int64_t n, const char *why)
{
	const struct flag_table *t = train_flags_table();
	struct flag_origin *o = &f->origins[flag_table_find(t, "batch_size") - t->rows];

	f->batch_size = n;
	o->where = arena_printf(&f->texts, "%s, auto: %s", o->where != NULL ? o->where : "", why);
}

void train_flags_print(const struct train_flags *f, struct strbuf *sb)
{
	static const char *const layers[] = {"default", "preset ", "", "environment ", "flag"};
	const struct flag_table *t = train_flags_table();

	for (size_t i = 0; i < t->n; i++) {
		const struct flag_origin *o = &f->origins[i];
		char number[FLAG_TEXT_MAX];
		const char *text = flag_row_text(&t->rows[i], f, number);

		if (&f->attention_dropout ==
		            (const double *)((const char *)f + t->rows[i].offset) &&
		    f->attention_dropout < 0)
			text = "as the model's file says";
		strbuf_addf(sb, "%-28s %-26s %s%s\n", t->rows[i].name, *text != '\0' ? text : "-",
		            layers[o->layer], o->where != NULL ? o->where : "");
	}
}
