/*
 * Pushing an image from a layout: blobs of all platforms (each once, several at a time), then
 * per-platform manifests by digest, then the index by digest, then tags one by one: a push that
 * dies never leaves a tag on something incomplete, and run again it uploads only what is missing.
 */
#ifndef SLIPWAY_BUILDER_REGISTRY_PUSH_H
#define SLIPWAY_BUILDER_REGISTRY_PUSH_H

#include "base/strlist.h"
#include "builder/registry/registry.h"

/* What a registry does not take, said before anything is sent. 0 = no limit. */
struct push_limits {
	const char *registry; /* whose limits, for messages */
	int64_t layer_max;    /* bytes */
	int64_t manifest_max; /* bytes */
	bool plain_types;     /* media types with parameters are refused */
	bool no_mount;        /* blobs are never mounted from another repository */
};

struct push_opts {
	struct layout *layout;
	const struct descriptor *root; /* index or manifest in the layout */
	struct strlist tags;           /* may be empty: push by digest only */
	struct registry *base; /* where blobs that the layout lacks may be read, NULL = nowhere */
	const struct push_limits *limits; /* NULL = none known */
	unsigned jobs;                    /* blobs at a time; 0 = 4 */
	struct progress *progress;
	/* Called when all is there by digest and no tag is set yet; what fails then sets none. NULL
	 * = nothing is to be done. */
	int (*before_tags)(void *ctx, struct registry *r, struct err *err);
	void *ctx;
};

struct push_result {
	size_t n_uploaded, n_mounted, n_existed; /* blobs */
	int64_t bytes_uploaded;
	size_t n_manifests_put;
	size_t n_attached; /* referrers that went with the image; set by who sends them */
};

/*
 * Base layers: every layer of a manifest that carries ANNOTATION_BASE_NAME of the same registry is
 * mounted from that repository when the target lacks it; one that the layout lacks too is copied
 * from opts->base.
 */
int push_image(struct registry *r, const struct push_opts *opts, struct push_result *ret_result,
               struct err *err) MUST_USE;

#endif
