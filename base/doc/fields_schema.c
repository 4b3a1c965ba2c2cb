/*
 * The other readers of the tables: JSON Schema (draft 2020-12) and Markdown.
 */
#include <string.h>

#include "base/doc/fields.h"

static cJSON *typed(const char *type)
{
	cJSON *schema = cJSON_CreateObject();

	json_add_string(schema, "type", type);
	return schema;
}

static cJSON *integer(const struct field *f)
{
	cJSON *schema = typed("integer");

	if (f->min != 0 || f->max != 0) {
		json_add_int(schema, "minimum", f->min);
		json_add_int(schema, "maximum", f->max);
	}
	return schema;
}

static cJSON *pattern(const char *expression, bool number_too)
{
	cJSON *schema = cJSON_CreateObject();

	if (number_too) {
		cJSON *types = json_add_array(schema, "type");

		json_push_string(types, "string");
		json_push_string(types, "integer");
	} else {
		json_add_string(schema, "type", "string");
	}
	json_add_string(schema, "pattern", expression);
	return schema;
}

/* Strings may be written as plain numbers, as in tags: [1.0]. */
static cJSON *text(void)
{
	cJSON *schema = cJSON_CreateObject();
	cJSON *types = json_add_array(schema, "type");

	json_push_string(types, "string");
	json_push_string(types, "number");
	return schema;
}

static cJSON *one_of(const struct choices *choices)
{
	cJSON *schema = typed("string"), *names = json_add_array(schema, "enum");

	for (size_t i = 0; i < choices->n; i++)
		json_push_string(names, choices_name(choices, i));
	return schema;
}

static cJSON *array_of(cJSON *items, int64_t max)
{
	cJSON *schema = typed("array");

	cJSON_AddItemToObject(schema, "items", items);
	if (max != 0)
		json_add_int(schema, "maxItems", max);
	return schema;
}

static cJSON *map_of(cJSON *values)
{
	cJSON *schema = typed("object");

	cJSON_AddItemToObject(schema, "additionalProperties", values);
	return schema;
}

static cJSON *custom(const struct field *f)
{
	cJSON *schema = cJSON_Parse(f->schema);

	if (schema == NULL)
		BUG("schema of '%s' is not JSON", f->key);
	return schema;
}

static cJSON *field_schema(const struct field *f);

/* What a scalar in place of the mapping may be. */
static cJSON *shorthand_schema(const struct field_table *table)
{
	for (size_t i = 0; i < table->n; i++)
		if (strcmp(table->fields[i].key, table->shorthand) == 0)
			return table->fields[i].kind == FIELD_KIND_STRINGS
			               ? typed("string")
			               : field_schema(&table->fields[i]);
	BUG("%s has no key '%s'", table->name, table->shorthand);
}

static cJSON *object_schema(const struct field_table *table)
{
	if (table->shorthand == NULL)
		return fields_schema(table);
	cJSON *schema = cJSON_CreateObject();
	cJSON *either = json_add_array(schema, "oneOf");

	json_push(either, shorthand_schema(table));
	json_push(either, fields_schema(table));
	return schema;
}

/* A list, or one entry in its place. */
static cJSON *objects_schema(const struct field *f)
{
	cJSON *list = array_of(object_schema(f->table), f->max);

	if ((f->flags & FIELD_ONE) == 0)
		return list;
	cJSON *schema = cJSON_CreateObject(), *either = json_add_array(schema, "oneOf");

	json_push(either, object_schema(f->table));
	json_push(either, list);
	return schema;
}

static cJSON *named(const struct field *f)
{
	cJSON *schema = map_of(object_schema(f->table));

	if (f->min > 0)
		json_add_int(schema, "minProperties", f->min);
	if (f->max != 0)
		json_add_int(schema, "maxProperties", f->max);
	return schema;
}

