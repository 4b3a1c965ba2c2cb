/*
 * A run's record as text, and the comparison of two.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/fs.h"
#include "base/jsonr.h"
#include "base/jsonw.h"
#include "base/slurp.h"
#include "base/text.h"
#include "trainer/session/run.h"

static const char format_name[] = "slipway-run/v1", file_name[] = "run.json";

enum { RECORD_BYTES_MAX = 1 << 20, ID_BYTES = 16 };

void run_record_add(struct run_record *r, const char *name, const char *value)
{
	struct run_setting s = {mem_strdup(name), mem_strdup(value)};

	vec_push(&r->settings, s);
}

const char *run_record_get(const struct run_record *r, const char *name)
{
	for (size_t i = 0; i < r->settings.n; i++)
		if (strcmp(r->settings.at[i].name, name) == 0)
			return r->settings.at[i].value;
	return NULL;
}

void run_record_done(struct run_record *r)
{
	for (size_t i = 0; i < r->settings.n; i++) {
		free(r->settings.at[i].name);
		free(r->settings.at[i].value);
	}
	vec_done(&r->settings);
}

int run_record_begin(struct run_record *r, struct err *err)
{
	unsigned char bytes[ID_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return err_set(err, ERR_IO, "draw a run's identity");
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(r->id + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

void run_record_print(const struct run_record *r, struct strbuf *sb)
{
	struct jsonw w;

	jsonw_init(&w, sb, true);
	jsonw_begin_object(&w);
	jsonw_key(&w, "format");
	jsonw_string(&w, format_name);
	jsonw_key(&w, "id");
	jsonw_string(&w, r->id);
	jsonw_key(&w, "overwrites");
	jsonw_bool(&w, r->overwrites);
	jsonw_key(&w, "settings");
	jsonw_begin_object(&w);
	for (size_t i = 0; i < r->settings.n; i++) {
		jsonw_key(&w, r->settings.at[i].name);
		jsonw_string(&w, r->settings.at[i].value);
	}
	jsonw_end_object(&w);
	jsonw_end_object(&w);
}

static int fill(const char *what, const struct jsonr *doc, struct run_record *r, struct err *err)
{
	const struct jsonr_node *format = jsonr_get(doc, doc->nodes, "format");
	const struct jsonr_node *id = jsonr_get(doc, doc->nodes, "id");
	const struct jsonr_node *overwrites = jsonr_get(doc, doc->nodes, "overwrites");
	const struct jsonr_node *settings = jsonr_get(doc, doc->nodes, "settings"), *s;

	if (format == NULL || format->type != JSONR_STRING ||
	    strcmp(format->string, format_name) != 0 || id == NULL || id->type != JSONR_STRING ||
	    strlen(id->string) >= sizeof(r->id) || settings == NULL ||
	    settings->type != JSONR_OBJECT)
		return err_set(err, ERR_FORMAT, "'%s' is not the record of a run", what);
	snprintf(r->id, sizeof(r->id), "%s", id->string);
	r->overwrites =
		overwrites != NULL && overwrites->type == JSONR_BOOL && overwrites->number != 0;
	s = jsonr_first(doc, settings);
	for (size_t i = 0; i < settings->n; i++, s = jsonr_next(doc, s)) {
		if (s->type != JSONR_STRING)
			return err_set(err, ERR_FORMAT, "'%s': setting '%.80s' is not a text", what,
			               s->key);
		run_record_add(r, s->key, s->string);
	}
	return 0;
}

int run_record_parse(const char *what, const char *text, size_t len, struct run_record *ret,
                     struct err *err)
{
	AUTO(jsonr) struct jsonr doc = {0};
	struct run_record r = {0};

	if (jsonr_parse(what, text, len, &doc, err) != 0)
		return -1;
	if (fill(what, &doc, &r, err) != 0) {
		run_record_done(&r);
		return -1;
	}
	*ret = r;
	return 0;
}

int run_record_read(const char *folder, struct run_record *ret, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	char path[PATH_MAX];

	if (fs_join(path, folder, file_name, err) != 0 ||
	    slurp_file(path, RECORD_BYTES_MAX, &text, err) != 0)
		return -1;
	return run_record_parse(path, strbuf_str(&text), text.len, ret, err);
}

int run_record_write(const char *folder, const struct run_record *r, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(RECORD_BYTES_MAX);
	char path[PATH_MAX];

	if (fs_join(path, folder, file_name, err) != 0)
		return -1;
	run_record_print(r, &text);
	return fs_write_file(path, strbuf_str(&text), text.len, 0644, err);
}

/* ---- comparison ---- */

/* Settings without which the numbers drawn, the weights' table or the clips would be others; names
 * that begin with "model." are of this kind too. */
static const char *const fixed[] = {"dataset", "dataset_clips", "dataset_sha256", "classes",
                                    "seed",    "optimizer",     "balanced"};
/* Compared together, see same_batch. */
static const char *const batch[] = {"batch_size", "accumulate", "ranks"};

static bool among(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static int64_t number(const struct run_record *r, const char *name)
{
	const char *text = run_record_get(r, name);
	int64_t value;

	return text != NULL && text_int64(text, strlen(text), &value) ? value : 0;
}

static bool same_batch(const struct run_record *then, const struct run_record *now)
{
	int64_t clips[2] = {1, 1};
	bool same_each = true;

	if (run_record_get(then, "batch_size") == NULL)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(batch); i++) {
		int64_t a = number(then, batch[i]), b = number(now, batch[i]);

		if (__builtin_mul_overflow(clips[0], a, &clips[0]) ||
		    __builtin_mul_overflow(clips[1], b, &clips[1]))
			return false;
		if (strcmp(batch[i], "ranks") != 0)
			same_each = same_each && a == b;
	}
	return same_each || clips[0] == clips[1];
}

/* "batch_size was 2 and is 4" */
static void add_difference(struct strbuf *sb, const struct run_setting *s, const char *was)
{
	strbuf_addf(sb, "%s%s was %.80s and is %.80s", sb->len > 0 ? ", " : "", s->name, was,
	            s->value);
}

int run_record_compare(const struct run_record *then, const struct run_record *now,
                       const char *folder, struct strbuf *remarks, struct err *err)
{
	AUTO(strbuf) struct strbuf wrong = STRBUF_INIT(0);
	AUTO(strbuf) struct strbuf changed = STRBUF_INIT(0);
	bool batch_is_same = same_batch(then, now);

	for (size_t i = 0; i < now->settings.n; i++) {
		const struct run_setting *s = &now->settings.at[i];
		const char *was = run_record_get(then, s->name);
		bool of_batch = among(s->name, batch, ARRAY_LEN(batch));
		bool refused = (of_batch && !batch_is_same) ||
		               among(s->name, fixed, ARRAY_LEN(fixed)) ||
		               text_has_prefix(s->name, "model.");

		if (was != NULL && strcmp(was, s->value) != 0)
			add_difference(refused ? &wrong : &changed, s, was);
	}
	if (changed.len > 0)
		strbuf_addf(remarks, "resuming with other settings: %s\n", strbuf_str(&changed));
	if (wrong.len == 0)
		return 0;
	err_set(err, ERR_USAGE, "'%s' cannot be resumed with other settings: %.600s", folder,
	        strbuf_str(&wrong));
	return err_hint(err, "Give the settings it was begun with, or another --output_dir; "
	                     "--init_from takes the weights alone, --overwrite begins anew there.");
}
