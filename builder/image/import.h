/*
 * Copies an image from any store into a layout: what is pushed lies there.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_IMPORT_H
#define SLIPWAY_BUILDER_IMAGE_IMPORT_H

#include "builder/oci/layout.h"
#include "builder/oci/store.h"

/*
 * Copies root and everything below it, each verified by its digest; no tag is set. A layer that the
 * store lacks is passed over: a push may find it at its base. ERR_LIMIT for indexes nested more
 * than 4 deep.
 */
int image_import(struct store *from, const struct descriptor *root, struct layout *to,
                 struct arena *a, struct err *err) MUST_USE;

#endif
