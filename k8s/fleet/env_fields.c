#include "k8s/fleet/env_fields.h"

#include <string.h>

#include "base/attr.h"
#include "base/text.h"

/* What the downward API gives as a variable. */
static const char *check_pod_field(const char *text, const char **ret_hint)
{
	static const char *const whole[] = {
		"metadata.name",  "metadata.namespace", "metadata.uid",
		"spec.nodeName",  "status.hostIP",      "spec.serviceAccountName",
		"status.hostIPs", "status.podIP",       "status.podIPs"};
	static const char *const maps[] = {"metadata.labels['", "metadata.annotations['"};

	*ret_hint = "write a field of the pod, as in metadata.name, spec.nodeName, status.podIP or "
		    "metadata.labels['KEY']";
	for (size_t i = 0; i < ARRAY_LEN(whole); i++)
		if (strcmp(text, whole[i]) == 0)
			return NULL;
	for (size_t i = 0; i < ARRAY_LEN(maps); i++)
		if (text_has_prefix(text, maps[i]) && text_has_suffix(text, "']"))
			return NULL;
	return "is not a field of a pod that a variable can have";
}

static const char *check_object_key(const char *text, const char **ret_hint)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";

	*ret_hint = "letters, digits, '-', '_' and '.'";
	return text[0] != '\0' && strlen(text) <= 253 && text[strspn(text, letters)] == '\0'
	               ? NULL
	               : "is not a key of a Secret or ConfigMap";
}

/* Of the keys that say where a value comes from. */
static size_t count_keys(const struct yaml_node *node, const char *const *keys, size_t n)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += yaml_get(node, keys[i]) != NULL;
	return found;
}

static void check_variable(struct fields_context *c, const struct yaml_node *node, void *object)
{
	static const char *const sources[] = {"value", "secret", "config_map", "field"};
	const struct env_variable *v = object;

	if (node->kind != YAML_MAPPING)
		return;
	if (count_keys(node, sources, ARRAY_LEN(sources)) != 1)
		diags_error(c->diags, node->at,
		            "write a text, or {secret: NAME, key: KEY}, {config_map: NAME, key: "
		            "KEY} or {field: status.podIP}",
		            "env: a variable has one of value, secret, config_map and field");
	else if ((v->secret != NULL || v->config_map != NULL) != (yaml_get(node, "key") != NULL))
		diags_error(c->diags, node->at, v->key == NULL ? "add `key:`" : "leave `key:` out",
		            "env: a Secret or ConfigMap has its values under keys, and nothing "
		            "else has");
	else if (v->optional && v->key == NULL)
		diags_error(c->diags, node->at, "leave `optional:` out",
		            "env: only what a Secret or ConfigMap has can be missing");
}

static void check_source(struct fields_context *c, const struct yaml_node *node,
                         void *object UNUSED)
{
	static const char *const sources[] = {"secret", "config_map"};

	if (node->kind == YAML_MAPPING && count_keys(node, sources, ARRAY_LEN(sources)) != 1)
		diags_error(c->diags, node->at, "write secret: NAME or config_map: NAME",
		            "env_from: an entry has one of secret and config_map");
}

static const struct field variable_rows[] = {
	TEXT(struct env_variable, value, "value", "Its value.", .check = check_text),
	TEXT(struct env_variable, secret, "secret", "Secret of the namespace that has the value.",
             .check = check_dns_subdomain),
	TEXT(struct env_variable, config_map, "config_map",
             "ConfigMap of the namespace that has the value.", .check = check_dns_subdomain),
	TEXT(struct env_variable, key, "key", "Key of the Secret or ConfigMap.",
             .check = check_object_key),
	TEXT(struct env_variable, field, "field",
             "Field of the pod, as in metadata.name or status.podIP.", .check = check_pod_field),
	FIELD_BOOL(struct env_variable, optional, "optional",
                   "Start without the variable where the Secret, the ConfigMap or its key is not "
                   "there."),
};

/* Kubernetes' words. */
static const struct field_habit variable_habits[] = {
	{"valueFrom", "write {secret: NAME, key: KEY}, {config_map: NAME, key: KEY} or {field: "
                      "status.podIP}"},
	{"secretKeyRef", "write {secret: NAME, key: KEY}"},
	{"configMapKeyRef", "write {config_map: NAME, key: KEY}"},
	{"fieldRef", "write {field: status.podIP}"},
	{NULL, NULL},
};

const struct field_table env_variable_fields =
	FIELD_TABLE(struct env_variable, "variable", variable_rows,
                    "A variable: a text, or where its value comes from.", .has_pos = true,
                    .habits = variable_habits, .pos_offset = offsetof(struct env_variable, at),
                    .shorthand = "value", .check = check_variable);

static const struct field source_rows[] = {
	TEXT(struct env_source, secret, "secret", "Secret of the namespace.",
             .check = check_dns_subdomain),
	TEXT(struct env_source, config_map, "config_map", "ConfigMap of the namespace.",
             .check = check_dns_subdomain),
	TEXT(struct env_source, prefix, "prefix", "What the variables' names begin with.",
             .check = check_env_name),
	FIELD_BOOL(struct env_source, optional, "optional",
                   "Start without it where it is not there."),
};

const struct field_table env_source_fields =
	FIELD_TABLE(struct env_source, "env_from", source_rows,
                    "Every key of a Secret or ConfigMap as a variable.", .has_pos = true,
                    .pos_offset = offsetof(struct env_source, at), .check = check_source);
