/*
 * Reading Kubernetes objects as kubectl gave them: each function takes NULL and any JSON, for
 * nothing in an object is trusted. What is returned is borrowed from the object. Pure.
 */
#ifndef SLIPWAY_K8S_DEPLOY_OBJECT_READ_H
#define SLIPWAY_K8S_DEPLOY_OBJECT_READ_H

#include <stdbool.h>

#include "base/doc/json.h"

/* metadata.name, .namespace, a label, .resourceVersion, the component's label; NULL if absent. */
const char *object_name(const cJSON *object);
const char *object_namespace(const cJSON *object);
const char *object_label(const cJSON *object, const char *key);
const char *object_version(const cJSON *object);
const char *object_component(const cJSON *object);

/* metadata.uid, NULL if absent; is it on its way out: deleted, and not gone yet? */
const char *object_uid(const cJSON *object);
bool object_leaves(const cJSON *object);

/* Is it of that kind: "Namespace"? Of that component: "storage"? */
bool object_is(const cJSON *object, const char *kind);
bool object_in(const cJSON *object, const char *component);

/* The first of an array's members; NULL when it has none, or is not an array. */
const cJSON *object_first(const cJSON *array);

/* Has the member `key` this string for its value? */
bool object_says(const cJSON *object, const char *key, const char *text);

/* The whole part of the member's number; 0 when it is absent, none, or beyond 2^53. */
int64_t object_number(const cJSON *object, const char *key);

/* The member's time (ISO 8601) in ms since the epoch; 0 when it is absent or none. */
int64_t object_time(const cJSON *object, const char *key);

/* status.phase, NULL if absent. */
const char *object_phase(const cJSON *object);

/* The condition of that type in status.conditions, NULL if absent; is it there with status True? */
const cJSON *object_condition(const cJSON *object, const char *type);
bool object_holds(const cJSON *object, const char *type);

#endif
