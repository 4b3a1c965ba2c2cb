/*
 * What the parts of diff share: documents (diff.c), files (diff_files.c) and bytes (diff_bytes.c).
 * Nobody else includes this. Ownership: everything in the arena of diff_images; cJSON objects
 * belong to the document.
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
	char platform[PLATFORM_TEXT_MAX];
};

/* What the platforms of both sides share. */
struct diff_run {
	struct arena *arena;
	struct budget *budget;
	bool bytes;                     /* find them */
	cJSON *documents;               /* those that differ; NULL unless bytes are to be found */
	VEC(struct layer_scan *) scans; /* every layer that was read, once */
};

void diff_run_done(struct diff_run *run);

/* Appends the files that differ to the array; nothing when the layers are equal. */
int diff_files(struct diff_run *run, const struct diff_image *a, const struct diff_image *b,
               cJSON *files, struct err *err) MUST_USE;

/* A blob of one side. */
struct diff_blob {
	struct store *store;
	const struct descriptor *desc;
};

/*
 * Adds to `item`, a layer that differs, "first": {"in", "path", "offset", "tar_offset", "a", "b"}:
 * where the two first differ. "in" is "content" or "header" of the file `path`, "padding" behind
 * it, "end" behind the last one, or "compression" of equal tars; "offset" counts from 0 in the
 * content, for "compression" in the blob; a and b are the bytes, absent where a side has ended.
 */
int diff_layer_bytes(struct diff_run *run, const struct diff_blob *a, const struct diff_blob *b,
                     cJSON *item, struct err *err) MUST_USE;

/* Adds to run->documents where two documents, at most max bytes each, first differ; nothing for
 * equal ones. */
int diff_document_bytes(struct diff_run *run, const char *what, const struct diff_blob *a,
                        const struct diff_blob *b, size_t max, struct err *err) MUST_USE;

/* Whether two values are equal, whatever the order of their objects' keys. n log n. */
bool diff_equal_json(const cJSON *a, const cJSON *b);

/* Appends the members that differ of two objects: {"member": PREFIX KEY, "a": .., "b": ..}. Those
 * of `config` one by one; `rootfs`, which follows from the layers, is left out. */
void diff_configs(const cJSON *a, const cJSON *b, struct arena *arena, cJSON *out);

#endif