static cJSON *field_schema(const struct field *f)
{
	switch (f->kind) {
	case FIELD_KIND_STRING:
		return text();
	case FIELD_KIND_CHOICE:
		return one_of(f->choices);
	case FIELD_KIND_BOOL:
		return typed("boolean");
	case FIELD_KIND_INT:
		return integer(f);
	case FIELD_KIND_MODE:
		return pattern("^(0o?)?[0-7]{1,4}$", true);
	case FIELD_KIND_SIZE:
		return pattern("^[0-9]+(\\.[0-9])?(k|[KMGT]i?)?B?$", true);
	case FIELD_KIND_STRINGS:
		return array_of(text(), 0);
	case FIELD_KIND_MAP:
		return map_of(text());
	case FIELD_KIND_OBJECT:
		return object_schema(f->table);
	case FIELD_KIND_OBJECTS:
		return objects_schema(f);
	case FIELD_KIND_NAMED:
		return named(f);
	case FIELD_KIND_CUSTOM:
		return custom(f);
	}
	BUG("field kind %d", (int)f->kind);
}

static cJSON *requires(const char *key)
{
	cJSON *schema = cJSON_CreateObject();

	json_push_string(json_add_array(schema, "required"), key);
	return schema;
}

/* Neither of the two keys, and the section with the key that makes them needless. */
static cJSON *instead(const struct field_table *table)
{
	cJSON *schema = requires(table->instead[0]);
	cJSON *neither = json_add_array(json_add_object(schema, "not"), "anyOf");
	cJSON *properties = json_add_object(schema, "properties");

	for (size_t i = 0; i < 2; i++)
		json_push(neither, requires(table->either[i]));
	cJSON_AddItemToObject(properties, table->instead[0], requires(table->instead[1]));
	return schema;
}

static void add_either(const struct field_table *table, cJSON *schema)
{
	cJSON *one_of = table->either != NULL ? json_add_array(schema, "oneOf") : NULL;

	for (size_t i = 0; one_of != NULL && i < 2; i++)
		json_push(one_of, requires(table->either[i]));
	if (one_of != NULL && table->instead != NULL)
		json_push(one_of, instead(table));
}

cJSON *fields_schema(const struct field_table *table)
{
	cJSON *schema = typed("object"), *required = cJSON_CreateArray();

	json_add_string(schema, "description", table->doc);
	json_add_bool(schema, "additionalProperties", false);
	cJSON *properties = json_add_object(schema, "properties");

	for (size_t i = 0; i < table->n; i++) {
		cJSON *property = field_schema(&table->fields[i]);

		if (json_get(property, "description") != NULL)
			cJSON_DeleteItemFromObjectCaseSensitive(property, "description");
		json_add_string(property, "description", table->fields[i].doc);
		cJSON_AddItemToObject(properties, table->fields[i].key, property);
		if ((table->fields[i].flags & FIELD_REQUIRED) != 0)
			json_push_string(required, table->fields[i].key);
	}
	if (cJSON_GetArraySize(required) > 0)
		cJSON_AddItemToObject(schema, "required", required);
	else
		cJSON_Delete(required);
	add_either(table, schema);
	return schema;
}

static const char *type_name(const struct field *f)
{
	static const char *const names[] = {
		[FIELD_KIND_STRING] = "string",
		[FIELD_KIND_CHOICE] = "string", /* and which ones, see type_cell */
		[FIELD_KIND_BOOL] = "true or false",
		[FIELD_KIND_INT] = "number",
		[FIELD_KIND_MODE] = "octal mode",
		[FIELD_KIND_SIZE] = "size",
		[FIELD_KIND_STRINGS] = "list of strings",
		[FIELD_KIND_MAP] = "map of strings",
		[FIELD_KIND_OBJECT] = "mapping",
		[FIELD_KIND_OBJECTS] = "list of mappings",
		[FIELD_KIND_NAMED] = "mapping from name to mapping",
		[FIELD_KIND_CUSTOM] = "string",
	};

	if (f->kind == FIELD_KIND_NAMED && f->table->shorthand != NULL)
		return "mapping from name to string or mapping";
	if ((f->flags & FIELD_ONE) != 0)
		return "mapping, or list of mappings";
	return f->kind == FIELD_KIND_CUSTOM && f->type_doc != NULL ? f->type_doc : names[f->kind];
}

/* Markdown tables end a cell at '|'. */
static void cell(struct strbuf *sb, const char *words)
{
	for (; *words != '\0'; words++)
		strbuf_adds(sb, *words == '|' ? "\\|" : (const char[]){*words, '\0'});
}

static void type_cell(const struct field *f, struct strbuf *sb)
{
	AUTO(strbuf) struct strbuf words = STRBUF_INIT(1024);

	if (f->kind == FIELD_KIND_CHOICE)
		choices_list(f->choices, &words);
	else
		strbuf_adds(&words, type_name(f));
	cell(sb, strbuf_str(&words));
}

