/*
 * Secrets in what is not a file: every text of the configuration (environment, labels, commands,
 * history), and the annotations of manifest and indexes. What is recognised by its form is an
 * error; a name that promises a secret before a value that looks like one is a warning.
 */
#include <string.h>

#include "base/doc/json.h"
#include "builder/check/allow.h"
#include "builder/check/rules.h"
#include "builder/check/secret/stream.h"
#include "builder/check/secret/values.h"

enum { SUBJECT_MAX = 300, DEPTH_MAX = 16 };

struct document {
	struct check_image *image;
	struct secret_scanner scanner;
};

/* A text and where it stands: "env:NAME", "label:KEY", "history:3". */
struct secret_place {
	char subject[SUBJECT_MAX];
};

static struct secret_place place_of(const char *kind, const char *name, size_t len)
{
	struct secret_place at;

	snprintf(at.subject, sizeof(at.subject), "%s:%.*s", kind, len < 256 ? (int)len : 256, name);
	return at;
}

static void report(struct document *d, const struct secret_place *at, enum diag_severity severity,
                   const char *what)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(4 << 10);
	struct check_image *image = d->image;
	struct diag *diag;

	if (image->run->off[RULE_SECRET] ||
	    allow_finding(image->run, RULE_SECRET, at->subject, NULL))
		return;
	strbuf_addf(&sb, "%s: %s", at->subject, what);
	diag = rule_report_as(image, RULE_SECRET, severity, NO_PLACE, strbuf_str(&sb));
	if (strncmp(at->subject, "env:", 4) == 0)
		rule_at(diag, image->run->opts->at.env);
	strbuf_reset(&sb);
	strbuf_addf(&sb,
	            "everybody who can pull the image can read it: give it to the container when "
	            "it runs (a Secret, a mounted file); if it was ever pushed, revoke it; if it "
	            "is no secret: image.check.allow: [{rule: secret, path: '%s', reason: ...}]",
	            at->subject);
	rule_hint(image, diag, strbuf_str(&sb));
}

/* True when the text holds what is a secret by its form. */
static bool look_at_form(struct document *d, const struct secret_place *at, const char *text)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(512);
	bool any = false;

	secret_begin(&d->scanner, "");
	secret_feed(&d->scanner, text, strlen(text));
	secret_end(&d->scanner);
	for (int kind = 0; kind < SECRET_KINDS; kind++) {
		if (!d->scanner.found[kind])
			continue;
		any = true;
		strbuf_reset(&sb);
		strbuf_addf(&sb, "holds %s", secret_text((enum secret_kind)kind));
		report(d, at, secret_severity((enum secret_kind)kind), strbuf_str(&sb));
	}
	if (!any && secret_has_url_password(text, strlen(text))) {
		any = true;
		report(d, at, DIAG_WARNING, "holds a URL with a password");
	}
	return any;
}

/* A name with its value, as in the environment, labels and annotations. */
static void look_at_pair(struct document *d, const struct secret_place *at, const char *name,
                         size_t name_len, const char *value)
{
	if (!look_at_form(d, at, value) &&
	    secret_assignment_leaks(name, name_len, value, strlen(value)))
		report(d, at, DIAG_WARNING, "is named like a secret and has a value");
}

/* ---- commands: NAME=value, --name=value, --name value ---- */

static const char *skip_dashes(const char *word)
{
	return word + strspn(word, "-");
}

static bool word_leaks(const char *word, size_t len)
{
	const char *name = skip_dashes(word), *equals = memchr(word, '=', len);
	size_t skip = (size_t)(name - word);

	if (equals == NULL || equals < name || len < skip)
		return false;
	return secret_assignment_leaks(name, (size_t)(equals - name), equals + 1,
	                               len - (size_t)(equals + 1 - word));
}

/* Any word of a line, of a shell's or a Dockerfile's: "ARG TOKEN=x", "|1 TOKEN=x /bin/sh -c y". */
static bool line_leaks(const char *line)
{
	static const char blanks[] = " \t\r\n;\"'";

	while (*(line += strspn(line, blanks)) != '\0') {
		size_t len = strcspn(line, blanks);

		if (word_leaks(line, len))
			return true;
		line += len;
	}
	return false;
}

static void look_at_line(struct document *d, const struct secret_place *at, const char *line)
{
	if (!look_at_form(d, at, line) && line_leaks(line))
		report(d, at, DIAG_WARNING, "assigns a value to what is named like a secret");
}

/* An option and its value may be words of their own. */
static void look_at_words(struct document *d, const char *kind, const cJSON *words)
{
	const cJSON *word;
	const char *option = NULL;
	size_t i = 0;

	cJSON_ArrayForEach (word, words) {
		char number[24];
		struct secret_place at;

		snprintf(number, sizeof(number), "%zu", ++i);
		at = place_of(kind, number, strlen(number));
		if (!cJSON_IsString(word))
			continue;
		if (option != NULL && word->valuestring[0] != '-')
			look_at_pair(d, &at, option, strlen(option), word->valuestring);
		else
			look_at_line(d, &at, word->valuestring);
		option = strncmp(word->valuestring, "--", 2) == 0 ? skip_dashes(word->valuestring)
		                                                  : NULL;
	}
}

