/*
 * From a plan to an image in a layout: base images, layers, configurations, manifests, index. Joins
 * the rooms layer, oci and registry.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_BUILD_H
#define SLIPWAY_BUILDER_IMAGE_BUILD_H

#include "base/progress.h"
#include "base/strlist.h"
#include "builder/image/image.h"
#include "builder/layer/pack/cache.h"
#include "builder/layer/pack/layer.h"
#include "builder/oci/layout.h"
#include "builder/spec/lock.h"
#include "builder/spec/spec.h"

/* The manifest of one platform that a base's reference stood for when the image was built. */
struct base_pin {
	const char *name; /* canonical reference */
	struct platform platform;
	struct digest manifest;
};

struct build_opts {
	const struct plan *plan;
	struct layout *layout;
	struct layer_cache *cache;   /* NULL = none */
	const struct remote *remote; /* how registries are reached, for base images */
	struct lock *lock;           /* base digests; filled in, or obeyed when `locked` */
	bool locked;
	/* A build that is repeated: bases in a registry that are named by a tag are taken by these
	 * digests, and no CI system speaks for the source. */
	bool again;
	const struct base_pin *pins;
	size_t n_pins;
	struct strlist overrides; /* keys of the spec that options wrote over, for provenance */
	bool sparse;              /* leave base layers out of the layout */
	int64_t epoch;            /* SOURCE_DATE_EPOCH, seconds */
	unsigned threads;         /* compressors; 0 = all CPUs */
	struct progress *progress;
	/* Told of each layer of ours when it lies in the layout; NULL = nobody. */
	void (*packed)(void *ctx, const struct descriptor *layer);
	void *packed_ctx;
};

/* What one layer blob of the result is. */
struct built_layer {
	const char *name;
	struct layer_result result;
	bool shared; /* the same blob serves every platform */
};

struct built_image {
	struct platform platform;
	struct descriptor manifest, config;
	struct built_layer *layers; /* ours, without the base's */
	size_t n_layers;
	struct descriptor *base_layers; /* bottom first; as the base names them, in OCI's words */
	size_t n_base_layers;
	int64_t size;           /* compressed bytes of all layers, the base's included */
	struct descriptor soci; /* the SOCI index (soci.h); size 0 = none */
};

struct build_result {
	struct descriptor index;
	struct strlist attached;   /* to each image: "spdx", "cyclonedx", "provenance" */
	struct strmap annotations; /* of the index */
	struct built_image *images;
	size_t n_images;
};

/*
 * Builds every platform of the plan and puts the index into the layout (no tag is set).
 * Problems of the user's making go to diags, then ERR_SPEC.
 */
int image_build(const struct build_opts *opts, struct arena *a, struct build_result *ret_result,
                struct diags *d, struct err *err) MUST_USE;

#endif
