#include "k8s/deploy/diff.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"

enum { VALUE_SHOWN_MAX = 200 };

/* ---- comparing ---- */

/* The server's own, in metadata. */
static const char *const noise[] = {"managedFields", "resourceVersion",   "generation",
                                    "uid",           "creationTimestamp", "selfLink"};

static cJSON *cleaned(const cJSON *object)
{
	cJSON *copy = cJSON_Duplicate(object, true);
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(copy, "metadata");

	for (size_t i = 0; i < ARRAY_LEN(noise); i++)
		cJSON_DeleteItemFromObjectCaseSensitive(metadata, noise[i]);
	cJSON_DeleteItemFromObjectCaseSensitive(copy, "status");
	return copy;
}

static void add_field(cJSON *fields, const char *path, const cJSON *was, const cJSON *is)
{
	cJSON *row = cJSON_CreateObject();

	json_add_string(row, "path", path);
	if (was != NULL)
		cJSON_AddItemToObject(row, "was", cJSON_Duplicate(was, true));
	if (is != NULL)
		cJSON_AddItemToObject(row, "is", cJSON_Duplicate(is, true));
	json_push(fields, row);
}

/* ".key", or ["a.b/c"] where a point would mislead. */
static void add_key(struct strbuf *path, const char *key)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

	if (key[0] != '\0' && key[strspn(key, plain)] == '\0')
		strbuf_addf(path, "%s%s", path->len > 0 ? "." : "", key);
	else
		strbuf_addf(path, "[\"%s\"]", key);
}

static void compare(struct strbuf *path, const cJSON *was, const cJSON *is, cJSON *fields);

/* Goes one step down, and the path comes back. */
static void compare_below(struct strbuf *path, size_t len, const cJSON *was, const cJSON *is,
                          cJSON *fields)
{
	compare(path, was, is, fields);
	path->len = len;
	if (path->ptr != NULL)
		path->ptr[len] = '\0';
}

static void compare_objects(struct strbuf *path, const cJSON *was, const cJSON *is, cJSON *fields)
{
	size_t len = path->len;

	for (const cJSON *m = was->child; m != NULL; m = m->next) {
		add_key(path, m->string);
		compare_below(path, len, m, json_get(is, m->string), fields);
	}
	for (const cJSON *m = is->child; m != NULL; m = m->next) {
		if (json_get(was, m->string) != NULL)
			continue;
		add_key(path, m->string);
		compare_below(path, len, NULL, m, fields);
	}
}

/* The member with this name in a list of named things, or NULL. */
static const cJSON *named(const cJSON *list, const char *name)
{
	for (const cJSON *m = list->child; m != NULL; m = m->next)
		if (json_string(m, "name") != NULL && strcmp(json_string(m, "name"), name) == 0)
			return m;
	return NULL;
}

/* Containers, ports, variables: Kubernetes itself identifies them by name. */
static bool is_named(const cJSON *list)
{
	for (const cJSON *m = list->child; m != NULL; m = m->next)
		if (json_string(m, "name") == NULL || named(list, json_string(m, "name")) != m)
			return false;
	return list->child != NULL;
}

static void compare_named(struct strbuf *path, const cJSON *was, const cJSON *is, cJSON *fields)
{
	size_t len = path->len;

	for (const cJSON *m = was->child; m != NULL; m = m->next) {
		const char *name = json_string(m, "name");

		strbuf_addf(path, "[%s]", name);
		compare_below(path, len, m, named(is, name), fields);
	}
	for (const cJSON *m = is->child; m != NULL; m = m->next) {
		const char *name = json_string(m, "name");

		if (named(was, name) != NULL)
			continue;
		strbuf_addf(path, "[%s]", name);
		compare_below(path, len, NULL, m, fields);
	}
}

static void compare_lists(struct strbuf *path, const cJSON *was, const cJSON *is, cJSON *fields)
{
	const cJSON *a = was->child, *b = is->child;
	size_t len = path->len;

	if (is_named(was) && is_named(is)) {
		compare_named(path, was, is, fields);
		return;
	}
	for (int i = 0; a != NULL || b != NULL; i++) {
		strbuf_addf(path, "[%d]", i);
		compare_below(path, len, a, b, fields);
		a = a != NULL ? a->next : NULL;
		b = b != NULL ? b->next : NULL;
	}
}

/* Recursion is bounded: json_parse refuses what is deeper than JSON_DEPTH_MAX. */
static void compare(struct strbuf *path, const cJSON *was, const cJSON *is, cJSON *fields)
{
	if (was == NULL || is == NULL) {
		add_field(fields, strbuf_str(path), was, is);
		return;
	}
	if (cJSON_Compare(was, is, true))
		return;
	if (cJSON_IsObject(was) && cJSON_IsObject(is))
		compare_objects(path, was, is, fields);
	else if (cJSON_IsArray(was) && cJSON_IsArray(is))
		compare_lists(path, was, is, fields);
	else
		add_field(fields, strbuf_str(path), was, is);
}

