/*
 * The vulnerabilities of an image by databases that are files: every platform's bill of materials,
 * the attached one or else one read from its layers, held against them (builder/scan/scan.h).
 */
#ifndef SLIPWAY_BUILDER_IMAGE_IMAGE_SCAN_H
#define SLIPWAY_BUILDER_IMAGE_IMAGE_SCAN_H

#include "base/progress.h"
#include "builder/image/image.h"
#include "builder/scan/scan.h"
#include "builder/trust/vouched.h"

struct image_scan_opts {
	struct scan_opts scan;
	struct vouchers by;   /* with keys: documents that each of them has signed, and no others */
	bool read;            /* read the layers, whatever is attached */
	int64_t max_unpacked; /* most bytes that the layers may unpack to; 0 = by their size */
	struct progress *progress;
};

/* The images of an index, or the one manifest; scanned[i] is of manifests[i]. */
struct image_scan {
	struct descriptor *manifests;
	struct scan_image *scanned;
	size_t n;
	bool *attached; /* whether the document of it was attached */
	struct scan_result result;
};

/* `root` is an index or a manifest of the image. Errors: scan.h's, and what reading gives. */
int image_scan_run(const struct image *image, const struct descriptor *root,
                   const struct image_scan_opts *opts, struct arena *a, struct image_scan *ret_scan,
                   struct err *err) MUST_USE;

#endif
