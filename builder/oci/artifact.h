/*
 * An artifact: a manifest with one layer, a document about a subject (image-spec, manifest.md,
 * "Guidelines for Artifact Usage"). SBOMs, provenance and signatures are attached in this form.
 * Pure but for artifact_open. Strings live in the caller's arena or are borrowed from its input.
 */
#ifndef SLIPWAY_BUILDER_OCI_ARTIFACT_H
#define SLIPWAY_BUILDER_OCI_ARTIFACT_H

#include "builder/oci/manifest.h"
#include "builder/oci/store.h"

/* The configuration of an artifact: the two bytes "{}". */
#define MEDIA_EMPTY "application/vnd.oci.empty.v1+json"
#define EMPTY_BYTES "{}"

/* Most bytes of a document that is read whole, as statements and bundles are. */
enum { ARTIFACT_BYTES_MAX = 16 << 20 };

struct artifact {
	const struct descriptor *subject; /* manifest or index; NULL = none */
	const char *type;                 /* artifactType; NULL = none */
	const char *media_type;           /* of the document */
	const void *bytes;                /* of the document */
	size_t len;
	struct strmap annotations; /* of the manifest */
};

/* An artifact as it is stored: three blobs. Zero-initialise; AUTO(artifact_form). */
struct artifact_form {
	struct descriptor manifest; /* with the artifact's type and annotations, as lists want it */
	struct descriptor config, layer;
	struct strbuf text; /* the manifest's exact bytes */
};
void artifact_form_done(struct artifact_form *form);

/* The same artifact always gives the same bytes. *ret_form borrows from the artifact. */
void artifact_form(const struct artifact *artifact, struct arena *a,
                   struct artifact_form *ret_form);

/* Reads and parses a manifest. ERR_FORMAT when desc does not say it is one. */
int artifact_open(struct store *s, const struct descriptor *desc, struct arena *a,
                  struct manifest *ret_manifest, struct err *err) MUST_USE;

/* What a manifest is: its artifactType, else its configuration's type. Never NULL. */
const char *artifact_type_of(const struct manifest *m);

/*
 * Opens the referrer `desc` of `subject` and reads its only document, at most max_bytes. ERR_FORMAT
 * when it is about something else, is of another type (NULL = any) or has not exactly one layer.
 */
int artifact_read(struct store *s, const struct descriptor *desc, const struct digest *subject,
                  const char *type, size_t max_bytes, struct arena *a, struct strbuf *document,
                  struct err *err) MUST_USE;

#endif
