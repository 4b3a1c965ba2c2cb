/*
 * The file system of a base image, read from its layers when the first question comes: what
 * builder/layer/source/base_files.h asks, answered by the view that the image check makes of an
 * image. Nothing is unpacked; digests and sizes are verified on the way.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_BASE_VIEW_H
#define SLIPWAY_BUILDER_IMAGE_BASE_VIEW_H

#include "builder/image/base.h"
#include "builder/layer/source/base_files.h"
#include "builder/sbom/inventory.h"

/* A reader of `base`, which with opts and image must outlive it. base_view_close frees it. */
struct base_files *base_view_open(const struct build_opts *opts, const struct plan_image *image,
                                  const struct base_image *base);
void base_view_close(struct base_files *files); /* accepts NULL */

/* Adds what the base holds (image.sbom is written in the spec); it is read for that. */
int base_view_inventory(struct base_files *files, struct inventory *inv, struct err *err) MUST_USE;

#endif
