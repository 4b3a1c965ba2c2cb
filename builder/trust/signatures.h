/*
 * The signatures of an image, and which of them count. Everything that a registry says is hostile:
 * a signature counts only when all of it is as it should be, and each that does not comes with its
 * reason. Keys alone are trusted: no certificate and no log (docs/TRUST.md).
 */
#ifndef SLIPWAY_BUILDER_TRUST_SIGNATURES_H
#define SLIPWAY_BUILDER_TRUST_SIGNATURES_H

#include "builder/oci/descriptor.h"
#include "builder/oci/store.h"
#include "builder/trust/bundles.h"
#include "builder/trust/key.h"

/* Most signatures under a tag that are looked at. */
enum { SIGNATURES_MAX = 1024 };

enum signature_forms {
	SIGNATURE_BUNDLE = 1 << 0, /* a sigstore bundle, a referrer of the image */
	SIGNATURE_TAG = 1 << 1,    /* simple signing, under the tag sha256-HEX.sig */
	SIGNATURE_ANY = SIGNATURE_BUNDLE | SIGNATURE_TAG
};

/* "bundle", "tag". */
const char *signature_form_name(enum signature_forms form);

/* What is asked of a signature. */
struct signature_wish {
	const struct trust_key *key;
	const char *predicate_type; /* NULL = a signature of the image (PREDICATE_SIGN) */
	struct strmap annotations;  /* that it has to have, among others */
	unsigned forms;
	struct bundle_cache *cache; /* of the same store, for several questions; may be NULL */
};

struct signature {
	enum signature_forms form;
	struct digest manifest; /* of the document that carries it */
	bool good;
	const char *why_not; /* of one that is not good */
	/* Of a good one, what was signed besides the image's digest: */
	struct strmap annotations;
	const char *reference; /* HOST/REPOSITORY, form tag alone; else "" */
	const char *statement; /* the whole statement, form bundle alone; NUL-terminated */
	size_t statement_len;
};

struct signatures {
	struct signature *at; /* good ones and others, in the registry's order */
	size_t n, n_good;
};

/*
 * All signatures of the subject. Strings live in the arena. -1 when the registry cannot be asked,
 * or what it lists is no list of signatures; none at all is no error.
 */
int signatures_verify(struct store *s, const struct digest *subject,
                      const struct signature_wish *wish, struct arena *a,
                      struct signatures *ret_signatures, struct err *err) MUST_USE;

/* Who signed a bundle, as it says itself, unverified: a key's fingerprint; NULL when it does not
 * say. *ret_predicate is likewise what it is said to say. For lists. */
const char *signature_claimed_key(struct store *s, const struct descriptor *bundle,
                                  const struct digest *subject, struct arena *a,
                                  const char **ret_predicate);

#endif
