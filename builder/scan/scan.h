/*
 * Which vulnerabilities databases know of the packages of images. No network: the databases are
 * files that the caller has.
 *
 *   struct scan_image image = {.repository = "host/app", .digests = digests, .n_digests = 2};
 *   if (scan_read_document(text, len, &arena, &image, &err) != 0 ||
 *       scan_images(&image, 1, &opts, &arena, &result, &err) != 0) ...
 *   findings_refused(&image.findings, SEVERITY_HIGH)
 *
 * Databases: Debian's security tracker (https://security-tracker.debian.org/tracker/data/json), and
 * OSV records (https://ossf.github.io/osv-schema/): all.zip of an ecosystem, a folder, one record.
 * Waivers: OpenVEX (https://github.com/openvex/spec).
 *
 * In doubt it refuses: an image whose bill of materials is not complete or whose packages no
 * database covers has no findings only in that nobody looked. Files are hostile: sizes, depth and
 * numbers are capped. Strings live in the caller's arena.
 */
#ifndef SLIPWAY_BUILDER_SCAN_SCAN_H
#define SLIPWAY_BUILDER_SCAN_SCAN_H

#include "base/crypto/digest.h"
#include "base/mem.h"
#include "base/strlist.h"
#include "builder/finding/finding.h"
#include "builder/scan/purl_read.h"

enum { SCAN_PACKAGES_MAX = 500000, SCAN_FINDINGS_MAX = 200000 };

/* One image: what is given, and what was found. */
struct scan_image {
	const char *repository;       /* "host/path", or a name without '/' */
	const struct digest *digests; /* by which it can be called: its manifest's, its index's */
	size_t n_digests;
	struct scan_package *packages; /* scan_read_document */
	size_t n_packages;
	struct strlist gaps; /* why the document says that it is not complete */
	struct findings findings;
};

struct scan_opts {
	struct strlist databases; /* paths, one at least */
	struct strlist waivers;   /* paths of OpenVEX documents */
	const char *suite;        /* of Debian packages whose document names no release; or NULL */
	bool allow_unjudged;      /* gaps, and packages that no database covers, are only said */
};

struct scan_database {
	const char *path, *kind; /* "OSV" */
	int64_t modified_ms;     /* of the newest record that says; else of the file */
	size_t n_records;
};

struct scan_result {
	struct scan_database *databases;
	size_t n_databases;
	struct strlist unjudged; /* sentences, where that is allowed */
	struct strlist unused;   /* "FILE:LINE:COLUMN: CVE-..." of waivers that waive nothing */
};

/*
 * Fills packages and gaps from a document in SPDX 2.3 or CycloneDX 1.x (JSON): what has a purl.
 * ERR_FORMAT when it is neither, ERR_LIMIT beyond SCAN_PACKAGES_MAX.
 */
int scan_read_document(const char *text, size_t len, struct arena *a, struct scan_image *image,
                       struct err *err) MUST_USE;

/*
 * Sets the findings of n images. ERR_NOT_FOUND when a file is not there, or (unless allow_unjudged)
 * when no database says anything of a package's release or ecosystem; ERR_UNSUPPORTED for an image
 * with gaps; ERR_FORMAT, with position, for a file that is none of these; ERR_LIMIT,
 * ERR_INTERRUPTED.
 */
int scan_images(struct scan_image *images, size_t n, const struct scan_opts *opts, struct arena *a,
                struct scan_result *ret_result, struct err *err) MUST_USE;

#endif
