/*
 * A part of an image: what a machine that built some of its platforms reports to the machine that
 * joins them. Written by `slipway build --push-by-digest --result-file`, read by `slipway index
 * create`.
 * As JSON:
 *
 *   {"schema": "slipway.dev/part/v1", "repository": "HOST/NAME", "manifests": [DESCRIPTOR...],
 *    "index": {"platforms": ["linux/amd64", ...], "annotations": {...}}}
 *
 * Every part names the whole index that it belongs to: all platforms in their order, and the
 * annotations. So the joined index is, byte for byte, the one that a single machine would have
 * made, and parts of different specs or of different commits' specs do not join. Of a platform
 * there is an image, and maybe an artifact (a SOCI index), which stands behind all images. Pure.
 */
#ifndef SLIPWAY_BUILDER_OCI_PART_H
#define SLIPWAY_BUILDER_OCI_PART_H

#include "base/strlist.h"
#include "builder/oci/manifest.h"

enum { PART_BYTES_MAX = 1 << 20, PART_PLATFORMS_MAX = 64 };

struct image_part {
	const char *file; /* where it was read from, for messages; NULL when it is being made */
	const char *repository;       /* "host/name", without tag */
	struct descriptor *manifests; /* of this machine, each with its platform */
	size_t n_manifests;
	struct platform *platforms; /* of the whole index, in its order */
	size_t n_platforms;
	struct strmap annotations; /* of the whole index */
};

/* The document; caller owns. */
cJSON *image_part_json(const struct image_part *part);

/* Reads one. ERR_FORMAT names the member that is wrong; `file` goes to messages and stays
 * borrowed. */
int image_part_parse(const char *file, const char *text, size_t len, struct arena *a,
                     struct image_part *ret_part, struct err *err) MUST_USE;

/*
 * The index of which these are all the parts. ERR_CONFLICT when two parts disagree on repository,
 * platforms or annotations, when a platform is there twice or not at all, or when one is of none of
 * the index's platforms: the message names the files.
 */
int image_parts_join(const struct image_part *parts, size_t n, struct arena *a,
                     struct index *ret_index, struct err *err) MUST_USE;

#endif
