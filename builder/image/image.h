/*
 * Opens what a reference on the command line or in the spec names, a registry, a layout or an
 * archive, as a store with a root descriptor. Owns the connections behind it.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_IMAGE_H
#define SLIPWAY_BUILDER_IMAGE_IMAGE_H

#include "builder/image/attach.h"
#include "builder/image/remote.h"
#include "builder/oci/layout.h"
#include "builder/oci/ref.h"
#include "builder/oci/store.h"

/*
 * What a user names on a command line: a file or folder that exists comes first, with an optional
 * :TAG (an archive is recognised by its content), then the references of ref.h. A registry that is
 * named with its host is one even beside a folder of that name, unless the folder is a layout.
 * ERR_NOT_FOUND for what can only be a path and is not there, ERR_FORMAT as ref_parse.
 */
int image_argument(const char *text, struct arena *a, struct ref *ret_ref,
                   struct err *err) MUST_USE;

/* An open image. Zero-initialise; AUTO(image). */
struct image {
	struct ref ref;
	struct layout *layout;     /* kind layout only */
	struct registry *registry; /* kind registry only */
	struct store *store;
	const char *typed; /* on a command line, without a host: see image_root; NULL otherwise */
};
void image_done(struct image *image);

/* Parses `text` and opens it; nothing is resolved yet. */
int image_open(const struct remote *remote, const char *text, struct arena *a,
               struct image *ret_image, struct err *err) MUST_USE;

/* The same for what image_argument reads. */
int image_open_argument(const struct remote *remote, const char *text, struct arena *a,
                        struct image *ret_image, struct err *err) MUST_USE;

/* Where something is attached to an open image. A layout is opened once more, for writing:
 * ret_place->layout is the caller's to close. ERR_UNSUPPORTED for an archive. */
int image_open_writing(const struct image *image, struct attach_place *ret_place,
                       struct err *err) MUST_USE;

/* The root descriptor: the reference's digest if it has one, else what its tag names.
 * What fails of a name without host says that there is no such file either. */
int image_root(const struct image *image, struct arena *a, struct descriptor *ret_root,
               struct err *err) MUST_USE;

#endif