/* A number that is 0 by default has no default to document, nor has a negative mode. */
static void default_words(const struct field *f, struct strbuf *sb)
{
	switch (f->kind) {
	case FIELD_KIND_STRING:
		strbuf_adds(sb, f->fallback_text != NULL ? f->fallback_text : "");
		return;
	case FIELD_KIND_CHOICE:
		strbuf_adds(sb, choices_name(f->choices, (size_t)f->fallback));
		return;
	case FIELD_KIND_BOOL:
		strbuf_adds(sb, f->fallback != 0 ? "true" : "");
		return;
	case FIELD_KIND_INT:
	case FIELD_KIND_SIZE:
		if (f->fallback != 0)
			strbuf_addf(sb, "%lld", (long long)f->fallback);
		return;
	case FIELD_KIND_MODE:
		if (f->fallback > 0)
			strbuf_addf(sb, "%04llo", (unsigned long long)f->fallback);
		return;
	case FIELD_KIND_STRINGS:
	case FIELD_KIND_MAP:
	case FIELD_KIND_OBJECT:
	case FIELD_KIND_OBJECTS:
	case FIELD_KIND_NAMED:
	case FIELD_KIND_CUSTOM:
		return;
	}
}

static void default_cell(const struct field *f, struct strbuf *sb)
{
	AUTO(strbuf) struct strbuf words = STRBUF_INIT(1024);

	if ((f->flags & FIELD_REQUIRED) != 0)
		strbuf_adds(&words, "required");
	else if (f->fallback_doc != NULL)
		strbuf_adds(&words, f->fallback_doc);
	else
		default_words(f, &words);
	cell(sb, strbuf_str(&words));
}

static void markdown_section(const struct field_table *table, const char *path, struct strbuf *sb)
{
	const char *quote = path[0] != '\0' ? "`" : ""; /* else "<target>" is taken for a tag */

	strbuf_addf(sb,
	            "\n## %s%s%s\n\n%s\n\n| Key | Type | Default | Meaning |\n|---|---|---|---|\n",
	            quote, path[0] != '\0' ? path : "The document", quote, table->doc);
	for (size_t i = 0; i < table->n; i++) {
		const struct field *f = &table->fields[i];

		strbuf_addf(sb, "| `%s` | ", f->key);
		type_cell(f, sb);
		strbuf_adds(sb, " | ");
		default_cell(f, sb);
		strbuf_adds(sb, " | ");
		cell(sb, f->doc);
		strbuf_adds(sb, " |\n");
	}
}

/* How many rows before row i, and from it on, are of its table. */
static size_t siblings(const struct field_table *table, size_t i, size_t *ret_before)
{
	size_t n = 0;

	*ret_before = 0;
	for (size_t k = 0; k < table->n; k++)
		if (table->fields[k].table == table->fields[i].table &&
		    table->fields[k].kind == table->fields[i].kind) {
			n++;
			*ret_before += k < i;
		}
	return n;
}

/* The form was described above: an embedded object of the same table. */
static bool described(const struct field_table *table, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (table->fields[k].table == table->fields[i].table)
			return true;
	return false;
}

/* Rows of one form are described once, as <name of the form>. */
static void sections(const struct field_table *table, const char *path, struct strbuf *sb)
{
	markdown_section(table, path, sb);
	for (size_t i = 0; i < table->n; i++) {
		const struct field *f = &table->fields[i];
		AUTO(strbuf) struct strbuf below = STRBUF_INIT(1024);
		size_t before;

		if (f->table == NULL || (f->kind == FIELD_KIND_NAMED && described(table, i)))
			continue;
		bool one_of_many = siblings(table, i, &before) > 1;

		if (before > 0)
			continue;
		strbuf_addf(&below, "%s%s%s%s%s%s", path, path[0] != '\0' ? "." : "",
		            one_of_many ? "<" : "", one_of_many ? f->table->name : f->key,
		            one_of_many ? ">" : "", f->kind == FIELD_KIND_OBJECTS ? "[]" : "");
		sections(f->table, strbuf_str(&below), sb);
	}
}

void fields_markdown(const struct field_table *table, struct strbuf *sb)
{
	sections(table, "", sb);
}
