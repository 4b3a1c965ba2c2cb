#include "k8s/deploy/object_read.h"

#include <string.h>

#include "base/timestamp.h"

const char *object_name(const cJSON *object)
{
	return json_string(json_get(object, "metadata"), "name");
}

const char *object_namespace(const cJSON *object)
{
	return json_string(json_get(object, "metadata"), "namespace");
}

const char *object_label(const cJSON *object, const char *key)
{
	return json_string(json_get(json_get(object, "metadata"), "labels"), key);
}

const char *object_uid(const cJSON *object)
{
	return json_string(json_get(object, "metadata"), "uid");
}

bool object_leaves(const cJSON *object)
{
	return json_get(json_get(object, "metadata"), "deletionTimestamp") != NULL;
}

const char *object_version(const cJSON *object)
{
	return json_string(json_get(object, "metadata"), "resourceVersion");
}

const char *object_component(const cJSON *object)
{
	return object_label(object, "app.kubernetes.io/component");
}

bool object_is(const cJSON *object, const char *kind)
{
	return object_says(object, "kind", kind);
}

bool object_in(const cJSON *object, const char *component)
{
	const char *its = object_component(object);

	return its != NULL && strcmp(its, component) == 0;
}

const cJSON *object_first(const cJSON *array)
{
	return cJSON_IsArray(array) ? array->child : NULL;
}

bool object_says(const cJSON *object, const char *key, const char *text)
{
	const char *value = json_string(object, key);

	return value != NULL && strcmp(value, text) == 0;
}

int64_t object_number(const cJSON *object, const char *key)
{
	const double max = 9007199254740992.0;
	const cJSON *item = json_get(object, key);

	if (!cJSON_IsNumber(item) || !(item->valuedouble >= -max && item->valuedouble <= max))
		return 0;
	return (int64_t)item->valuedouble;
}

int64_t object_time(const cJSON *object, const char *key)
{
	const char *text = json_string(object, key);
	int64_t ms;

	return text != NULL && timestamp_iso8601(text, &ms) ? ms : 0;
}

const char *object_phase(const cJSON *object)
{
	return json_string(json_get(object, "status"), "phase");
}

const cJSON *object_condition(const cJSON *object, const char *type)
{
	const cJSON *item = object_first(json_get(json_get(object, "status"), "conditions"));

	while (item != NULL && !object_says(item, "type", type))
		item = item->next;
	return item;
}

bool object_holds(const cJSON *object, const char *type)
{
	return object_says(object_condition(object, type), "status", "True");
}
