#include "builder/cli/output_schema.h"

#include <string.h>

#include "base/attr.h"

static const struct output_row error_rows[] = {
	{"error.code", OUT_TEXT, OUT_ALWAYS, "The kind of the error"},
	{"error.message", OUT_TEXT, OUT_ALWAYS, "What went wrong"},
	{"error.hint", OUT_TEXT, OUT_MAYBE, "The next step"},
	{"error.http_status", OUT_COUNT, OUT_MAYBE, "What the server answered"},
	{"problems", OUT_OBJECT, OUT_MAYBE, "What is wrong with the spec or the image"},
	{"problems[].severity", OUT_TEXT, OUT_ALWAYS, "error, warning or note"},
	{"problems[].file", OUT_TEXT, OUT_MAYBE, "The file it is in"},
	{"problems[].line", OUT_COUNT, OUT_MAYBE, "From 1"},
	{"problems[].column", OUT_COUNT, OUT_MAYBE, "From 1"},
	{"problems[].rule", OUT_TEXT, OUT_MAYBE, "The check's rule"},
	{"problems[].message", OUT_TEXT, OUT_ALWAYS, "What is wrong"},
	{"problems[].hint", OUT_TEXT, OUT_MAYBE, "The next step"},
};
static const struct output_form error_form = {"", "the command failed", error_rows,
                                              ARRAY_LEN(error_rows), NULL};

static void add_type(cJSON *schema, const char *type, enum output_presence presence)
{
	cJSON *types;

	if (presence != OUT_NULL) {
		json_add_string(schema, "type", type);
		return;
	}
	types = json_add_array(schema, "type");
	json_push_string(types, type);
	json_push_string(types, "null");
}

static cJSON *closed_object(void)
{
	cJSON *object = cJSON_CreateObject();

	json_add_string(object, "type", "object");
	json_add_bool(object, "additionalProperties", false);
	json_add_object(object, "properties");
	return object;
}

static void require(cJSON *object, const char *name)
{
	cJSON *list = cJSON_GetObjectItemCaseSensitive(object, "required");

	json_push_string(list != NULL ? list : json_add_array(object, "required"), name);
}

static void add_values(cJSON *schema, const char *keyword, const char *type)
{
	json_add_string(json_add_object(schema, keyword), "type", type);
}

static void fill_leaf(cJSON *schema, const struct output_row *row)
{
	static const char *const types[] = {
		[OUT_TEXT] = "string",  [OUT_DIGEST] = "string", [OUT_COUNT] = "integer",
		[OUT_BOOL] = "boolean", [OUT_NUMBER] = "number", [OUT_TEXTS] = "array",
		[OUT_MAP] = "object",   [OUT_COUNTS] = "object", [OUT_OBJECT] = NULL,
		[OUT_ANY] = NULL,
	};

	if (types[row->kind] != NULL)
		add_type(schema, types[row->kind], row->presence);
	if (row->kind == OUT_DIGEST)
		json_add_string(schema, "pattern", "^sha256:[0-9a-f]{64}$");
	if (row->kind == OUT_COUNT)
		json_add_int(schema, "minimum", 0);
	if (row->kind == OUT_TEXTS)
		add_values(schema, "items", "string");
	if (row->kind == OUT_MAP)
		add_values(schema, "additionalProperties", "string");
	if (row->kind == OUT_COUNTS)
		add_values(schema, "additionalProperties", "integer");
}

/* The member's schema in its object, made when this is its first row. */
static cJSON *member(cJSON *object, const char *name, bool required)
{
	cJSON *properties = cJSON_GetObjectItemCaseSensitive(object, "properties");
	cJSON *have = cJSON_GetObjectItemCaseSensitive(properties, name);

	if (have != NULL)
		return have;
	if (required)
		require(object, name);
	return json_add_object(properties, name);
}

/* Makes a member the object, or the list of objects, that holds the next part of the path. */
static cJSON *holder(cJSON *schema, bool list)
{
	const char *keyword = list ? "items" : "object";
	cJSON *have = list ? cJSON_GetObjectItemCaseSensitive(schema, keyword) : schema;

	if (list && have == NULL) {
		json_add_string(schema, "type", "array");
		cJSON_AddItemToObject(schema, keyword, closed_object());
		return cJSON_GetObjectItemCaseSensitive(schema, keyword);
	}
	if (!list && cJSON_GetObjectItemCaseSensitive(schema, "properties") == NULL) {
		json_add_string(schema, "type", "object");
		json_add_bool(schema, "additionalProperties", false);
		json_add_object(schema, "properties");
	}
	return have;
}

static void add_row(cJSON *object, const struct output_row *row)
{
	const char *path = row->path;

	for (;;) {
		size_t len = strcspn(path, ".[");
		bool last = path[len] == '\0', list = path[len] == '[';
		char name[64];

		if (len >= sizeof(name))
			BUG("output schema: a long name in %s", row->path);
		memcpy(name, path, len);
		name[len] = '\0';
		cJSON *schema = member(object, name, !last || row->presence != OUT_MAYBE);

		if (last) {
			json_add_string(schema, "description", row->meaning);
			fill_leaf(schema, row);
			return;
		}
		object = holder(schema, list);
		path += len + (list ? 3 : 1); /* "[]." or "." */
	}
}

static cJSON *form_schema(const struct output_form *form)
{
	cJSON *object = closed_object();

	json_add_string(object, "description", form->when);
	for (size_t i = 0; i < form->n; i++)
		add_row(object, &form->rows[i]);
	return object;
}

/* {"builds": [...]}: one such document for each image. */
static cJSON *several_schema(const struct output_form *form)
{
	cJSON *object = closed_object(), *list = member(object, form->several, true);

	json_add_string(object, "description", "several images were asked for");
	json_add_string(list, "type", "array");
	cJSON_AddItemToObject(list, "items", form_schema(form));
	return object;
}

cJSON *output_schema(const char *command)
{
	cJSON *doc = cJSON_CreateObject(), *forms;
	size_t n = 0;

	json_add_string(doc, "$schema", "https://json-schema.org/draft/2020-12/schema");
	json_add_string(doc, "title", command);
	forms = json_add_array(doc, "oneOf");
	for (const struct output_form *f = output_forms; f->command != NULL; f++) {
		if (strcmp(f->command, command) != 0)
			continue;
		json_push(forms, form_schema(f));
		if (f->several != NULL)
			json_push(forms, several_schema(f));
		n++;
	}
	json_push(forms, form_schema(&error_form));
	if (n > 0)
		return doc;
	cJSON_Delete(doc);
	return NULL;
}
