/*
 * Image manifests and image indexes (image-spec, manifest.md and image-index.md) as typed values.
 * Parsing accepts the Docker twins; printing gives OCI, serialised once: those bytes are the
 * manifest. Strings live in the arena.
 */
#ifndef SLIPWAY_BUILDER_OCI_MANIFEST_H
#define SLIPWAY_BUILDER_OCI_MANIFEST_H

#include "builder/oci/descriptor.h"

/* Registries need not take more (distribution-spec, "Pushing manifests"); ECR's hard limit too. */
enum { MANIFEST_BYTES_MAX = 4 << 20, MANIFEST_LAYERS_MAX = 4096, IMAGE_LAYERS_MAX = 127 };

struct manifest {
	const char *media_type;
	const char *artifact_type; /* NULL if none */
	struct descriptor config;
	struct descriptor *layers; /* bottom first */
	size_t n_layers;
	struct strmap annotations;
	struct descriptor *subject; /* NULL if none */
};

struct index {
	const char *media_type;
	struct descriptor *manifests;
	size_t n_manifests;
	struct strmap annotations;
};

/*
 * Parses bytes whose media type is `media_type` (from the descriptor or Content-Type; NULL = take
 * the document's own). ERR_FORMAT when schemaVersion is not 2, the document's mediaType differs, a
 * member is missing or malformed; ERR_LIMIT beyond MANIFEST_BYTES_MAX.
 */
int manifest_parse(const char *bytes, size_t len, const char *media_type, struct arena *a,
                   struct manifest *ret_manifest, struct err *err) MUST_USE;
int index_parse(const char *bytes, size_t len, const char *media_type, struct arena *a,
                struct index *ret_index, struct err *err) MUST_USE;

/* Appends the exact bytes to store (compact JSON, no trailing newline). */
void manifest_print(const struct manifest *m, struct strbuf *sb);
void index_print(const struct index *ix, struct strbuf *sb);

/*
 * The best image for a platform (platform_match; first of equals), NULL if none. Attestations
 * ("unknown/unknown") and other artifacts never match.
 */
const struct descriptor *index_choose(const struct index *ix, const struct platform *want);

#endif
