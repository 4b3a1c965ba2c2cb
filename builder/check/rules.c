#include "builder/check/rules.h"

#include <stdarg.h>
#include <string.h>

#include "builder/check/allow.h"
#include "builder/layer/elf/elf_search.h"

#define RULE_ROW(id, name, severity, summary, check) {name, severity, summary, check},
const struct rule rules[] = {CHECK_RULES(RULE_ROW)};
_Static_assert(ARRAY_LEN(rules) == RULES, "rules[]: one row in CHECK_RULES for each check rule");

#define RULE_TEXTS(id, name, severity, summary, check)                                             \
	_Static_assert(sizeof("" name) > 1 && sizeof("" summary) > 1,                              \
	               "rules[]: a check rule has a name and a summary: " #id);
CHECK_RULES(RULE_TEXTS)

#define RULE_NAME(id, name, ...) name,
const char *const check_rule_names[] = {CHECK_RULES(RULE_NAME)};
const size_t check_rule_count = ARRAY_LEN(check_rule_names);

struct rule_place rule_place_of(struct check_image *image, const struct view_node *n)
{
	struct view *v = &image->view;

	budget_spend_arena(v->budget, v->arena, &v->arena_mark);
	return (struct rule_place){n->layer, budget_exceeded(v->budget) ? NULL : view_path(v, n)};
}

/* "linux/arm64: layer 2 'runtime': /usr/bin/x: " */
static void place_text(const struct check_image *image, struct rule_place place, struct strbuf *sb)
{
	strbuf_adds(sb, image->platform_name);
	if (place.layer < image->manifest.n_layers) {
		const char *name = strmap_get(&image->manifest.layers[place.layer].annotations,
		                              ANNOTATION_LAYER_NAME);

		strbuf_addf(sb, ": layer %zu", place.layer + 1);
		if (name != NULL)
			strbuf_addf(sb, " '%s'", name);
	}
	if (place.path != NULL)
		strbuf_addf(sb, ": %s%s", place.path[0] == '/' ? "" : "/", place.path);
	strbuf_adds(sb, ": ");
}

/* Where the spec says what a layer of our own is made from. */
static struct srcpos layer_at(const struct check_image *image, size_t layer)
{
	const struct check_at *at = &image->run->opts->at;
	const char *name = layer < image->manifest.n_layers
	                           ? strmap_get(&image->manifest.layers[layer].annotations,
	                                        ANNOTATION_LAYER_NAME)
	                           : NULL;

	for (size_t i = 0; name != NULL && i < at->n_layers; i++)
		if (strcmp(at->layers[i].name, name) == 0 && !rule_layer_of_base(image, layer))
			return at->layers[i].at;
	return (struct srcpos){0};
}

struct diag *rule_report_as(struct check_image *image, enum rule_id id, enum diag_severity severity,
                            struct rule_place place, const char *text)
{
	struct check_run *run = image->run;
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(16 << 10);
	struct diag *diag;

	if (run->off[id] || allow_place(image, id, place))
		return NULL;
	if (++image->n_reports[id] > RULE_REPORTS_MAX) {
		if (severity == DIAG_ERROR)
			run->n_hidden_errors++;
		return NULL;
	}
	place_text(image, place, &sb);
	strbuf_adds(&sb, text);
	diag = diags_add(run->diags, severity, layer_at(image, place.layer), "%s", strbuf_str(&sb));
	diag_rule(run->diags, diag, rules[id].name);
	return diag;
}

struct diag *rule_report(struct check_image *image, enum rule_id id, struct rule_place place,
                         const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return rule_report_as(image, id, rules[id].severity, place, text);
}

void rule_hint(struct check_image *image, struct diag *diag, const char *hint)
{
	if (diag != NULL)
		diag_hint(image->run->diags, diag, "%s", hint);
}

void rule_at(struct diag *diag, struct srcpos at)
{
	if (diag != NULL && at.file != NULL)
		diag->at = at;
}

void rule_report_left_out(struct check_image *image)
{
	for (size_t id = 0; id < RULES; id++) {
		struct diag *diag;

		if (image->n_reports[id] <= RULE_REPORTS_MAX)
			continue;
		diag = diags_add(image->run->diags, DIAG_NOTE, (struct srcpos){0},
		                 "%s: %zu more of %s", image->platform_name,
		                 image->n_reports[id] - RULE_REPORTS_MAX, rules[id].name);
		diag_rule(image->run->diags, diag, rules[id].name);
	}
}

bool rule_provided(const struct check_image *image, const char *soname)
{
	return elf_search_provided(&image->run->opts->provided, soname);
}

const char *rule_env(const struct check_image *image, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < image->env.n; i++)
		if (strncmp(image->env.at[i], name, n) == 0 && image->env.at[i][n] == '=')
			return image->env.at[i] + n + 1;
	return NULL;
}

bool rule_layer_of_base(const struct check_image *image, size_t layer)
{
	const struct descriptor *desc = &image->manifest.layers[layer];
	const struct strlist *base = &image->run->opts->base_layers;
	char text[DIGEST_TEXT_MAX];

	digest_text(&desc->digest, text);
	for (size_t i = 0; i < base->n; i++)
		if (strcmp(base->at[i], text) == 0)
			return true;
	return base->n == 0 &&
	       strmap_get(&image->manifest.annotations, ANNOTATION_BASE_DIGEST) != NULL &&
	       strmap_get(&desc->annotations, ANNOTATION_LAYER_NAME) == NULL;
}
