/*
 * Opens what a reference on the command line or in the spec names, a registry, a layout or an
 * archive, as a store with a root descriptor. Owns the connections behind it.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_IMAGE_H
#define SLIPWAY_BUILDER_IMAGE_IMAGE_H

#include "builder/image/remote.h"
#include "builder/oci/layout.h"
#include "builder/oci/ref.h"
#include "builder/oci/store.h"

/* An open image. Zero-initialise; AUTO(image). */
struct image {
	struct ref ref;
	struct layout *layout;     /* kind layout only */
	struct registry *registry; /* kind registry only */
	struct store *store;
};
void image_done(struct image *image);

/* Parses `text` and opens it; nothing is resolved yet. */
int image_open(const struct remote *remote, const char *text, struct arena *a,
               struct image *ret_image, struct err *err) MUST_USE;

/* The root descriptor: the reference's digest if it has one, else what its tag names. */
int image_root(const struct image *image, struct arena *a, struct descriptor *ret_root,
               struct err *err) MUST_USE;

#endif
