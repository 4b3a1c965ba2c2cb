/*
 * The SOCI index of an image (version 2): an artifact that names the zTOC of each layer worth one,
 * so that a node with the SOCI snapshotter can start a container before its image is there.
 * Source: awslabs/soci-snapshotter, soci/soci_index.go and soci_convert.go. The image's manifest
 * names the artifact in an annotation, and the image's index lists it behind all images, where a
 * client that takes the first manifest of a platform does not meet it.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_SOCI_H
#define SLIPWAY_BUILDER_IMAGE_SOCI_H

#include "builder/image/builder.h"

#define SOCI_ARTIFACT_TYPE    "application/vnd.amazon.soci.index.v2+json"
/* On the image's manifest: the SOCI index's digest. On its entry in the image's index: the
 * manifest's. */
#define ANNOTATION_SOCI_INDEX "com.amazon.soci.index-digest"
#define ANNOTATION_SOCI_IMAGE "com.amazon.soci.image-manifest-digest"

/*
 * Puts zTOCs and SOCI index of one platform's image, whose manifest has these layers, into the
 * layout. *ret_soci.size is 0, after a note, when no layer is worth a zTOC.
 */
int builder_put_soci(const struct image_builder *b, size_t column, const struct built_image *image,
                     const struct manifest *m, struct descriptor *ret_soci,
                     struct err *err) MUST_USE;

/* The entry of the image's SOCI index in an index. */
struct descriptor soci_index_entry(const struct built_image *image, struct arena *a);

#endif
