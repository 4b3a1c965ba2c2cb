/*
 * A part of an image for `slipway build --push-by-digest`: the manifests of the platforms built
 * here go to the spec's repository, and a file tells the machine that joins the parts.
 */
#ifndef SLIPWAY_BUILDER_CLI_IMAGE_PART_H
#define SLIPWAY_BUILDER_CLI_IMAGE_PART_H

#include "builder/cli/image_build.h"
#include "builder/registry/push.h"

/* ERR_SPEC when the spec has no repository, or when the plan lacks platforms on which a layer's
 * blobs depend (spec_layer_across_platforms): the joined index would not be that of one machine. */
int image_part_possible(const struct spec *spec, const struct plan *plan, struct err *err) MUST_USE;

/* Pushes every image of the result by digest; adds up the counts. */
int image_part_push(struct cli *cli, const struct remote *remote, struct layout *layout,
                    const struct build_result *built, const struct spec *spec,
                    struct push_result *ret_result, struct err *err) MUST_USE;

/* Writes --result-file. */
int image_part_write(struct cli *cli, const struct build_result *built, const struct spec *spec,
                     struct err *err) MUST_USE;

#endif
