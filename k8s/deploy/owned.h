/*
 * Which objects of a fleet a cluster has: all that carry the owner's label, and of those that
 * fleets share (k8s/object/shared.h) the ones that it uses, as far as the caller may list them. One
 * call asks for every kind in every namespace; what may not be listed so is asked for in the
 * fleet's own namespaces, so that the roles of `slipway rbac` suffice.
 */
#ifndef SLIPWAY_K8S_DEPLOY_OWNED_H
#define SLIPWAY_K8S_DEPLOY_OWNED_H

#include "base/strlist.h"
#include "k8s/deploy/kinds.h"
#include "k8s/deploy/kubectl.h"
#include "k8s/object/object.h"

struct owned_query {
	const char *owner;
	const cJSON *resources;    /* what the cluster serves, as stages_check_kinds read it */
	struct strlist namespaces; /* of the fleet's objects; borrowed */
	bool jobs_only;            /* what runs the pods, and nothing else */
};

/* Where the rendered objects are, each namespace once, the fleet's own first; in the arena. */
struct strlist owned_namespaces(const struct fleet *fleet, const struct k8s_output *out,
                                struct arena *a);

/*
 * The objects (an array); what a controller made of ours is not among them. *ret_unseen: an object
 * with, for each namespace, an array of the kinds' resources that may not be listed there
 * ({"kube-system": ["daemonsets.apps"]}); kinds without a namespace stand under each. NULL = of no
 * interest. Kinds of which nothing may be listed are no error: ERR_DENIED means that not even one
 * may. Both results are the caller's.
 */
int owned_list(struct kubectl *k, const struct owned_query *q, cJSON **ret_items,
               cJSON **ret_unseen, struct err *err) MUST_USE;

/* Might the cluster have such an object without owned_list seeing it? */
bool owned_is_unseen(const cJSON *unseen, const cJSON *object);

/* "a, b": each resource that may be listed nowhere, once. */
void owned_tell_unseen(const cJSON *unseen, struct strbuf *sb);

#endif
