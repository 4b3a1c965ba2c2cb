/*
 * An inventory as a document in a standard form. The same inventory and subject give the same
 * bytes: names of the document come from the image's digest, its time from SOURCE_DATE_EPOCH.
 *
 *   SPDX 2.3        https://spdx.github.io/spdx-spec/v2.3/, as JSON
 *   CycloneDX 1.6   https://cyclonedx.org/docs/1.6/json/, ECMA-424
 */
#ifndef SLIPWAY_BUILDER_SBOM_DOCUMENT_H
#define SLIPWAY_BUILDER_SBOM_DOCUMENT_H

#include "base/crypto/digest.h"
#include "base/strbuf.h"
#include "builder/oci/platform.h"

struct inventory; /* builder/sbom/inventory.h */

enum sbom_form { SBOM_SPDX, SBOM_CYCLONEDX, SBOM_FORMS };

/* No document may be larger. */
#define SBOM_BYTES_MAX ((size_t)256 << 20)

struct sbom_layer {
	struct digest digest; /* of the blob */
	const char *name;     /* NULL: not said, or the base's */
	bool of_base;
};

/* The image that the document is of. */
struct sbom_subject {
	const char *name; /* "host/path", or a name without '/' */
	const char *tag;  /* NULL: none */
	struct platform platform;
	struct digest manifest;
	const char *created;             /* RFC 3339, UTC */
	const char *version;             /* of slipway */
	const char *base_name;           /* NULL: scratch, or not known */
	struct digest base_digest;       /* of its manifest */
	const struct sbom_layer *layers; /* bottom first */
	size_t n_layers;
};

/* What each form is called, by people and by registries. */
struct sbom_form_name {
	const char *name;           /* "spdx" */
	const char *media_type;     /* of the document, and the artifact type of its manifest */
	const char *predicate_type; /* of a statement whose predicate it is (in-toto/attestation) */
};
extern const struct sbom_form_name sbom_forms[SBOM_FORMS];

/* Appends the document of a sorted inventory. sb->overflow says that it was too large. */
void sbom_print(enum sbom_form form, const struct sbom_subject *s, const struct inventory *inv,
                struct strbuf *sb);

#endif
