/*
 * Shared parts that somebody else has installed already: by Helm, the GPU operator, an EKS add-on.
 * Such a part is used as it is, and nothing of it is applied. A DaemonSet is found by the image
 * that it runs, wherever it stands and whatever it is called, for charts and operators differ in
 * both; any other kind by its name.
 */
#ifndef SLIPWAY_K8S_DEPLOY_FOUND_H
#define SLIPWAY_K8S_DEPLOY_FOUND_H

#include "k8s/deploy/apply.h"

/* Is it of those shared objects whose presence means that their part is installed? What else
 * belongs to the part comes with them. Pure. */
bool found_is_head(const cJSON *object);

/* The object of `live` that makes the part of `item` (shared, as rendered) superfluous and is not
 * slipway's, or NULL. Pure. */
const cJSON *found_for(const cJSON *item, const cJSON *live);

/* The first taint of the targets whose nodes need `item` (a DaemonSet, as rendered) that `found`
 * does not tolerate, and its target; NULL when it runs on all of them. Pure. */
const struct taint *found_misses(const cJSON *item, const cJSON *found, const struct fleet *fleet,
                                 const struct fleet_target **ret_target);

/*
 * Takes the parts that others have installed out of the stages, and adds {part, kind, namespace,
 * name} of each to `used` (an array). ERR_CONFLICT when such a DaemonSet would not run on a node of
 * the fleet. Without the right to look nothing is taken out, and the progress says so.
 */
int stages_use_found(struct kubectl *k, const struct fleet *fleet, struct stage_list *stages,
                     cJSON *used, struct err *err) MUST_USE;

/* Is a shared object planned that is not among these (owned_list's)? Pure. */
bool stages_lack_shared(const struct stage_list *stages, const cJSON *owned);

#endif
