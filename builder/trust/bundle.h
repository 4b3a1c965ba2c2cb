/*
 * Sigstore bundles v0.3 with a DSSE envelope, signed by a key (protobuf-specs,
 * sigstore_bundle.proto; DSSE, envelope.md and protocol.md). Pure. A bundle from outside is
 * hostile: what is not exactly this is refused.
 */
#ifndef SLIPWAY_BUILDER_TRUST_BUNDLE_H
#define SLIPWAY_BUILDER_TRUST_BUNDLE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"

#define MEDIA_BUNDLE                "application/vnd.dev.sigstore.bundle.v0.3+json"
/* Annotations of the manifest that carries one. */
#define ANNOTATION_BUNDLE_CONTENT   "dev.sigstore.bundle.content"
#define ANNOTATION_BUNDLE_PREDICATE "dev.sigstore.bundle.predicateType"

#define PAYLOAD_IN_TOTO "application/vnd.in-toto+json"

/* Most bytes of a bundle: a signed bill of materials is large. */
enum { BUNDLE_BYTES_MAX = 32 << 20 };
/* Most bytes of what is signed in one: base64 makes four of three, and the envelope is small. */
enum { BUNDLE_PAYLOAD_MAX = 23 << 20 };
/* Most values in a bundle; what is signed stands in it as one text. */
enum { BUNDLE_VALUES_MAX = 1 << 14 };

struct bundle {
	const char *hint; /* which key, as the signer says; NULL = not said */
	const char *payload_type;
	const char *payload; /* bytes */
	size_t payload_len;
	const char *signature; /* bytes */
	size_t signature_len;
};

/*
 * ERR_FORMAT says what is not as it should be, ERR_UNSUPPORTED that the bundle is of a kind that no
 * key verifies (a certificate, a signature over the manifest's bytes). Strings live in the arena.
 */
int bundle_parse(const char *text, size_t len, struct arena *a, struct bundle *ret_bundle,
                 struct err *err) MUST_USE;

/* Appends the bundle's bytes. */
void bundle_print(const struct bundle *bundle, struct strbuf *sb);

/* Appends what is signed: DSSE's pre-authentication encoding (protocol.md, "Signature Definition").
 */
void dsse_pae(const char *payload_type, const char *payload, size_t len, struct strbuf *sb);

#endif
