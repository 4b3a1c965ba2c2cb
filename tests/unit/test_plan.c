/* What a spec becomes beyond one value: the plan's texts, the environment, bounds, the schema. */
#include "tests/harness.h"

#include "base/fs.h"
#include "base/text.h"
#include "builder/spec/spec.h"

#define HEAD   "apiVersion: slipway/v1\nname: job\nimage:\n"
#define LAYERS "  layers: [{files: [{from: a, to: /a}]}]\n"

struct load {
	struct arena arena;
	struct diags diags;
	struct spec *spec;
	struct err err;
};

static void load_done(struct load *l)
{
	arena_done(&l->arena);
	diags_done(&l->diags);
}

/* Loads a text through a file of its own folder. */
static int load_text(struct load *l, const char *text)
{
	char dir[4096], path[4200];
	struct err err = {0};

	*l = (struct load){0};
	test_tmpdir(dir);
	snprintf(path, sizeof(path), "%s/slipway.yaml", dir);
	CHECK_OK(fs_write_file(path, text, strlen(text), 0644, &err), &err);
	int status = spec_load(path, NULL, 0, &l->arena, &l->spec, &l->diags, &l->err);

	CHECK_OK(fs_remove_tree(dir, &err), &err);
	return status;
}

/* Loads and plans; NULL after a failed check. */
static struct plan *plan_of(struct load *l, const char *text)
{
	struct plan *plan = NULL;

	CHECK_OK(load_text(l, text), &l->err);
	if (l->spec != NULL)
		CHECK_OK(plan_make(l->spec, NULL, 0, &l->arena, &plan, &l->diags, &l->err),
		         &l->err);
	return plan;
}

static void texts_are_expanded(void)
{
	static const char text[] =
		HEAD "  platforms: [linux/arm64]\n"
		     "  author: \"${arch}\"\n"
		     "  workdir: /w/${arch}\n"
		     "  cmd: [$${arch}, a$b]\n"
		     "  layers:\n"
		     "    - tar: [{from: x-${arch}.tar, to: /${os}, include: [${arch}/*], exclude: "
		     "[${os}.o]}]\n"
		     "      deb: [pool/app_${arch}.deb, /abs/x.deb]\n"
		     "      provided: [lib${arch}.so]\n"
		     "      sysroot: root/${arch}\n"
		     "    - files: [{symlink: ../${arch}, to: /l}, {directory: /${arch}}]\n";
	AUTO(load) struct load l;
	struct plan *plan = plan_of(&l, text);
	char want[4300];

	if (plan == NULL)
		return;
	const struct plan_image *image = &plan->images[0];
	const struct layer_spec *layer = &image->layers[0];

	CHECK_STR(image->author, "arm64");
	CHECK_STR(image->workdir, "/w/arm64");
	CHECK_STR(image->cmd.at[0], "${arch}");
	CHECK_STR(image->cmd.at[1], "a$b");
	CHECK_STR(layer->tars[0].to, "/linux");
	CHECK_STR(layer->tars[0].include.at[0], "arm64/*");
	CHECK_STR(layer->tars[0].exclude.at[0], "linux.o");
	snprintf(want, sizeof(want), "%s/x-arm64.tar", l.spec->dir);
	CHECK_STR(layer->tars[0].from, want);
	snprintf(want, sizeof(want), "%s/pool/app_arm64.deb", l.spec->dir);
	CHECK_STR(layer->debs[0].path, want);
	CHECK_STR(layer->debs[1].path, "/abs/x.deb");
	CHECK_STR(layer->provided.at[0], "libarm64.so");
	snprintf(want, sizeof(want), "%s/root/arm64", l.spec->dir);
	CHECK_STR(layer->sysroot, want);
	CHECK_STR(image->layers[1].files[0].symlink, "../arm64");
	CHECK_STR(image->layers[1].files[1].directory, "/arm64");
}

static void environment_is_text(void)
{
	static const char text[] =
		HEAD "  env: {A: '${env:SLIPWAY_TEST_A}', B: "
		     "'${env:SLIPWAY_TEST_B}', C: '${env:SLIPWAY_TEST_B:-c}'}\n" LAYERS;
	AUTO(load) struct load l;

	setenv("SLIPWAY_TEST_A", "${arch} $${os} ${nonsense}", 1);
	setenv("SLIPWAY_TEST_B", "", 1);
	struct plan *plan = plan_of(&l, text);

	if (plan == NULL)
		return;
	CHECK_STR(strmap_get(&plan->images[0].env, "A"), "${arch} $${os} ${nonsense}");
	CHECK_STR(strmap_get(&plan->images[0].env, "B"), "");
	CHECK_STR(strmap_get(&plan->images[0].env, "C"), "c");
	load_done(&l);
	setenv("SLIPWAY_TEST_A", "\xff", 1);
	CHECK(load_text(&l, text) != 0);
	CHECK(l.diags.n == 1 && strstr(l.diags.at[0].message, "not UTF-8") != NULL);
}

