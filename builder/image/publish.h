/*
 * The results of a build: names in the layout, an archive, and the record of what was built.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_PUBLISH_H
#define SLIPWAY_BUILDER_IMAGE_PUBLISH_H

#include "builder/image/build.h"

/* The tags that name the spec's image in a layout: its own, or "latest". */
struct strlist image_tags(const struct spec *spec, struct arena *a);

/* Names root in the layout by the image's tags and no other of its earlier builds, and drops what
 * nothing names any more; *ret_in_use: somebody reads the layout, so it is kept until a later
 * build. */
int image_publish(struct layout *layout, const struct spec *spec, const struct descriptor *root,
                  struct arena *a, bool *ret_in_use, struct err *err) MUST_USE;

/* Writes root as an archive of OCI's form or of docker's, under the spec's first tag; ERR_USAGE
 * when the form cannot hold several platforms. One of OCI's form has what is attached, too. */
int image_archive(struct layout *layout, const struct descriptor *root, const struct spec *spec,
                  bool docker, const char *path, struct arena *a, struct err *err) MUST_USE;

/* Of the compressed bytes of an image's layers, those of the base included: the largest's. */
int64_t built_largest_layer(const struct built_image *image);

/* Appends an object per image to the array: platform, digest, sizes, our layers. */
void built_images_json(const struct build_result *result, cJSON *array);

#endif
