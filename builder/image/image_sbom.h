/*
 * The bill of materials of an image that exists: the document that is attached to it, or one made
 * by reading its layers, which shows what a scanner could see and no more.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_IMAGE_SBOM_H
#define SLIPWAY_BUILDER_IMAGE_IMAGE_SBOM_H

#include "base/progress.h"
#include "builder/image/image.h"
#include "builder/sbom/document.h"
#include "builder/trust/vouched.h"

struct image_sbom_opts {
	enum sbom_form form;
	struct vouchers by;   /* with keys: the document that each of them has signed, or none */
	bool read;            /* make it from the layers, whatever is attached */
	bool files;           /* list every file; only of what is made from the layers */
	int64_t max_unpacked; /* most bytes that the layers may unpack to; 0 = by their size */
	struct progress *progress;
};

/*
 * Appends the document of one platform's manifest. *ret_attached: it is the attached one, byte for
 * byte; of several the one created last. ERR_FORMAT for what is attached and is not a document of
 * that form about that image, ERR_LIMIT beyond SBOM_BYTES_MAX, ERR_CHECK where it has to be signed
 * and is not, else what reading the image gives.
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

/*
 * The document that each key has signed, as the predicate of a statement about the manifest:
 * nothing is appended, and ret_vouched->statement is NULL, when there is none of that form.
 */
int image_sbom_signed(struct store *s, const struct descriptor *manifest, enum sbom_form form,
                      const struct vouchers *by, struct arena *a, struct strbuf *document,
                      struct vouched *ret_vouched, struct err *err) MUST_USE;

/* The attached document `found` of a store's image. ERR_FORMAT as above. */
int image_sbom_read(struct store *s, const struct descriptor *manifest, enum sbom_form form,
                    const struct descriptor *found, struct arena *a, struct strbuf *document,
                    struct err *err) MUST_USE;

/* What documents call the image: "host/path", or of a path its last name. */
const char *image_sbom_name(const struct image *image, struct arena *a);

#endif
