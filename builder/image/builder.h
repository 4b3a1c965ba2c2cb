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
#include "builder/sbom/inventory.h"

/* One layer of the spec on one platform, on its way from sources to blobs. */
struct layer_slot {
	const struct layer_spec *spec; /* NULL: this platform does not have the layer */
	struct tree tree;
	struct tree *parts; /* what the blobs were made from, one each; set when they are packed */
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
	struct inventory *contents;  /* (n_images), sorted; NULL: nobody asks */
	int64_t started_ms;          /* of the clock */
};

struct layer_slot *builder_slot(const struct image_builder *b, size_t layer, size_t image);

/* ---- contents.c ---- */

/* Lists what the images hold, before they are packed; nothing unless image.sbom or
 * image.provenance is written, and nothing of the base unless image.sbom is. */
int builder_list_contents(struct image_builder *b, struct err *err) MUST_USE;

/* How many layers the base has: 0 for scratch. */
size_t builder_base_layers(const struct image_builder *b, size_t column);

/* Tree i of one platform, bottom first, of 2 * n_layers: of each layer the shared one, its own. */
const struct layer_slot *builder_tree(const struct image_builder *b, size_t column, size_t i);

/* ---- database.c ---- */

/* Fills the layer that names the packages in the image itself (image.sbom.in_image). */
int builder_fill_database(struct image_builder *b, struct err *err) MUST_USE;

/* ---- sbom.c ---- */

/* Attaches the documents to the packed images of the result. */
int builder_attach_sboms(const struct image_builder *b, struct build_result *result,
                         struct err *err) MUST_USE;

/* ---- provenance.c ---- */

/* Attaches a statement of how it was built to each image of the result. */
int builder_attach_provenance(const struct image_builder *b, struct build_result *result,
                              struct err *err) MUST_USE;

/* ---- build.c ---- */

/* Says in the result what is attached. */
void builder_attached(const struct image_builder *b, struct build_result *result, const char *what);

/* ---- documents.c ---- */

/* SOURCE_DATE_EPOCH as RFC 3339 has it, in the arena. */
const char *builder_epoch_text(const struct image_builder *b);

/* Configuration and manifest of one platform whose layers are packed, on its base; fills *image. */
int builder_put_image(const struct image_builder *b, size_t column, struct built_image *image,
                      struct err *err) MUST_USE;

/* The index of result->images; sets the result's index and annotations. */
int builder_put_index(const struct image_builder *b, struct build_result *result,
                      struct err *err) MUST_USE;

#endif
