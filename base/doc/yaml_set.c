/*
 * --set PATH=VALUE on a YAML tree.
 */
#include <string.h>

#include "base/doc/yaml.h"
#include "base/text.h"

struct setter {
	struct arena *arena;
	struct diags *diags;
	struct srcpos at; /* of the option itself */
};

static int set_problem(const struct setter *s, const char *why, const char *what)
{
	diags_add(s->diags, DIAG_ERROR, s->at, "%s '%s'", why, what);
	return -1;
}

static struct yaml_node *new_node(const struct setter *s, enum yaml_kind kind)
{
	struct yaml_node *node = arena_alloc(s->arena, sizeof(*node));

	node->kind = kind;
	node->at = s->at;
	return node;
}

/* A pair more, without value. */
static struct yaml_node **append_pair(struct yaml_node *mapping, struct yaml_node *key,
                                      struct arena *a)
{
	struct yaml_pair *pairs = arena_calloc(a, mapping->n_pairs + 1, sizeof(*pairs));

	if (mapping->n_pairs > 0)
		memcpy(pairs, mapping->pairs, mapping->n_pairs * sizeof(*pairs));
	pairs[mapping->n_pairs].key = key;
	mapping->pairs = pairs;
	return &mapping->pairs[mapping->n_pairs++].value;
}

/* The slot of a key, made when it is absent. */
static struct yaml_node **slot_of_key(const struct setter *s, struct yaml_node *mapping,
                                      const char *key)
{
	for (size_t i = 0; i < mapping->n_pairs; i++)
		if (strcmp(mapping->pairs[i].key->text, key) == 0)
			return &mapping->pairs[i].value;
	struct yaml_node *node = new_node(s, YAML_SCALAR);

	node->text = key;
	return append_pair(mapping, node, s->arena);
}

struct yaml_node *yaml_text(const char *text, struct srcpos at, struct arena *a)
{
	struct yaml_node *node = arena_alloc(a, sizeof(*node));

	*node = (struct yaml_node){.kind = YAML_SCALAR, .at = at, .text = text, .quoted = true};
	return node;
}

void yaml_put(struct yaml_node *mapping, struct yaml_node *key, struct yaml_node *value,
              struct arena *a)
{
	for (size_t i = 0; i < mapping->n_pairs; i++)
		if (strcmp(mapping->pairs[i].key->text, key->text) == 0) {
			mapping->pairs[i] = (struct yaml_pair){key, value};
			return;
		}
	*append_pair(mapping, key, a) = value;
}

static int step_key(const struct setter *s, struct yaml_node ***slot, const char *key)
{
	struct yaml_node *node = **slot;

	if (node == NULL || yaml_is_null(node))
		node = **slot = new_node(s, YAML_MAPPING);
	if (node->kind != YAML_MAPPING)
		return set_problem(s, "not a mapping, so it has no key", key);
	*slot = slot_of_key(s, node, key);
	return 0;
}

static int step_index(const struct setter *s, struct yaml_node ***slot, const char *digits)
{
	struct yaml_node *node = **slot;
	int64_t i;

	if (!text_int64(digits, strlen(digits), &i) || i < 0)
		return set_problem(s, "not a list index:", digits);
	if (node == NULL || node->kind != YAML_SEQUENCE || (uint64_t)i >= node->n_items)
		return set_problem(s, "there is no list entry", digits);
	*slot = &node->items[i];
	return 0;
}

/* "[3]" at *path; moves *path behind it. */
static int walk_index(const struct setter *s, struct yaml_node ***slot, const char **path)
{
	size_t len = strcspn(*path, "]");

	if ((*path)[len] != ']')
		return set_problem(s, "no ']' in", *path);
	if (step_index(s, slot, arena_strndup(s->arena, *path + 1, len - 1)) != 0)
		return -1;
	*path += len + 1;
	return 0;
}

/* A key at *path, in quotes when it holds dots: labels."a.b"; moves *path behind it. */
static int walk_key(const struct setter *s, struct yaml_node ***slot, const char **path)
{
	bool quoted = **path == '"';
	const char *key = *path + quoted;
	size_t len = strcspn(key, quoted ? "\"" : ".[");

	if (len == 0)
		return set_problem(s, "an empty key in", *path);
	if (step_key(s, slot, arena_strndup(s->arena, key, len)) != 0)
		return -1;
	*path = key + len + (quoted && key[len] == '"');
	return 0;
}

/* Walks "a.b[0].c". */
static int walk_to_slot(const struct setter *s, struct yaml_node ***slot, const char *path)
{
	while (*path != '\0') {
		if ((*path == '[' ? walk_index(s, slot, &path) : walk_key(s, slot, &path)) != 0)
			return -1;
		path += *path == '.';
	}
	return 0;
}

int yaml_set(struct yaml_node *root, const char *assignment, struct arena *a, struct diags *d,
             struct err *err)
{
	const char *equals = strchr(assignment, '=');
	struct yaml_node *value = NULL, **slot = &root;
	struct setter s = {.arena = a, .diags = d, .at = {"--set", 1, 1, 1}};

	if (equals == NULL || equals == assignment) {
		err_set(err, ERR_USAGE, "--set '%s' has no PATH=VALUE", assignment);
		return err_hint(err, "write --set image.tags=[v2]");
	}
	const char *path = arena_strndup(a, assignment, (size_t)(equals - assignment));

	s.at.file = arena_printf(a, "--set %s", path);
	if (yaml_parse(s.at.file, equals + 1, strlen(equals + 1), a, &value, d, err) != 0)
		return -1;
	if (walk_to_slot(&s, &slot, path) != 0)
		return err_set(err, ERR_SPEC, "--set %s cannot be applied", path);
	*slot = value;
	return 0;
}
