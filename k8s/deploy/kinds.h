/*
 * The kinds of objects that slipway renders: what kubectl calls them, which operator installs them,
 * and in which order they are deleted. A constant table.
 */
#ifndef SLIPWAY_K8S_DEPLOY_KINDS_H
#define SLIPWAY_K8S_DEPLOY_KINDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "k8s/deploy/object_read.h"
#include "k8s/object/kind.h"

/* Every row, 0 <= i < kinds_count(): the schedulers' kinds of job first. */
size_t kinds_count(void);
const struct kind_row *kind_at(size_t i);

/* The row of an object's apiVersion and kind, NULL if slipway renders no such thing. */
const struct kind_row *kind_of(const cJSON *object);
const struct kind_row *kind_of_resource(const char *resource);

/* Appends what kubectl calls an object's kind, also one that slipway does not render. */
void object_add_resource(const cJSON *object, struct strbuf *sb);

/* Is it among the resources that the cluster knows, as stages_check_kinds read them? */
bool resource_is_known(const cJSON *resources, const char *resource);

/* The operator of an API group, or of the first group that a sentence names; NULL if none. */
const struct operator_row *operator_of(const char *group);
const struct operator_row *operator_for_text(const char *text);

#define OWNER_LABEL "slipway/owner"

/* The component of what deploy keeps for itself: its state, its Lease, its Job in the cluster. */
#define DEPLOY_COMPONENT "deploy"

/* Adds metadata to such an object, which is called FLEET and the suffix. */
void deploy_metadata(cJSON *object, const char *namespace, const char *fleet, const char *suffix);

/* Is it one of them? */
bool is_deploys_own(const cJSON *object);

/* The same kind, group, namespace and name? Versions of a group are one. */
bool object_same(const cJSON *a, const cJSON *b);

/* The object of `items` that is `wanted`, or NULL. */
const cJSON *object_find(const cJSON *items, const cJSON *wanted);

#endif
