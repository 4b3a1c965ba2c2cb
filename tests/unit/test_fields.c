/* Field tables: decoding by kind, sizes, modes, complaints, schema, Markdown. */
#include "tests/harness.h"

#include "base/doc/fields.h"

enum colour { COLOUR_RED, COLOUR_GREEN, COLOUR_BLUE };

static const char *const colour_names[] = {
	[COLOUR_RED] = "red", [COLOUR_GREEN] = "green", [COLOUR_BLUE] = "blue"};
static const struct choices colours = CHOICES(colour_names);

/* A list of choices may be a member of a table of rows. */
static const struct {
	int legs;
	const char *name;
} animals[] = {{4, "cat"}, {2, "hen"}};
static const struct choices pets = CHOICES_OF(animals, name);

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
	struct part *some;
	size_t n_some;
	enum colour colour;
	struct srcpos colour_at;
	const char *pet;
	struct strlist zoo;
	bool has_colour;
};

static const char *short_check(const char *text, const char **ret_hint)
{
	*ret_hint = "shorter";
	return strlen(text) > 5 ? "is too long" : NULL;
}

static const struct field part_rows[] = {
	FIELD_STRING(struct part, name, "name", "Its name.", .flags = FIELD_REQUIRED),
	FIELD_INT(struct part, weight, "weight", "Its weight.", .min = 1, .max = 9, .fallback = 3),
};
static const struct field_table part_fields = FIELD_TABLE(struct part, "part", part_rows, "A part.",
                                                          .has_pos = true, .shorthand = "name");
static const struct field_table some_fields = FIELD_TABLE(
	struct part, "one of some", part_rows, "A part.", .has_pos = true, .shorthand = "name");
static const struct field thing_rows[] = {
	FIELD_STRING(struct thing, name, "name", "A | name.", .flags = FIELD_REQUIRED,
                     .check = short_check, .pos_offset = offsetof(struct thing, name_at)),
	FIELD_BOOL(struct thing, on, "on", "On.", .fallback = 1),
	FIELD_INT(struct thing, count, "count", "Count.", .min = -5, .max = 5),
	FIELD_MODE(struct thing, mode, "mode", "Mode.", .fallback = -1),
	FIELD_SIZE(struct thing, size, "size", "Size.", .max = 1000000),
	FIELD_STRINGS(struct thing, list, "list", "List.", .check = short_check,
                      .set_offset = offsetof(struct thing, has_list)),
	FIELD_MAP(struct thing, map, "map", "Map.", .check_key = short_check),
	FIELD_OBJECT(struct thing, one, struct part, &part_fields, "one", "One."),
	FIELD_OBJECTS(struct thing, parts, n_parts, struct part, &part_fields, "parts", "Parts."),
	FIELD_OBJECTS(struct thing, some, n_some, struct part, &some_fields, "some", "One or more.",
                      .flags = FIELD_ONE),
	FIELD_CHOICE(struct thing, colour, &colours, "colour", "Colour.", .fallback = COLOUR_GREEN,
                     .pos_offset = offsetof(struct thing, colour_at),
                     .set_offset = offsetof(struct thing, has_colour)),
	FIELD_STRING(struct thing, pet, "pet", "Pet.", .choices = &pets,
                     .complaint = "is not a pet", .fallback_text = "hen"),
	FIELD_STRINGS(struct thing, zoo, "zoo", "Zoo.", .choices = &pets,
                      .fallback_doc = "no animals"),
};
static const struct field_habit habits[] = {{"amount", "here it is `count:`"}, {NULL, NULL}};
static const struct field_table thing_fields =
	FIELD_TABLE(struct thing, "thing", thing_rows, "A thing.", .habits = habits);

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
	           "one: {name: x, weight: 9}\nparts: [short, {name: z}]\n"
	           "colour: blue\npet: cat\nzoo: [hen, cat]\n");
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
	CHECK_INT(d.thing.colour, COLOUR_BLUE);
	CHECK_INT(d.thing.colour_at.line, 10);
	CHECK(d.thing.has_colour);
	CHECK_STR(d.thing.pet, "cat");
	CHECK_INT(d.thing.zoo.n, 2);
}

