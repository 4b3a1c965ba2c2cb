#include "base/doc/fields_say.h"

#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

struct diag *fields_problem(struct fields_context *c, const struct yaml_node *node, const char *fmt,
                            ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return diags_add(c->diags, DIAG_ERROR, node->at, "%s", text);
}

/* ---- values ---- */

static const char *kind_name(const struct yaml_node *node)
{
	static const char *const names[] = {[YAML_SCALAR] = "a string",
	                                    [YAML_SEQUENCE] = "a list",
	                                    [YAML_MAPPING] = "a mapping"};

	return yaml_is_null(node) ? "nothing" : names[node->kind];
}

const char *fields_found(const struct yaml_node *node)
{
	return node->kind == YAML_SCALAR ? node->text : kind_name(node);
}

void fields_wrong_kind(struct fields_context *c, const struct yaml_node *node, const char *what,
                       const char *want, const char *hint)
{
	diags_error(c->diags, node->at, hint, "%s: expected %s, found %s", what, want,
	            kind_name(node));
}

/* "run --fast" as "run, --fast": what a shell would make of it. */
static void words_as_items(const char *text, struct strbuf *sb)
{
	static const char blanks[] = " \t\n";

	while (*(text += strspn(text, blanks)) != '\0') {
		size_t len = strcspn(text, blanks);

		strbuf_adds(sb, sb->len > 0 ? ", " : "");
		strbuf_add(sb, text, len);
		text += len;
	}
}

void fields_not_a_list(struct fields_context *c, const struct yaml_node *node, const char *path)
{
	AUTO(strbuf) struct strbuf items = STRBUF_INIT(YAML_BYTES_MAX);
	bool text = node->kind == YAML_SCALAR && !yaml_is_null(node);

	if (text && strpbrk(node->text, "\"'\\,[]{}#") == NULL)
		words_as_items(node->text, &items);
	fields_wrong_kind(c, node, path, "a list",
	                  items.len > 0 ? arena_printf(c->arena, "write [%s]", strbuf_str(&items))
	                  : text        ? "write each word as an item: [WORD, WORD]"
	                                : FIELDS_HOW_TO_LIST);
}

void fields_not_named(struct fields_context *c, const struct field *f, const struct yaml_node *node,
                      const char *path)
{
	diags_error(c->diags, node->at,
	            "write NAME: for each, and what it has on lines below, indented by spaces",
	            "%s: expected a mapping from name to %s, found %s", path, f->table->name,
	            node->kind != YAML_MAPPING ? kind_name(node) : "nothing");
}

void fields_not_between(struct fields_context *c, const struct field *f,
                        const struct yaml_node *node, const char *path)
{
	char least[TEXT_BYTES_MAX], most[TEXT_BYTES_MAX];

	if (f->kind == FIELD_KIND_SIZE) {
		text_bytes(f->min, least);
		text_bytes(f->max, most);
	} else {
		snprintf(least, sizeof(least), "%lld", (long long)f->min);
		snprintf(most, sizeof(most), "%lld", (long long)f->max);
	}
	diags_error(c->diags, node->at,
	            arena_printf(c->arena, "write a %s from %s to %s",
	                         f->kind == FIELD_KIND_SIZE ? "size" : "number", least, most),
	            "%s: %s is not between %s and %s", path, node->text, least, most);
}

/* The hint lists all choices: what may be written, as one would write it. */
void fields_not_a_choice(struct fields_context *c, const struct yaml_node *node, const char *what,
                         const struct choices *choices, const char *complaint)
{
	AUTO(strbuf) struct strbuf known = STRBUF_INIT(1024);
	struct diag *d = fields_problem(c, node, "%s: '%s' %s", what, node->text,
	                                complaint != NULL ? complaint : "is not known");

	choices_list(choices, &known);
	diag_hint(c->diags, d, "write %s", strbuf_str(&known));
}

/* ---- keys ---- */

const char *fields_habit(const struct field_table *table, const char *key)
{
	for (const struct field_habit *h = table->habits; h != NULL && h->key != NULL; h++)
		if (strcasecmp(h->key, key) == 0)
			return h->hint;
	return NULL;
}

/* The key that was meant: the same in other letters, or the nearest; NULL when none is near. */
static const char *meant(const struct field_table *table, const char *key, struct arena *a)
{
	const char **names = arena_calloc(a, table->n, sizeof(*names));

	for (size_t i = 0; i < table->n; i++) {
		names[i] = table->fields[i].key;
		if (strcasecmp(names[i], key) == 0)
			return names[i];
	}
	return text_nearest(key, names, table->n);
}

static void known_keys(const struct field_table *table, struct strbuf *sb)
{
	for (size_t i = 0; i < table->n; i++)
		strbuf_addf(sb, "%s%s", i > 0 ? ", " : "", table->fields[i].key);
}

void fields_unknown_key(struct fields_context *c, const struct field_table *table,
                        const struct yaml_node *key, const char *path)
{
	AUTO(strbuf) struct strbuf list = STRBUF_INIT(1024);
	struct diag *d = path[0] != '\0'
	                         ? fields_problem(c, key, "%s: unknown key '%s'", path, key->text)
	                         : fields_problem(c, key, "unknown key '%s'", key->text);
	const char *habit = fields_habit(table, key->text);
	const char *near = meant(table, key->text, c->arena);

	known_keys(table, &list);
	if (habit != NULL)
		diag_hint(c->diags, d, "%s", habit);
	else if (near != NULL)
		diag_hint(c->diags, d, "did you mean '%s'?", near);
	else
		diag_hint(c->diags, d, "known keys are %s", strbuf_str(&list));
}

/* Up to the first full stop that ends a sentence. */
static int first_sentence(const char *doc)
{
	const char *end = strstr(doc, ". ");
	size_t len = end != NULL ? (size_t)(end - doc) : strlen(doc);

	return (int)(len > 0 && doc[len - 1] == '.' ? len - 1 : len);
}

void fields_missing(struct fields_context *c, const struct field_table *table,
                    const struct yaml_node *node, const char *path, const char *key)
{
	struct diag *d = fields_problem(c, node, "%s%s'%s' is missing", path,
	                                path[0] != '\0' ? ": " : "", key);

	for (size_t i = 0; i < table->n; i++)
		if (strcmp(table->fields[i].key, key) == 0)
			diag_hint(c->diags, d, "add `%s:` (%.*s)", key,
			          first_sentence(table->fields[i].doc), table->fields[i].doc);
}