/* ---- the configuration ---- */

static void look_at_env(struct document *d, const char *kind, const cJSON *env)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, env) {
		const char *text = cJSON_IsString(item) ? item->valuestring : "";
		size_t len = strcspn(text, "=");
		const struct secret_place at = place_of(kind, text, len);

		if (text[len] != '=')
			continue;
		/* With its name: some forms are known by it. */
		if (!look_at_form(d, &at, text) &&
		    secret_assignment_leaks(text, len, text + len + 1, strlen(text + len + 1)))
			report(d, &at, DIAG_WARNING, "is named like a secret and has a value");
	}
}

static void look_at_labels(struct document *d, const char *kind, const cJSON *labels)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, labels) {
		const char *key = item->string != NULL ? item->string : "";
		const struct secret_place at = place_of(kind, key, strlen(key));

		if (cJSON_IsString(item))
			look_at_pair(d, &at, key, strlen(key), item->valuestring);
	}
}

/* All other texts, whatever they are for: "config:NAME". */
static void look_at_rest(struct document *d, const cJSON *node, const char *name, int depth)
{
	const cJSON *item;

	if (cJSON_IsString(node)) {
		const struct secret_place at = place_of("config", name, strlen(name));

		look_at_line(d, &at, node->valuestring);
	}
	if (depth == DEPTH_MAX || !(cJSON_IsObject(node) || cJSON_IsArray(node)))
		return;
	cJSON_ArrayForEach (item, node)
		look_at_rest(d, item, item->string != NULL ? item->string : name, depth + 1);
}

static const struct {
	const char *member, *kind;
	void (*look)(struct document *d, const char *kind, const cJSON *node);
} members[] = {
	{"Env", "env", look_at_env},
	{"Labels", "label", look_at_labels},
	{"Entrypoint", "entrypoint", look_at_words},
	{"Cmd", "cmd", look_at_words},
};

static void look_at_history(struct document *d, const cJSON *history)
{
	static const char *const texts[] = {"created_by", "comment", "author"};
	const cJSON *item;
	size_t n = 0;

	cJSON_ArrayForEach (item, history) {
		char number[24];

		snprintf(number, sizeof(number), "%zu", ++n);
		const struct secret_place at = place_of("history", number, strlen(number));

		for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
			const char *text = json_string(item, texts[i]);

			if (text != NULL)
				look_at_line(d, &at, text);
		}
	}
}

static void look_at_config(struct document *d)
{
	AUTO(json) cJSON *doc = NULL;
	struct err err = {0};
	const cJSON *item;
	cJSON *config;

	if (d->image->config_text == NULL || json_parse("configuration", d->image->config_text,
	                                                d->image->config_len, &doc, &err) != 0)
		return;
	look_at_history(d, json_get(doc, "history"));
	cJSON_DeleteItemFromObjectCaseSensitive(doc, "history");
	config = cJSON_GetObjectItemCaseSensitive(doc, "config");
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		members[i].look(d, members[i].kind, json_get(config, members[i].member));
		cJSON_DeleteItemFromObjectCaseSensitive(config, members[i].member);
	}
	cJSON_ArrayForEach (item, doc)
		look_at_rest(d, item, item->string, 0);
}

/* ---- annotations ---- */

static void look_at_map(struct document *d, const struct strmap *map)
{
	for (size_t i = 0; i < map->n; i++) {
		const char *key = map->at[i].key;
		const struct secret_place at = place_of("annotation", key, strlen(key));

		look_at_pair(d, &at, key, strlen(key), map->at[i].value);
	}
}

static void look_at_manifest(struct document *d, const struct manifest *m)
{
	look_at_map(d, &m->annotations);
	look_at_map(d, &m->config.annotations);
	for (size_t i = 0; i < m->n_layers; i++)
		look_at_map(d, &m->layers[i].annotations);
}

/* Those of the indexes concern all platforms: said with the first one. */
static void look_at_indexes(struct document *d)
{
	struct check_run *run = d->image->run;

	for (size_t i = 0; i < run->n_indexes && !run->indexes_reported; i++) {
		look_at_map(d, &run->indexes[i].annotations);
		for (size_t k = 0; k < run->indexes[i].n_manifests; k++)
			look_at_map(d, &run->indexes[i].manifests[k].annotations);
	}
	run->indexes_reported = true;
}

void rule_check_document_secrets(struct check_image *image)
{
	struct document d = {.image = image};

	if (image->run->off[RULE_SECRET])
		return;
	secret_init(&d.scanner);
	look_at_config(&d);
	look_at_manifest(&d, &image->manifest);
	look_at_indexes(&d);
	secret_done(&d.scanner);
}
