/*
 * Content descriptors (image-spec, descriptor.md): media type, digest, size, and what an index
 * entry adds. All strings live in the arena of whoever made the descriptor.
 */
#ifndef SLIPWAY_BUILDER_OCI_DESCRIPTOR_H
#define SLIPWAY_BUILDER_OCI_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/crypto/digest.h"
#include "base/doc/json.h"
#include "base/strmap.h"
#include "builder/oci/platform.h"

#define ANNOTATION_REF_NAME    "org.opencontainers.image.ref.name"
#define ANNOTATION_CREATED     "org.opencontainers.image.created"
#define ANNOTATION_BASE_NAME   "org.opencontainers.image.base.name"
#define ANNOTATION_BASE_DIGEST "org.opencontainers.image.base.digest"
/* Our declared bit format: how a layer's tar and its compression came about (docs/FORMAT.md). */
#define ANNOTATION_FORMAT      "dev.slipway.format"
#define ANNOTATION_LAYER_NAME  "dev.slipway.layer"
/* On an entry of a layout's index.json: whose build wrote it. */
#define ANNOTATION_OWNER       "dev.slipway.image"

struct descriptor {
	const char *media_type;
	struct digest digest;
	int64_t size;             /* bytes, never negative */
	struct platform platform; /* os empty = none given */
	struct strmap annotations;
	const char *artifact_type; /* NULL if none */
};

/* An attestation stands in an index as a manifest for the platform "unknown/unknown". */
bool descriptor_is_attestation(const struct descriptor *d);

/*
 * True for a manifest of an image, as far as an index tells: neither an attestation nor an artifact
 * of another type (image-spec, descriptor.md, `artifactType`).
 */
bool descriptor_is_image(const struct descriptor *d);

/* Reads a descriptor object. ERR_FORMAT names the member that is wrong. */
int descriptor_parse(const cJSON *obj, struct arena *a, struct descriptor *ret_desc,
                     struct err *err) MUST_USE;

/* A new JSON object in the order mediaType, digest, size, platform, annotations; caller owns it. */
cJSON *descriptor_json(const struct descriptor *d);

/* The `annotations` member of any object, in and out; an absent or empty one is left out. */
int annotations_parse(const cJSON *obj, struct arena *a, struct strmap *ret_map,
                      struct err *err) MUST_USE;
void annotations_json(const struct strmap *annotations, cJSON *obj);

#endif
