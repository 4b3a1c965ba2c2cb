/*
 * The image check of what was just built: settings from the plan, verdicts remembered in the build
 * cache.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_CHECK_H
#define SLIPWAY_BUILDER_IMAGE_CHECK_H

#include "builder/check/check.h"
#include "builder/image/build.h"
#include "builder/layer/pack/cache.h"
#include "builder/spec/spec.h"

struct image_check_opts {
	struct store *store;
	const struct descriptor *root; /* of the image in the store */
	const struct plan *plan;
	const struct build_result *built; /* names the layers that are the base's */
	struct layer_cache *cache;        /* NULL = nothing is remembered */
	unsigned threads;                 /* 0 = all CPUs */
	struct progress *progress;        /* NULL = silent */
};

/*
 * check_image with the plan's settings, skipped when this very image passed the very same check
 * before. *ret_cached says so; *ret_report is empty then.
 */
int image_check_cached(const struct image_check_opts *opts, struct arena *a,
                       struct check_report *ret_report, bool *ret_cached, struct diags *d,
                       struct err *err) MUST_USE;

#endif
