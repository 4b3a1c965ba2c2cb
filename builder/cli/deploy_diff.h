/*
 * deploy --diff: a dry run that shows what would change, and by its exit status whether anything
 * would.
 */
#ifndef SLIPWAY_BUILDER_CLI_DEPLOY_DIFF_H
#define SLIPWAY_BUILDER_CLI_DEPLOY_DIFF_H

#include "builder/cli/deploy_options.h"
#include "k8s/deploy/apply.h"

/* Makes a dry run of `opts` that notes changes in result["changes"]. ERR_USAGE with
 * --dry-run=client, which asks no cluster. From here on a failure is not status 1. */
int deploy_diff_begin(struct cli *cli, const struct deploy_options *o, struct apply_opts *opts,
                      cJSON *result, struct err *err) MUST_USE;

/* Prints them (objects to be pruned have been said); exit status 1 when there are any. */
void deploy_diff_end(struct cli *cli, cJSON *result, size_t pruned);

#endif
