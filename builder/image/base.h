/*
 * The base image of one platform, from wherever its reference leads.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_BASE_H
#define SLIPWAY_BUILDER_IMAGE_BASE_H

#include "builder/image/build.h"
#include "builder/oci/manifest.h"

/* The base of one platform, resolved. */
struct base_image {
	bool scratch;
	const char *name;           /* canonical reference, for the annotation */
	struct descriptor manifest; /* of this platform */
	struct manifest parsed;
	cJSON *config; /* owned */
};

/*
 * Resolves ref for a platform: lock or tag, index, manifest and configuration, all verified; unless
 * `sparse`, its layers are brought into the layout (from the cache, else downloaded).
 */
int base_image_load(const struct build_opts *opts, const struct plan_image *image, struct arena *a,
                    struct base_image *ret_base, struct err *err) MUST_USE;
void base_image_done(struct base_image *base);

#endif
