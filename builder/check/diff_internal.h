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
	char platform[PLATFORM_TEXT_MAX];
};

/* What the platforms of both sides share. */
struct diff_run {
	struct arena *arena;
	struct budget *budget;
	VEC(struct layer_scan *) scans; /* every layer that was read, once */
};

void diff_run_done(struct diff_run *run);

/* Appends the files that differ to the array; nothing when the layers are equal. */
int diff_files(struct diff_run *run, const struct diff_image *a, const struct diff_image *b,
               cJSON *files, struct err *err) MUST_USE;

/* Whether two values are equal, whatever the order of their objects' keys. n log n. */
bool diff_equal_json(const cJSON *a, const cJSON *b);

/* Appends the members that differ of two objects: {"member": PREFIX KEY, "a": .., "b": ..}. Those
 * of `config` one by one; `rootfs`, which follows from the layers, is left out. */
void diff_configs(const cJSON *a, const cJSON *b, struct arena *arena, cJSON *out);

#endif