/* Whatever row a secret from the environment is wrong in, the complaint does not show it. */
static void environment_is_not_shown(void)
{
	static const char *const rows[] = {
		"repository: '${env:T}'",
		"tags: ['${env:T}']",
		"platforms: ['${env:T}']",
		"compression: '${env:T}'",
		"base: '${env:T}'",
		"user: '${env:T}'",
		"workdir: '${env:T}'",
		"ports: ['${env:T}']",
		"volumes: ['${env:T}']",
		"stop_signal: '${env:T}'",
		"check: {off: ['${env:T}']}",
		"base: {linux/amd64: '${env:T}', linux/arm64: scratch}",
	};

	setenv("T", "hunter 2!", 1);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(load) struct load l;
		AUTO(strbuf) struct strbuf all = STRBUF_INIT(1 << 16);
		char text[1024];

		snprintf(text, sizeof(text), HEAD "  %s\n" LAYERS, rows[i]);
		CHECK(load_text(&l, text) != 0);
		diags_text(&l.diags, false, &all);
		strbuf_adds(&all, l.err.msg);
		if (strstr(strbuf_str(&all), "hunter") != NULL || l.diags.n == 0)
			test_check_str(__FILE__, __LINE__, strbuf_str(&all), rows[i]);
	}
	unsetenv("T");
}

/* Documents of a megabyte whose every entry is wrong: answered at once, with a bounded answer. */
static void hostile_sizes(void)
{
	static const struct {
		const char *before, *entry, *after;
		size_t n;
	} rows[] = {
		{HEAD "  tags: [", "-,", "-]\n", 90000},
		{HEAD "  platforms: [", "linux/arm64,", "]\n", 60000},
		{HEAD "  layers: [", "a,", "]\n", 90000},
		{HEAD "  layers:\n    - files:\n", "        - {from: a}\n", "", 40000},
		{HEAD "  user: \"", "${arch}", "\"\n", 90000},
		{"", "a: 1\n", "", 90000},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(load) struct load l;
		AUTO(strbuf) struct strbuf sb = STRBUF_INIT(2 << 20), all = STRBUF_INIT(64 << 20);

		strbuf_adds(&sb, rows[i].before);
		for (size_t k = 0; k < rows[i].n; k++)
			strbuf_adds(&sb, rows[i].entry);
		strbuf_adds(&sb, rows[i].after);
		CHECK(load_text(&l, strbuf_str(&sb)) != 0);
		CHECK_INT(l.err.code, ERR_SPEC);
		CHECK(l.diags.n > 0 && l.diags.n <= DIAGS_MAX);
		CHECK_INT(l.diags.n_errors, l.diags.n + l.diags.n_hidden);
	}
}

/* A value against the part of JSON Schema that the tables use. */
static bool fits(const cJSON *schema, const struct yaml_node *node);

static bool type_fits(const cJSON *type, const struct yaml_node *node)
{
	static const char *const names[] = {
		[YAML_SCALAR] = "scalar", [YAML_SEQUENCE] = "array", [YAML_MAPPING] = "object"};
	const cJSON *one = NULL;

	if (cJSON_IsArray(type)) {
		cJSON_ArrayForEach (one, type)
			if (type_fits(one, node))
				return true;
		return false;
	}
	if (node->kind != YAML_SCALAR)
		return strcmp(type->valuestring, names[node->kind]) == 0;
	return strcmp(type->valuestring, "object") != 0 && strcmp(type->valuestring, "array") != 0;
}

static bool object_fits(const cJSON *schema, const struct yaml_node *node)
{
	const cJSON *more = json_get(schema, "additionalProperties"), *key = NULL;

	for (size_t i = 0; i < node->n_pairs; i++) {
		const cJSON *property =
			json_get(json_get(schema, "properties"), node->pairs[i].key->text);

		if (property == NULL && more == NULL)
			continue;
		if (property == NULL && !cJSON_IsObject(more))
			return false;
		if (!fits(property != NULL ? property : more, node->pairs[i].value))
			return false;
	}
	cJSON_ArrayForEach (key, json_get(schema, "required"))
		if (yaml_get(node, key->valuestring) == NULL)
			return false;
	return true;
}