static void defaults(void)
{
	AUTO(decoded) struct decoded d = {0};

	decode(&d, "name: t\n");
	CHECK(d.thing.on && d.thing.mode == -1 && d.thing.one.weight == 3 && !d.thing.has_list);
	CHECK_INT(d.thing.colour, COLOUR_GREEN);
	CHECK(!d.thing.has_colour && d.thing.colour_at.file == NULL);
	CHECK_STR(d.thing.pet, "hen");
	CHECK(d.thing.one.name == NULL);
}

static void one_entry_needs_no_list(void)
{
	static const struct {
		const char *text;
		size_t n;
		int64_t weight; /* of the last one */
	} rows[] = {{"{name: t, some: x}", 1, 3},
	            {"{name: t, some: {name: x, weight: 9}}", 1, 9},
	            {"{name: t, some: [x, {name: z, weight: 2}]}", 2, 2},
	            {"{name: t, some: []}", 0, 0}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(decoded) struct decoded d = {0};

		decode(&d, rows[i].text);
		CHECK_INT(d.diags.n, 0);
		CHECK_INT(d.thing.n_some, rows[i].n);
		if (rows[i].n > 0 && d.thing.n_some == rows[i].n)
			CHECK_INT(d.thing.some[rows[i].n - 1].weight, rows[i].weight);
	}
}

/* A wrong value leaves an enum at its default. */
static void wrong_choice(void)
{
	AUTO(decoded) struct decoded d = {0};

	decode(&d, "{name: t, colour: pink}");
	CHECK_INT(d.diags.n, 1);
	CHECK_INT(d.thing.colour, COLOUR_GREEN);
	CHECK(d.thing.has_colour);
}