static cJSON *new_row(const struct stage *stage, const char *action, const cJSON *object)
{
	cJSON *row = cJSON_CreateObject();

	json_add_string(row, "stage", stage->name);
	json_add_string(row, "action", action);
	json_add_string(row, "kind", json_string(object, "kind"));
	json_add_string(row, "namespace", object_namespace(object));
	json_add_string(row, "name", object_name(object));
	return row;
}

static void diff_object(const struct stage *stage, const cJSON *before, const cJSON *after,
                        cJSON *changes)
{
	AUTO(json) cJSON *was = cleaned(before);
	AUTO(json) cJSON *is = cleaned(after);
	AUTO(strbuf) struct strbuf path = STRBUF_INIT(16384);
	cJSON *row = new_row(stage, "change", after);

	compare(&path, was, is, json_add_array(row, "fields"));
	if (cJSON_GetArraySize(json_get(row, "fields")) > 0)
		json_push(changes, row);
	else
		cJSON_Delete(row);
}

void diff_stage(const struct stage *stage, const cJSON *before, const cJSON *after, cJSON *changes)
{
	for (const cJSON *item = stage->items->child; item != NULL; item = item->next) {
		const cJSON *old = object_find(before, item);
		const cJSON *new = after != NULL ? object_find(after, item) : NULL;

		if (old == NULL)
			json_push(changes, new_row(stage, "create", item));
		else if (new != NULL)
			diff_object(stage, old, new, changes);
	}
}

void diff_replaced(const struct stage *stage, const cJSON *was, const char *why, cJSON *changes)
{
	for (const cJSON *item = stage->items->child; item != NULL; item = item->next) {
		cJSON *row = new_row(stage, "replace", item), *fields;
		const cJSON *old = object_find(was, item);
		AUTO(strbuf) struct strbuf path = STRBUF_INIT(16384);

		json_add_string(row, "why", why);
		fields = json_add_array(row, "fields");
		if (old != NULL)
			compare(&path, old, item, fields);
		json_push(changes, row);
	}
}

/* ---- text ---- */

/* Of texts with lines, the first that differs; 0 for other values. */
static size_t differing_line(const char **was, const char **is)
{
	size_t line = 1;

	if (strchr(*was, '\n') == NULL && strchr(*is, '\n') == NULL)
		return 0;
	for (;;) {
		size_t a = strcspn(*was, "\n"), b = strcspn(*is, "\n");

		if (a != b || strncmp(*was, *is, a) != 0 || (*was)[a] == '\0' || (*is)[b] == '\0')
			return line;
		*was += a + 1;
		*is += b + 1;
		line++;
	}
}

static void add_value(struct strbuf *sb, char sign, const cJSON *value)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	json_print(value, &text);
	/* json_print escapes what is not ASCII-safe; a cut inside a character shows as one. */
	strbuf_addf(sb, "      %c %.*s%s\n", sign, VALUE_SHOWN_MAX, strbuf_str(&text),
	            text.len > VALUE_SHOWN_MAX ? " ..." : "");
}

static void add_line(struct strbuf *sb, char sign, const char *text)
{
	size_t len = strcspn(text, "\n");
	AUTO(json) cJSON *line = NULL;
	AUTO(strbuf) struct strbuf copy = STRBUF_INIT(0);

	strbuf_add(&copy, text, len);
	line = cJSON_CreateString(strbuf_str(&copy));
	add_value(sb, sign, line);
}

static void field_text(const cJSON *field, struct strbuf *sb)
{
	const cJSON *was = json_get(field, "was"), *is = json_get(field, "is");
	size_t line = 0;

	strbuf_addf(sb, "    %s", json_string(field, "path"));
	if (cJSON_IsString(was) && cJSON_IsString(is)) {
		const char *a = was->valuestring, *b = is->valuestring;

		line = differing_line(&a, &b);
		if (line > 0) {
			strbuf_addf(sb, ", from line %zu\n", line);
			add_line(sb, '-', a);
			add_line(sb, '+', b);
			return;
		}
	}
	strbuf_addc(sb, '\n');
	if (was != NULL)
		add_value(sb, '-', was);
	if (is != NULL)
		add_value(sb, '+', is);
}

void diff_changes_text(const cJSON *changes, struct strbuf *sb)
{
	for (const cJSON *row = changes->child; row != NULL; row = row->next) {
		const cJSON *fields = json_get(row, "fields");
		const char *namespace = json_string(row, "namespace");

		const char *why = json_string(row, "why");

		strbuf_addf(sb, "%s %s %s%s%s (%s)%s%s\n", json_string(row, "action"),
		            json_string(row, "kind"), namespace != NULL ? namespace : "",
		            namespace != NULL ? "/" : "", json_string(row, "name"),
		            json_string(row, "stage"), why != NULL ? ": " : "",
		            why != NULL ? why : "");
		for (const cJSON *f = fields != NULL ? fields->child : NULL; f != NULL; f = f->next)
			field_text(f, sb);
	}
}
