/*
 * The field tables of `patches`.
 */
#include "base/doc/fields_json.h"
#include "base/doc/json_patch.h"
#include "k8s/fleet/fields.h"
#include "k8s/object/patch.h"

#define PATCH_VALUE(op) ((op) == JSON_OP_ADD || (op) == JSON_OP_REPLACE || (op) == JSON_OP_TEST)
#define PATCH_FROM(op)  ((op) == JSON_OP_MOVE || (op) == JSON_OP_COPY)

/* A key that an operation needs, or does not know. */
static void check_key(struct fields_context *c, const struct yaml_node *node, const char *key,
                      bool needed, unsigned op)
{
	const char *name = choices_name(&json_op_choices, op);
	const struct yaml_node *there = yaml_get(node, key);

	if (needed && there == NULL)
		diags_error(c->diags, node->at, arena_printf(c->arena, "add `%s:`", key),
		            "patches: '%s' needs '%s'", name, key);
	if (!needed && there != NULL)
		diags_error(c->diags, there->at, "leave it out", "patches: '%s' has no '%s'", name,
		            key);
}

static void check_step(struct fields_context *c, const struct yaml_node *node, void *object)
{
	const struct patch_step *step = object;

	const struct yaml_node *op = node->kind == YAML_MAPPING ? yaml_get(node, "op") : NULL;

	/* What is none was reported. */
	if (op == NULL || op->kind != YAML_SCALAR || choices_find(&json_op_choices, op->text) < 0)
		return;
	check_key(c, node, "value", PATCH_VALUE(step->op), step->op);
	check_key(c, node, "from", PATCH_FROM(step->op), step->op);
}

static const struct field step_rows[] = {
	FIELD_CHOICE(struct patch_step, op, &json_op_choices, "op", "What is done.",
                     .flags = FIELD_REQUIRED),
	REQUIRED_AT(struct patch_step, path, "path",
                    "Where, as in /spec/template/spec/priority; `-` is the end of a list.",
                    .check = json_pointer_check),
	TEXT_AT(struct patch_step, from, "from", "Of move and copy: where the value is.",
                .check = json_pointer_check),
	FIELD_CUSTOM(struct patch_step, value, decode_json, JSON_ANY_SCHEMA, "value",
                     "Of add, replace and test: the value.", .type_doc = "any"),
};

static const struct field_table step_fields = FIELD_TABLE(
	struct patch_step, "json", step_rows, "One operation of JSON Patch (RFC 6902).",
	.has_pos = true, .pos_offset = offsetof(struct patch_step, at), .check = check_step);

static void decode_merge(struct fields_context *c, const struct yaml_node *node, void *member)
{
	if (node->kind == YAML_MAPPING && node->n_pairs > 0)
		decode_json(c, node, member);
	else
		diags_error(c->diags, node->at,
		            "write what shall be different, as in {spec: {replicas: 2}}",
		            "merge: expected a mapping");
}

static const char *check_kind(const char *text, const char **ret_hint)
{
	*ret_hint = "write it as manifests do, as in NodePool";
	return text[0] >= 'A' && text[0] <= 'Z' ? NULL : "is not the kind of an object";
}

static const char *check_name(const char *text, const char **ret_hint)
{
	*ret_hint = "write an object's name, with * for any letters: the jobs of all targets are "
		    "NAME-*";
	return text[0] != '\0' ? NULL : "names nothing";
}

static const struct field rows[] = {
	REQUIRED_AT(struct patch_section, kind, "kind", "Kind of the objects, as in NodePool.",
                    .check = check_kind),
	REQUIRED_AT(struct patch_section, name, "name",
                    "Their name; `*` stands for any letters, as in NAME-* for all targets.",
                    .check = check_name),
	TEXT(struct patch_section, api_version, "apiVersion",
             "Their apiVersion, where kinds of several have one name, as Job has.",
             .fallback_doc = "any"),
	FIELD_CUSTOM(struct patch_section, merge, decode_merge, "{\"type\":\"object\"}", "merge",
                     "A JSON merge patch (RFC 7386): what shall be different; null removes, and "
                     "lists are replaced whole.",
                     .type_doc = "mapping", .pos_offset = offsetof(struct patch_section, merge_at)),
	FIELD_OBJECTS(struct patch_section, json, n_json, struct patch_step, &step_fields, "json",
                      "A JSON Patch (RFC 6902): operations, one after another.", .max = 200),
};

static const char *const forms[] = {"merge", "json"};

const struct field_table patch_fields = FIELD_TABLE(
	struct patch_section, "patch", rows,
	"A change to rendered objects, for what has no key of its own.", .has_pos = true,
	.pos_offset = offsetof(struct patch_section, at), .either = forms);