static void lists(void)
{
	static const char *const one_name[] = {"only"}, *const two_names[] = {"this", "that"};
	static const struct choices one = CHOICES(one_name), two = CHOICES(two_names);
	static const struct {
		const struct choices *choices;
		const char *want;
	} rows[] = {{&one, "only"}, {&two, "this or that"}, {&colours, "red, green or blue"}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(strbuf) struct strbuf sb = STRBUF_INIT(100);

		choices_list(rows[i].choices, &sb);
		CHECK_STR(strbuf_str(&sb), rows[i].want);
	}
	CHECK_STR(choices_name(&pets, 1), "hen");
	CHECK_INT(choices_find(&pets, "hen"), 1);
	CHECK_INT(choices_find(&pets, "he"), -1);
	CHECK_INT(choices_find(&colours, "red"), 0);
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
		{"{}", "'name' is missing", "add `name:` (A | name)"},
		{"[]", "thing: expected a mapping, found a list",
	         "write KEY: VALUE, each on a line of its own, indented by spaces"},
		{"{name: t, cuont: 1}", "unknown key 'cuont'", "did you mean 'count'?"},
		{"{name: t, zzzzzzzzz: 1}", "unknown key 'zzzzzzzzz'",
	         "known keys are name, on, count, mode, size, list, map, one, parts, some, colour, "
	         "pet, zoo"},
		{"{name: toolong}", "name: 'toolong' is too long", "shorter"},
		{"{name: no}", "name: 'no' is a boolean, not a string", "write \"no\" in quotes"},
		{"{name: ~}", "name: no value", "write a value, or \"\" for an empty one"},
		{"{name: [a]}", "name: expected a string, found a list",
	         "write one value, without - and without KEY:"},
		{"{name: t, on: 1}", "on: expected true or false",
	         "write one of the two words, without quotes"},
		{"{name: t, count: 6}", "count: 6 is not between -5 and 5",
	         "write a number from -5 to 5"},
		{"{name: t, count: 1.0}", "count: '1.0' is not a whole number",
	         "write digits alone, as in 4"},
		{"{name: t, size: 2MB}", "size: 2MB is not between 0 B and 1.0 MB",
	         "write a size from 0 B to 1.0 MB"},
		{"{name: t, list: a}", "list: expected a list, found a string", "write [a]"},
		{"{name: t, list: a -b}", "list: expected a list, found a string", "write [a, -b]"},
		{"{name: t, list: \"a 'b c'\"}", "list: expected a list, found a string",
	         "write each word as an item: [WORD, WORD]"},
		{"{name: t, COUNT: 1}", "unknown key 'COUNT'", "did you mean 'count'?"},
		{"{name: t, Amount: 1}", "unknown key 'Amount'", "here it is `count:`"},
		{"{name: t, list: [a, toolong]}", "list[1]: 'toolong' is too long", "shorter"},
		{"{name: t, map: {toolong: 1}}", "map: 'toolong' is too long", "shorter"},
		{"{name: t, map: [a]}", "map: expected a mapping, found a list",
	         "write KEY: VALUE, each on a line of its own, indented by spaces"},
		{"{name: t, one: {}}", "one: 'name' is missing", "add `name:` (Its name)"},
		{"{name: t, parts: [{name: a, weight: 0}]}",
	         "parts[0].weight: 0 is not between 1 and 9", "write a number from 1 to 9"},
		{"{name: t, colour: Red}", "colour: 'Red' is not known",
	         "write red, green or blue"},
		{"{name: t, colour: [red]}", "colour: expected a string, found a list",
	         "write one value, without - and without KEY:"},
		{"{name: t, colour: on}", "colour: 'on' is a boolean, not a string",
	         "write \"on\" in quotes"},
		{"{name: t, pet: dog}", "pet: 'dog' is not a pet", "write cat or hen"},
		{"{name: t, zoo: [cat, dog]}", "zoo[1]: 'dog' is not known", "write cat or hen"},
		{"{name: t, parts: x}", "parts: expected a list, found a string",
	         "write a list: each item on a line of its own that begins with '- ', or [ITEM, "
	         "ITEM]"},
		{"{name: t, some: {weight: 2}}", "some: 'name' is missing",
	         "add `name:` (Its name)"},
		{"{name: t, parts: [[]]}", "parts[0]: expected a mapping, found a list",
	         "write KEY: VALUE, each on a line of its own, indented by spaces"},
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
	CHECK_INT(cJSON_GetArraySize(json_get(json_get(properties, "some"), "oneOf")), 2);
	AUTO_FREE char *colour = cJSON_PrintUnformatted(json_get(properties, "colour"));

	CHECK_STR(colour, "{\"type\":\"string\",\"enum\":[\"red\",\"green\",\"blue\"],"
	                  "\"description\":\"Colour.\"}");
	fields_markdown(&thing_fields, &sb);
	CHECK(strstr(strbuf_str(&sb), "\n## The document\n\nA thing.\n") != NULL);
	CHECK(strstr(strbuf_str(&sb), "| `name` | string | required | A \\| name. |\n") != NULL);
	CHECK(strstr(strbuf_str(&sb), "\n## `parts[]`\n") != NULL);
	CHECK(strstr(strbuf_str(&sb), "| `on` | true or false | true | On. |\n") != NULL);
	CHECK(strstr(strbuf_str(&sb), "| `count` | number |  | Count. |\n") != NULL);
	CHECK(strstr(strbuf_str(&sb), "| `mode` | octal mode |  | Mode. |\n") != NULL);
	CHECK(strstr(strbuf_str(&sb), "| `colour` | red, green or blue | green | Colour. |\n") !=
	      NULL);
	CHECK(strstr(strbuf_str(&sb), "| `pet` | string | hen | Pet. |\n") != NULL);
	CHECK(strstr(strbuf_str(&sb), "| `zoo` | list of strings | no animals | Zoo. |\n") != NULL);
	CHECK(strstr(strbuf_str(&sb), "| `weight` | number | 3 | Its weight. |\n") != NULL);
}

int main(void)
{
	TEST("fields: every kind is decoded", every_kind);
	TEST("fields: defaults", defaults);
	TEST("fields: one entry needs no list where the row says so", one_entry_needs_no_list);
	TEST("fields: a wrong choice leaves the default", wrong_choice);
	TEST("fields: closed lists of names and of rows", lists);
	TEST("fields: sizes", sizes);
	TEST("fields: modes", modes);
	TEST("fields: complaints and their hints", complaints);
	TEST("fields: JSON schema and Markdown", schema_and_markdown);
	return test_done();
}
