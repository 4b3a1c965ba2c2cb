/*
 * What the parts of diff share: documents (diff.c) and files (diff_files.c). Nobody else includes
 * this. Ownership: everything in the arena of diff_images; cJSON objects belong to the document.
 */
#ifndef SLIPWAY_BUILDER_CHECK_DIFF_INTERNAL_H
#define SLIPWAY_BUILDER_CHECK_DIFF_INTERNAL_H

#include "builder/check/diff.h"
#include "builder/check/scan.h"
#include "builder/oci/manifest.h"

/* One platform of one side. */
struct diff_image {
	struct store *store;
	struct descriptor desc;
	struct manifest manifest;
	cJSON *config; /* owned by diff.c */
	char platform[PLATFORM_TEXT_MAX];
};

/* Appends the files that differ to the array; nothing when the layers are equal. */
int diff_files(const struct diff_image *a, const struct diff_image *b, struct arena *arena,
               cJSON *files, struct err *err) MUST_USE;

#endif
