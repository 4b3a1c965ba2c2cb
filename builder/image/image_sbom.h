/*
 * The bill of materials of an image that exists: the document that is attached to it, or one made
 * by reading its layers, which shows what a scanner could see and no more.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_IMAGE_SBOM_H
#define SLIPWAY_BUILDER_IMAGE_IMAGE_SBOM_H

#include "base/progress.h"
#include "builder/image/image.h"
#include "builder/sbom/document.h"

struct image_sbom_opts {
	enum sbom_form form;
	bool read;            /* make it from the layers, whatever is attached */
	bool files;           /* list every file; only of what is made from the layers */
	int64_t max_unpacked; /* most bytes that the layers may unpack to; 0 = by their size */
	struct progress *progress;
};

/*
 * Appends the document of one platform's manifest. *ret_attached: it is the attached one, byte for
 * byte; of several the one created last. ERR_FORMAT for what is attached and is not a document of
 * that form about that image, ERR_LIMIT beyond SBOM_BYTES_MAX, else what reading the image gives.
 */
int image_sbom(const struct image *image, const struct descriptor *manifest,
               const struct image_sbom_opts *opts, struct arena *a, struct strbuf *document,
               bool *ret_attached, struct err *err) MUST_USE;

/*
 * The attached document alone: *ret_attached false, and nothing appended, when there is none of
 * that form.
 */
int image_sbom_attached(const struct image *image, const struct descriptor *manifest,
                        enum sbom_form form, struct arena *a, struct strbuf *document,
                        bool *ret_attached, struct err *err) MUST_USE;

/* What documents call the image: "host/path", or of a path its last name. */
const char *image_sbom_name(const struct image *image, struct arena *a);

#endif
