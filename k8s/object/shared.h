/*
 * Parts of a cluster that several fleets use together: device plugins, CSI drivers, exporters. Each
 * stands there once, with the owner's label SHARED_OWNER, and each fleet that uses one has an
 * annotation of its own on every object of it. A fleet that leaves takes its own away; the last one
 * deletes the objects (k8s/deploy/shared.h).
 */
#ifndef SLIPWAY_K8S_OBJECT_SHARED_H
#define SLIPWAY_K8S_OBJECT_SHARED_H

#include "base/arena.h"

/* Value of slipway/owner. No fleet has this name: a fleet's is a DNS label, without a dot. */
#define SHARED_OWNER "shared.fleets"

/* Value of app.kubernetes.io/instance, which selects the pods of a shared workload. */
#define SHARED_INSTANCE "slipway"

/* Prefix of the annotations; the fleet's name follows, and its namespace is the value. */
#define SHARED_USER "used-by.slipway/"

/* "used-by.slipway/perceiver", of the arena. */
const char *shared_user_key(const char *fleet, struct arena *a);

#endif
