/*
 * Looking for capacity of a target while the job runs on another: a Job whose pods do nothing, but
 * ask for what the job's pods would ask for there. Once all of them run the machines are there, and
 * are kept until the job comes. It ends by itself, so that a slipway that was killed leaves nothing
 * that costs for long; another deploy prunes it.
 */
#ifndef SLIPWAY_K8S_DEPLOY_SCOUT_H
#define SLIPWAY_K8S_DEPLOY_SCOUT_H

#include "k8s/deploy/apply.h"

#define SCOUT_SUFFIX    "-scout"
#define SCOUT_COMPONENT "scout"

/* Can there be one? Not where devices come by claims, whose template is the job's own. */
bool scout_is_possible(const struct fleet *fleet, const struct fleet_target *target);

/* The Job, in `out`, which the caller frees with k8s_output_done; for `seconds`. Pure. */
cJSON *scout_render(const struct fleet *fleet, const struct fleet_target *target, int64_t seconds,
                    struct k8s_output *out);

int scout_start(struct kubectl *k, const struct fleet *fleet, const struct fleet_target *target,
                int64_t seconds, const struct apply_opts *opts, struct err *err) MUST_USE;

/* How many of its pods run. */
int scout_look(struct kubectl *k, const struct fleet *fleet, const struct fleet_target *target,
               int64_t *ret_running, struct err *err) MUST_USE;

/* Deletes it and its pods, and waits until it is gone. Absent is as good. */
int scout_end(struct kubectl *k, const struct fleet *fleet, const struct fleet_target *target,
              struct err *err) MUST_USE;

#endif
