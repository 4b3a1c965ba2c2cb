/*
 * Objects that several fleets of a cluster use together (k8s/object/shared.h): who uses one, and a
 * fleet that leaves. Nobody counts: the annotations on the object are the users, each fleet writes
 * its own alone, and whoever takes the last one away deletes the object, provided that it is still
 * the version that was looked at.
 */
#ifndef SLIPWAY_K8S_DEPLOY_SHARED_H
#define SLIPWAY_K8S_DEPLOY_SHARED_H

#include <stdbool.h>

#include "k8s/deploy/kubectl.h"

/* Is it one of them, as rendered or as it is in the cluster? Pure. */
bool object_is_shared(const cJSON *object);

/* Does this fleet use it? Pure. */
bool shared_used_by(const cJSON *object, const char *fleet);

/* How many fleets other than this one use it; their names are added to `names` ("a, b"; NULL = not
 * asked for). Pure. */
size_t shared_others(const cJSON *object, const char *fleet, struct strbuf *names);

/* The installation that it belongs to: the `part` of k8s_share. NULL for the fleet's own. Pure. */
const char *shared_part(const cJSON *object);

/* Takes the fleet's use away, and the object itself when no other fleet uses it; looks again when
 * somebody else changed it meanwhile. Absent, or not used, is as good. Waits for nothing;
 * *ret_going: the object is being deleted. */
int shared_release(struct kubectl *k, const cJSON *object, const char *fleet, bool *ret_going,
                   struct err *err) MUST_USE;

/* Did an apply fail for no other reason than that another fleet wrote the same fields, with another
 * version of slipway? Then the last one deployed is right. Not where they give a role: two fleets
 * that want two do not get along. Pure; `message` is kubectl_advice's. */
bool shared_conflict_is_ours(const char *message);

#endif
