/* Field tables: decoding by kind, sizes, modes, complaints, schema, Markdown. */
#include "tests/harness.h"

#include "base/doc/fields.h"

struct part {
	struct srcpos at;
	const char *name;
	int64_t weight;
};

struct thing {
	const char *name;
	struct srcpos name_at;
	bool on, has_list;
	int64_t count, mode, size;
	struct strlist list;
	struct strmap map;
	struct part one, *parts;
	size_t n_parts;
};

static const char *short_check(const char *text, const char **ret_hint)
{
	*ret_hint = "shorter";
	return strlen(text) > 5 ? "is too long" : NULL;
}

static const struct field part_rows[] = {
	FIELD_STRING(struct part, name, "name", "Its name.", .flags = FIELD_REQUIRED),
	FIELD_INT(struct part, weight, "weight", "Its weight.", .min = 1, .max = 9, .fallback = 3,
                  .fallback_doc = "3"),
};
static const struct field_table part_fields = FIELD_TABLE(struct part, "part", part_rows, "A part.",
                                                          .has_pos = true, .shorthand = "name");
static const struct field thing_rows[] = {
	FIELD_STRING(struct thing, name, "name", "A | name.", .flags = FIELD_REQUIRED,
                     .check = short_check, .pos_offset = offsetof(struct thing, name_at)),
	FIELD_BOOL(struct thing, on, "on", "On.", .fallback = 1),
	FIELD_INT(struct thing, count, "count", "Count.", .min = -5, .max = 5),
	FIELD_MODE(struct thing, mode, "mode", "Mode.", .fallback = -1),
	FIELD_SIZE(struct thing, size, "size", "Size.", .max = 1000000),
	FIELD_STRINGS(struct thing, list, "list", "List.", .check = short_check,
                      .count_offset = offsetof(struct thing, has_list)),
	FIELD_MAP(struct thing, map, "map", "Map.", .check_key = short_check),
	FIELD_OBJECT(struct thing, one, struct part, &part_fields, "one", "One."),
	FIELD_OBJECTS(struct thing, parts, n_parts, struct part, &part_fields, "parts", "Parts."),
};
static const struct field_table thing_fields =
	FIELD_TABLE(struct thing, "thing", thing_rows, "A thing.");

struct decoded {
	struct arena arena;
	struct diags diags;
	struct thing thing;
};

static void decoded_done(struct decoded *d)
{
	arena_done(&d->arena);
	diags_done(&d->diags);
}

static void decode(struct decoded *d, const char *text)
{
	struct fields_context c = {.arena = &d->arena, .diags = &d->diags};
	struct yaml_node *root = NULL;
	struct err err = {0};

	CHECK_OK(yaml_parse("f", text, strlen(text), &d->arena, &root, &d->diags, &err), &err);
	if (root != NULL)
		fields_decode(&c, &thing_fields, root, "", &d->thing);
}

static void every_kind(void)
{
	AUTO(decoded) struct decoded d = {0};

	decode(&d, "name: t\non: false\ncount: -5\nmode: 0750\nsize: 1.5kB\nlist: [a, 1.0]\nmap: "
	           "{k: 1}\n"
	           "one: {name: x, weight: 9}\nparts: [short, {name: z}]\n");
	CHECK_INT(d.diags.n, 0);
	CHECK_STR(d.thing.name, "t");
	CHECK_INT(d.thing.name_at.column, 7);
	CHECK(!d.thing.on && d.thing.count == -5 && d.thing.mode == 0750 && d.thing.size == 1500);
	CHECK(d.thing.has_list && d.thing.list.n == 2);
	CHECK_STR(d.thing.list.at[1], "1.0"); /* as written */
	CHECK_STR(strmap_get(&d.thing.map, "k"), "1");
	CHECK_INT(d.thing.one.weight, 9);
	CHECK_INT(d.thing.n_parts, 2);
	CHECK_STR(d.thing.parts[0].name, "short");
	CHECK_INT(d.thing.parts[0].weight, 3);
	CHECK_INT(d.thing.parts[1].at.line, 9);
}

static void defaults(void)
{
	AUTO(decoded) struct decoded d = {0};

	decode(&d, "name: t\n");
	CHECK(d.thing.on && d.thing.mode == -1 && d.thing.one.weight == 3 && !d.thing.has_list);
}

static void sizes(void)
{
	static const struct {
		const char *text;
		int64_t want; /* -1 = refused */
	} rows[] = {
		{"0", 0},
		{"512", 512},
		{"512B", 512},
		{"1k", 1000},
		{"64KiB", 65536},
		{"64Ki", 65536},
		{"15MB", 15000000},
		{"1.5KiB", 1536},
		{"1.5GiB", 1610612736},
		{"0.1MB", 100000},
		{"2TiB", 2199023255552},
		{"8388607TiB", 8388607 * (1LL << 40)},
		{"8388608TiB", -1},
		{"99999999999999999999", -1},
		{"", -1},
		{"MB", -1},
		{"-1", -1},
		{"1.25MB", -1},
		{"1.MB", -1},
		{"1 MB", -1},
		{"1mb", -1},
		{"1MBs", -1},
		{"0x10", -1},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t bytes = -1;

		CHECK_INT(fields_parse_size(rows[i].text, &bytes), rows[i].want >= 0);
		CHECK_INT(bytes, rows[i].want);
	}
}

