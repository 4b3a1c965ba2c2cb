/*
 * A part of an image (builder/oci/part.h): the manifests of the platforms built here go to the
 * spec's repository, and a result file describes them to the machine that joins the parts.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_PART_H
#define SLIPWAY_BUILDER_IMAGE_PART_H

#include "builder/image/build.h"
#include "builder/image/push.h"

/* ERR_SPEC when the spec has no repository, or when the plan lacks platforms on which a layer's
 * blobs depend (spec_layer_across_platforms): the joined index would not be that of one machine. */
int image_part_possible(const struct spec *spec, const struct plan *plan, struct err *err) MUST_USE;

/* Pushes every image of the result by digest, whatever the target's tags; adds up the counts. */
int image_part_push(const struct remote *remote, struct layout *layout,
                    const struct build_result *built, const struct image_target *target,
                    struct push_result *ret_result, struct err *err) MUST_USE;

/* Appends the document that `slipway index create` reads. */
void image_part_print(const struct build_result *built, const struct spec *spec, struct arena *a,
                      struct strbuf *sb);

#endif
