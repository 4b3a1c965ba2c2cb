/*
 * Jobs that a stage brings beside the training job (storage preparation): their pods cannot be
 * changed, so a changed one takes the former one's place and runs again, as it does when the former
 * one's time to live has passed.
 */
#ifndef SLIPWAY_K8S_DEPLOY_APPLY_JOBS_H
#define SLIPWAY_K8S_DEPLOY_APPLY_JOBS_H

#include "k8s/deploy/apply.h"

/* An object that is never kept: what is to be new is tried under it. */
#define TRIAL_NAME "slipway-dry-run"

/*
 * For each batch/v1 Job of `sent` that `before` has and that the server would not change: the
 * former one is deleted; in a dry run it is left, and a copy under TRIAL_NAME is sent in place of
 * the new one. `before` loses it, `sent` may gain other items. *ret_tried counts the copies.
 */
int apply_jobs_renew(struct kubectl *k, const struct apply_opts *opts, cJSON *before, cJSON *sent,
                     size_t *ret_tried, struct err *err) MUST_USE;

#endif
