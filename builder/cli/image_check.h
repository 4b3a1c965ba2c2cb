/*
 * Running the image check for a command: options from the spec, verdicts remembered in the build
 * cache.
 */
#ifndef SLIPWAY_BUILDER_CLI_IMAGE_CHECK_H
#define SLIPWAY_BUILDER_CLI_IMAGE_CHECK_H

#include "builder/check/check.h"
#include "builder/cli/command.h"
#include "builder/layer/pack/cache.h"
#include "builder/spec/spec.h"

/*
 * check_image with the plan's settings, skipped when this very image passed the very same check
 * before. *ret_cached says so; *ret_report is empty then.
 */
int image_check_cached(struct cli *cli, struct store *store, const struct descriptor *root,
                       const struct plan *plan, struct layer_cache *cache,
                       struct check_report *ret_report, bool *ret_cached, struct err *err) MUST_USE;

/* $SLIPWAY_CACHE_MAX in bytes, default 10 GiB. */
int64_t image_cache_limit(void);

/* Loads the spec named by --file with every --set. */
int spec_from_options(struct cli *cli, struct spec **ret_spec, struct err *err) MUST_USE;

#endif
