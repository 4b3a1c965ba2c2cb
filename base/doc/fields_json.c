#include "base/doc/fields_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { JSON_TEXT_MAX = 4 * YAML_BYTES_MAX };

/* Whole numbers up to here are exact in a double. */
static const double exact_max = 9007199254740992.0;

static const char *skip_digits(const char *p)
{
	return p + strspn(p, "0123456789");
}

/* The grammar of RFC 8259, section 6. */
static bool is_number(const char *text)
{
	const char *p = text + (text[0] == '-'), *end = skip_digits(p);

	if (end == p || (p[0] == '0' && end > p + 1))
		return false;
	if (*end == '.') {
		p = end + 1;
		end = skip_digits(p);
		if (end == p)
			return false;
	}
	if (*end == 'e' || *end == 'E') {
		p = end + 1 + (end[1] == '+' || end[1] == '-');
		end = skip_digits(p);
		if (end == p)
			return false;
	}
	return *end == '\0';
}

static cJSON *number(struct fields_context *c, const struct yaml_node *node)
{
	double value = strtod(node->text, NULL);

	if (isfinite(value) && (fabs(value) <= exact_max || strpbrk(node->text, ".eE") != NULL))
		return cJSON_CreateNumber(value);
	diags_error(c->diags, node->at, "write it in quotes, if it may be a string",
	            "'%s' is more than a JSON number holds", node->text);
	return NULL;
}

static cJSON *string(struct fields_context *c, const struct yaml_node *node)
{
	const char *text = c->expand != NULL ? c->expand(c, node) : node->text;

	if (text == NULL || strstr(text, "${") == NULL)
		return text != NULL ? cJSON_CreateString(text) : NULL;
	diags_error(c->diags, node->at, "write it out: one value serves every platform",
	            "variables of a platform have no meaning here");
	return NULL;
}

static cJSON *scalar(struct fields_context *c, const struct yaml_node *node)
{
	bool truth;

	if (node->quoted)
		return string(c, node);
	if (yaml_is_null(node))
		return cJSON_CreateNull();
	if (yaml_is_bool(node, &truth))
		return cJSON_CreateBool(truth);
	if (yaml_is_bool_like(node)) {
		diags_error(c->diags, node->at,
		            "write true or false, or the word in quotes for a string",
		            "'%s' means different things to different readers", node->text);
		return NULL;
	}
	return is_number(node->text) ? number(c, node) : string(c, node);
}

static cJSON *value_of(struct fields_context *c, const struct yaml_node *node);

/* YAML_DEPTH_MAX bounds the recursion. */
static cJSON *collection(struct fields_context *c, const struct yaml_node *node)
{
	bool mapping = node->kind == YAML_MAPPING;
	cJSON *doc = mapping ? cJSON_CreateObject() : cJSON_CreateArray();

	for (size_t i = 0; i < (mapping ? node->n_pairs : node->n_items); i++) {
		cJSON *value = value_of(c, mapping ? node->pairs[i].value : node->items[i]);

		if (value == NULL)
			continue;
		if (mapping)
			cJSON_AddItemToObject(doc, node->pairs[i].key->text, value);
		else
			json_push(doc, value);
	}
	return doc;
}

/* NULL after a problem. */
static cJSON *value_of(struct fields_context *c, const struct yaml_node *node)
{
	return node->kind == YAML_SCALAR ? scalar(c, node) : collection(c, node);
}

void decode_json(struct fields_context *c, const struct yaml_node *node, void *member)
{
	AUTO(json) cJSON *value = value_of(c, node);
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(JSON_TEXT_MAX);

	if (value == NULL)
		return;
	json_print(value, &text);
	*(const char **)member = arena_strdup(c->arena, strbuf_str(&text));
}