static void modes(void)
{
	static const struct {
		const char *text;
		int64_t want; /* -1 = refused, the fallback stays */
	} rows[] = {{"0755", 0755},      {"755", 0755}, {"0o644", 0644}, {"01777", 01777},
	            {"\"4755\"", 04755}, {"0", 0},      {"0855", -1},    {"17777", -1},
	            {"rwx", -1},         {"[1]", -1},   {"0x1ff", -1},   {"-1", -1}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(decoded) struct decoded d = {0};
		char text[64];

		snprintf(text, sizeof(text), "name: t\nmode: %s\n", rows[i].text);
		decode(&d, text);
		CHECK_INT(d.thing.mode, rows[i].want);
		CHECK_INT(d.diags.n, rows[i].want < 0);
	}
}

static void complaints(void)
{
	static const struct {
		const char *text, *message, *hint;
	} rows[] = {
		{"{}", "'name' is missing", NULL},
		{"[]", "thing: expected a mapping, found a list", NULL},
		{"{name: t, cuont: 1}", "unknown key 'cuont'", "did you mean 'count'?"},
		{"{name: t, zzzzzzzzz: 1}", "unknown key 'zzzzzzzzz'",
	         "known keys are name, on, count, mode, size, list, map, one, parts"},
		{"{name: toolong}", "name: 'toolong' is too long", "shorter"},
		{"{name: no}", "name: 'no' is a truth value, not a text", "write \"no\" in quotes"},
		{"{name: ~}", "name: no value", NULL},
		{"{name: [a]}", "name: expected a text, found a list", NULL},
		{"{name: t, on: 1}", "on: expected true or false", NULL},
		{"{name: t, count: 6}", "count: 6 is not between -5 and 5", NULL},
		{"{name: t, count: 1.0}", "count: '1.0' is not a whole number", NULL},
		{"{name: t, size: 2MB}", "size: 2MB is out of range", NULL},
		{"{name: t, list: a}", "list: expected a list, found a text", "write [a]"},
		{"{name: t, list: [a, toolong]}", "list[1]: 'toolong' is too long", "shorter"},
		{"{name: t, map: {toolong: 1}}", "map: 'toolong' is too long", "shorter"},
		{"{name: t, map: [a]}", "map: expected a mapping, found a list", NULL},
		{"{name: t, one: {}}", "one: 'name' is missing", NULL},
		{"{name: t, parts: [{name: a, weight: 0}]}",
	         "parts[0].weight: 0 is not between 1 and 9", NULL},
		{"{name: t, parts: [[]]}", "parts[0]: expected a mapping, found a list", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(decoded) struct decoded d = {0};

		decode(&d, rows[i].text);
		CHECK_INT(d.diags.n, 1);
		if (d.diags.n == 0)
			continue;
		CHECK_STR(d.diags.at[0].message, rows[i].message);
		if (rows[i].hint != NULL || d.diags.at[0].hint != NULL)
			CHECK_STR(d.diags.at[0].hint, rows[i].hint);
	}
}

static void schema_and_markdown(void)
{
	AUTO(json) cJSON *schema = fields_schema(&thing_fields);
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 16);
	const cJSON *properties = json_get(schema, "properties");

	CHECK_STR(json_string(schema, "type"), "object");
	CHECK(cJSON_IsFalse(json_get(schema, "additionalProperties")));
	CHECK_INT(cJSON_GetArraySize(properties), ARRAY_LEN(thing_rows));
	CHECK_STR(cJSON_GetArrayItem(json_get(schema, "required"), 0)->valuestring, "name");
	CHECK_INT(json_get(json_get(properties, "count"), "minimum")->valueint, -5);
	CHECK_INT(cJSON_GetArraySize(
			  json_get(json_get(json_get(properties, "parts"), "items"), "oneOf")),
	          2);
	fields_markdown(&thing_fields, &sb);
	CHECK(strstr(strbuf_str(&sb), "\n## The document\n\nA thing.\n") != NULL);
	CHECK(strstr(strbuf_str(&sb), "| `name` | text | required | A \\| name. |\n") != NULL);
	CHECK(strstr(strbuf_str(&sb), "\n## parts[]\n") != NULL);
	CHECK(strstr(strbuf_str(&sb), "| `weight` | number | 3 | Its weight. |\n") != NULL);
}

int main(void)
{
	TEST("fields: every kind is decoded", every_kind);
	TEST("fields: defaults", defaults);
	TEST("fields: sizes", sizes);
	TEST("fields: modes", modes);
	TEST("fields: complaints and their hints", complaints);
	TEST("fields: JSON schema and Markdown", schema_and_markdown);
	return test_done();
}
