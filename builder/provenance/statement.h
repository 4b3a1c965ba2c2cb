/*
 * How an image was built, as a statement of in-toto (Statement v1) with SLSA's provenance v1 as its
 * predicate (slsa.dev/provenance/v1, in-toto/attestation spec/v1). Pure. docs/SBOM.md describes the
 * build type.
 *
 * provenance_parse reads it back; compare.h holds two of them against each other.
 *
 * What enters is what the caller gives: values that options put over the spec are named by their
 * keys alone, for they may be secrets. Without a CI system, equal inputs give equal bytes.
 */
#ifndef SLIPWAY_BUILDER_PROVENANCE_STATEMENT_H
#define SLIPWAY_BUILDER_PROVENANCE_STATEMENT_H

#include "base/crypto/digest.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strlist.h"
#include "base/strmap.h"
#include "builder/oci/platform.h"
#include "builder/provenance/ci.h"

#define PROVENANCE_TYPE           "https://slsa.dev/provenance/v1"
#define PROVENANCE_BUILD_TYPE     "https://slipway.dev/build/v1"
#define MEDIA_STATEMENT           "application/vnd.in-toto+json"
#define ANNOTATION_PREDICATE_TYPE "in-toto.io/predicate-type"
/* A Debian package as an input. */
#define MEDIA_DEB                 "application/vnd.debian.binary-package"

enum { STATEMENT_BYTES_MAX = 16 << 20 };

/* Something the image was made from (SLSA, ResourceDescriptor): a name, and a URI or a digest. */
struct provenance_input {
	const char *name;
	const char *uri;        /* NULL if none */
	const char *algorithm;  /* "sha256", "gitCommit"; NULL: no digest */
	const char *digest;     /* hex */
	const char *media_type; /* NULL if none */
	struct strlist sources; /* of a layer: what the spec packs into it */
	bool modified;          /* of a commit: there were changes that are not in it */
};

struct provenance {
	const char *name; /* of the image: its repository, else a name */
	struct digest manifest;
	struct platform platform;
	const char *spec_path;      /* relative to the repository or as the user named it */
	struct digest spec;         /* of the file's bytes */
	const char *image;          /* among the spec's images; NULL: its only one */
	struct strlist overrides;   /* keys of the spec that options wrote over */
	struct strlist environment; /* variables that the spec takes values from: names alone */
	struct strmap git;          /* "git:describe" and the like, as the spec used them */
	bool locked;                /* base digests were taken from the lock file */
	const char *format;         /* how layers are written: tar and codec */
	int64_t epoch;              /* SOURCE_DATE_EPOCH */
	VEC(struct provenance_input) inputs;
	struct ci_identity builder;
	const char *version; /* of slipway */
	/* RFC 3339; NULL: not said, as where the same build is to give the same statement */
	const char *started, *finished;
};

void provenance_done(struct provenance *p);

/* Whether it is the base image: name is its reference, the digest that of its manifest. */
bool provenance_is_base(const struct provenance_input *in);

/* Appends the statement. */
void provenance_print(const struct provenance *p, struct strbuf *sb);

/*
 * Reads a statement about `subject`, which comes from outside; strings live in the arena, the list
 * of inputs is the caller's (provenance_done). ERR_FORMAT for what is no such statement, ERR_CHECK
 * for one about something else, ERR_UNSUPPORTED for another build type or a parameter that we do
 * not know: SLSA asks a verifier to refuse those, and a build cannot be repeated without them.
 */
int provenance_parse(const char *text, size_t len, const struct digest *subject, struct arena *a,
                     struct provenance *ret_provenance, struct err *err) MUST_USE;

#endif