static bool fits(const cJSON *schema, const struct yaml_node *node)
{
	const cJSON *one = NULL;
	int n = 0;

	if (json_get(schema, "oneOf") != NULL) {
		cJSON_ArrayForEach (one, json_get(schema, "oneOf"))
			n += fits(one, node);
		if (n != 1)
			return false;
	}
	/* One that narrows another has neither type nor properties of its own. */
	if (json_get(schema, "type") != NULL && !type_fits(json_get(schema, "type"), node))
		return false;
	for (size_t i = 0; i < node->n_items; i++)
		if (!fits(json_get(schema, "items"), node->items[i]))
			return false;
	return node->kind != YAML_MAPPING || object_fits(schema, node);
}

static bool text_fits(const cJSON *schema, const char *text, size_t len)
{
	AUTO(arena) struct arena a = {0};
	AUTO(diags) struct diags d = {0};
	struct yaml_node *root = NULL;
	struct err err = {0};

	CHECK_OK(yaml_parse("f.yaml", text, len, &a, &root, &d, &err), &err);
	return root != NULL && fits(schema, root);
}

/* Every object is closed and says what it is; one without a type narrows another. */
static void closed(const cJSON *schema)
{
	const cJSON *child = NULL;

	if (json_get(schema, "properties") != NULL && json_get(schema, "type") != NULL) {
		CHECK(cJSON_IsFalse(json_get(schema, "additionalProperties")));
		CHECK(json_string(schema, "description") != NULL);
	}
	cJSON_ArrayForEach (child, schema)
		closed(child);
}

static void schema_accepts_the_example(void)
{
	static const char *const wrong[] = {
		"{name: a, image: {}}",
		"{apiVersion: slipway/v1, name: a, image: {}, clusters: {}}",
		"{apiVersion: slipway/v1, name: a, image: {}, cluster: {}}",
		"{apiVersion: slipway/v1, name: a, image: {}, fleet: {g5: []}}",
		"{apiVersion: slipway/v1, name: a, image: []}",
		"{apiVersion: slipway/v1, name: a, image: {tags: v1}}",
		"{apiVersion: slipway/v1, name: a, image: {layers: [{file: []}]}}",
		"{apiVersion: slipway/v1, name: a, image: {layers: [{tar: [{to: /}]}]}}",
		"{apiVersion: slipway/v1, name: a}",
		"{apiVersion: slipway/v1, name: a, job: {nodes: 1}}",
		"{apiVersion: slipway/v1, name: a, image: {}, images: {b: {}}}",
		"{apiVersion: slipway/v1, name: a, image: {}, job: {volumes: {a: {claim: b}}}}",
	};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(YAML_BYTES_MAX), json = STRBUF_INIT(1 << 20);
	AUTO(json) cJSON *made = schema_json();
	AUTO(json) cJSON *schema = NULL;
	struct err err = {0};

	json_print_pretty(made, &json);
	CHECK_OK(json_parse("schema", json.ptr, json.len, &schema, &err), &err);
	CHECK_STR(json_string(schema, "$schema"), "https://json-schema.org/draft/2020-12/schema");
	closed(schema);
	CHECK_OK(fs_read_file("slipway.yaml", YAML_BYTES_MAX, &text, &err), &err);
	CHECK(text_fits(schema, text.ptr, text.len));
	strbuf_reset(&text);
	CHECK_OK(fs_read_file("tests/golden/fleet/ready-image.yaml", YAML_BYTES_MAX, &text, &err),
	         &err);
	CHECK(text_fits(schema, text.ptr, text.len));
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		if (text_fits(schema, wrong[i], strlen(wrong[i])))
			test_fail(__FILE__, __LINE__, wrong[i]);
}

/* slipway.yaml loads, and docs/SPEC.md names every key of every table. */
static void names_every_key(const struct field_table *table, const char *markdown)
{
	for (size_t i = 0; i < table->n; i++) {
		char key[128];

		snprintf(key, sizeof(key), "\n| `%s` | ", table->fields[i].key);
		if (strstr(markdown, key) == NULL)
			test_fail(__FILE__, __LINE__, key);
		if (table->fields[i].table != NULL)
			names_every_key(table->fields[i].table, markdown);
	}
}

static void markdown_is_complete(void)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);

	schema_markdown(&sb);
	names_every_key(&spec_fields, strbuf_str(&sb));
	CHECK(strstr(strbuf_str(&sb), "\n## `image.layers[].files[]`\n") != NULL);
}

int main(void)
{
	TEST("plan: every text and path is expanded", texts_are_expanded);
	TEST("spec: what the environment says is text, not variables", environment_is_text);
	TEST("spec: a value from the environment is in no message", environment_is_not_shown);
	TEST("spec: a megabyte of mistakes has a bounded answer", hostile_sizes);
	TEST("schema: closed, and the repository's spec fits it", schema_accepts_the_example);
	TEST("schema: the Markdown reference names every key", markdown_is_complete);
	return test_done();
}
