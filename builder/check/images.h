/*
 * Which images a reference stands for: the manifest itself, or those of an index and of the indexes
 * inside it. Reads indexes only, and refuses what names no image at all: nothing was checked then.
 * Bounded for indexes made to do harm: in depth, in number and in entries.
 */
#ifndef SLIPWAY_BUILDER_CHECK_IMAGES_H
#define SLIPWAY_BUILDER_CHECK_IMAGES_H

#include "builder/oci/manifest.h"
#include "builder/oci/store.h"

enum {
	IMAGES_DEPTH_MAX = 8,     /* indexes one inside the other, as layout_gc follows them */
	IMAGES_INDEXES_MAX = 64,  /* different indexes below one root */
	IMAGES_ENTRIES_MAX = 8192 /* entries of all of them together */
};

/* Entries that are no images: they are passed over, and that is said. */
struct images_skipped {
	size_t n_attestations;
	size_t n_artifacts;
	const char *type; /* of the first artifact; NULL if none */
};

struct image_list {
	struct descriptor *at; /* manifests, in the order in which the indexes name them */
	size_t n;
	size_t n_indexes;            /* read on the way, each once */
	const struct index *indexes; /* these */
	struct images_skipped skipped;
};

/*
 * The images below `root`; with `only` (may be NULL) the one that fits this platform best, except
 * that a root which is a manifest is taken as it is. The list lives in the arena. ERR_CHECK when no
 * entry is an image, ERR_NOT_FOUND when none is of the platform, ERR_LIMIT beyond the caps,
 * ERR_FORMAT when root is neither; else what reading an index gives.
 */
int images_list(struct store *store, const struct descriptor *root, const struct platform *only,
                struct arena *a, struct image_list *ret_list, struct err *err) MUST_USE;

/*
 * True when the manifest that `entry` of an index stands for is an artifact of another kind, which
 * only the manifest itself says (image-spec, manifest.md, "Guidelines for Artifact Usage"): its
 * configuration is not an image's, and it names an artifact type or the index no platform. Adds it
 * to *skipped.
 */
bool images_skip_artifact(const struct descriptor *entry, const struct manifest *manifest,
                          struct images_skipped *skipped);

/* Appends what was passed over, in words; nothing when nothing was. */
void images_describe_skipped(const struct images_skipped *skipped, struct strbuf *sb);

#endif
