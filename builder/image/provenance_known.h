/*
 * What a statement of how an image was built says of inputs that are known before it is built.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_PROVENANCE_KNOWN_H
#define SLIPWAY_BUILDER_IMAGE_PROVENANCE_KNOWN_H

#include "builder/image/build.h"
#include "builder/provenance/statement.h"

/*
 * Fills a zeroed *p for image `column` of the plan: parameters, builder, and of the inputs the git
 * commit, the lock file and the .deb packages. Texts live in the arena; provenance_done, also on
 * failure. ERR_IO when one of the files cannot be read.
 */
int image_provenance_known(const struct build_opts *opts, size_t column, struct arena *a,
                           struct provenance *p, struct err *err) MUST_USE;

#endif
