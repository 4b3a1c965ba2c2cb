/*
 * The kinds of objects that slipway renders: how kubectl calls them, which operator brings them,
 * and in which order they go away. A constant table.
 */
#ifndef SLIPWAY_K8S_DEPLOY_KINDS_H
#define SLIPWAY_K8S_DEPLOY_KINDS_H

#include <stdbool.h>
#include <stddef.h>

#include "k8s/deploy/object_read.h"

struct operator_row {
	const char *name;    /* "Karpenter" */
	const char *groups;  /* API groups it brings, with blanks around each */
	const char *install; /* the command, without secrets */
};

/* When an object goes away; lower goes first. What is awaited stands in undeploy.c. */
enum leave_order {
	LEAVE_JOB,
	LEAVE_CLAIM,
	LEAVE_VOLUME,
	LEAVE_POOL,
	LEAVE_NODE_CLASS,
	LEAVE_PLUGIN,
	LEAVE_RBAC,
	LEAVE_NAMESPACE,
	LEAVE_ORDERS
};

struct kind_row {
	const char *kind, *group; /* "NodePool", "karpenter.sh"; core: "" */
	const char *resource;     /* "nodepools.karpenter.sh" */
	enum leave_order leave;
};
extern const struct kind_row kind_rows[];
extern const size_t n_kind_rows;

/* The row of an object's apiVersion and kind, NULL if slipway renders no such thing. */
const struct kind_row *kind_of(const cJSON *object);
const struct kind_row *kind_of_resource(const char *resource);

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
