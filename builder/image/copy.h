/*
 * Copying an image with all that belongs to it (copy_plan.h) from anywhere to anywhere, byte for
 * byte: digests and signatures stay good. What is there is not sent; blobs go before what names
 * them and tags last, so that a copy that dies leaves no tag on something incomplete, and run again
 * sends what is missing.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_COPY_H
#define SLIPWAY_BUILDER_IMAGE_COPY_H

#include "base/strlist.h"
#include "builder/image/copy_place.h"

struct copy_opts {
	struct store *from;
	const char *mount_from; /* the source's repository, where blobs can be mounted from it */
	struct copy_place *to;
	const struct descriptor *root;
	struct strlist tags; /* for the root, may be empty */
	unsigned jobs;       /* blobs at a time; 0 = 8 */
	bool attached_only;  /* the image itself is there: what is attached to it goes alone */
};

struct copy_result {
	size_t n_uploaded, n_mounted, n_existed; /* blobs */
	int64_t bytes_uploaded;
	size_t n_manifests_put,
		n_attached; /* attached: referrers and cosign's tags, there or sent */
};

/* Adds to *result. */
int copy_image(const struct copy_opts *opts, struct copy_result *result, struct err *err) MUST_USE;

#endif
