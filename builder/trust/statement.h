/*
 * in-toto statements: what is said (the predicate) of what (the subjects). A signature of an
 * image is one with an empty predicate (cosign 3, sign/v1). Pure; strings live in the arena.
 */
#ifndef SLIPWAY_BUILDER_TRUST_STATEMENT_H
#define SLIPWAY_BUILDER_TRUST_STATEMENT_H

#include "base/arena.h"
#include "base/crypto/digest.h"
#include "base/doc/json.h"
#include "base/strmap.h"

#define STATEMENT_TYPE     "https://in-toto.io/Statement/v1"
/* What cosign's attestations still are. */
#define STATEMENT_TYPE_OLD "https://in-toto.io/Statement/v0.1"
#define PREDICATE_SIGN     "https://sigstore.dev/cosign/sign/v1"

enum { STATEMENT_SUBJECTS_MAX = 1024 };

struct statement_subject {
	const char *name; /* NULL if none */
	struct digest digest;
	struct strmap annotations;
};

struct trust_statement {
	const char *type; /* one of the two above */
	const char *predicate_type;
	struct statement_subject *subjects; /* those with a SHA-256 digest */
	size_t n_subjects;
};

/* ERR_FORMAT for anything but a statement, ERR_LIMIT beyond the cap. */
int statement_parse(const char *text, size_t len, struct arena *a,
                    struct trust_statement *ret_statement, struct err *err) MUST_USE;

/* The subject with this digest, NULL if there is none. */
const struct statement_subject *statement_about(const struct trust_statement *s,
                                                const struct digest *digest);

/* Appends the statement that signs an image: the bytes to sign are these, once. */
void statement_print_sign(const struct digest *digest, const struct strmap *annotations,
                          struct strbuf *sb);

/* Appends a statement with this predicate about an image; the predicate is JSON, and stands in it
 * as it is. */
void statement_print(const struct digest *digest, const char *predicate_type, const char *predicate,
                     size_t len, struct strbuf *sb);

/* Appends the predicate of a statement, as one line. ERR_FORMAT without one. */
int statement_predicate(const char *text, size_t len, struct strbuf *sb, struct err *err) MUST_USE;

#endif
