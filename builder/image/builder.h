/*
 * The image builder's own parts, not for use outside. build.c loads the bases, fills the slots and
 * packs them, documents.c writes what names the blobs.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_BUILDER_H
#define SLIPWAY_BUILDER_IMAGE_BUILDER_H

#include "builder/image/base.h"
#include "builder/image/build.h"
#include "builder/layer/source/base_files.h"
#include "builder/layer/tree/tree.h"

/* One layer of the spec on one platform, on its way from sources to blobs. */
struct layer_slot {
	const struct layer_spec *spec; /* NULL: this platform does not have the layer */
	struct tree tree;
	struct built_layer *blobs;
	size_t n_blobs;
};

/* What one platform's layers stand on. */
struct platform_base {
	struct base_image image;
	struct base_files *view, *files; /* the reader, and the one that remembers; NULL: scratch */
};

/*
 * All slots: row = layer of the spec (by name), column = platform; one shared column beside them.
 */
struct image_builder {
	const struct build_opts *opts;
	struct arena *arena;
	struct diags *diags;
	size_t n_layers, n_images;
	struct layer_slot *slots;    /* (n_layers, n_images) row-major */
	struct layer_slot *shared;   /* (n_layers) */
	struct platform_base *bases; /* (n_images) */
};

struct layer_slot *builder_slot(const struct image_builder *b, size_t layer, size_t image);

/* Configuration and manifest of one platform whose layers are packed, on its base; fills *image. */
int builder_put_image(const struct image_builder *b, size_t column, struct built_image *image,
                      struct err *err) MUST_USE;

/* The index of result->images; sets the result's index and annotations. */
int builder_put_index(const struct image_builder *b, struct build_result *result,
                      struct err *err) MUST_USE;

#endif
