/*
 * An image of a layout as one file.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_PACK_H
#define SLIPWAY_BUILDER_IMAGE_PACK_H

#include "builder/oci/layout.h"

/*
 * Writes root, under `tag` (NULL = none), as an archive of OCI's form. What is attached to it in
 * the layout goes with it, as further entries of the archive's index.json; what else it holds
 * does not. Errors as archive_write_oci.
 */
int image_pack(struct layout *layout, const struct descriptor *root, const char *tag,
               const char *path, struct err *err) MUST_USE;

#endif
