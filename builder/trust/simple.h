/*
 * Simple signing: the older form of signatures, which stand beside an image under the tag
 * "sha256-HEX.sig" (cosign, specs/SIGNATURE_SPEC.md; containers/image, containers-signature(5)).
 * A manifest with a layer per signature; the layer is what is signed, an annotation of it has the
 * signature. Pure; strings live in the arena.
 */
#ifndef SLIPWAY_BUILDER_TRUST_SIMPLE_H
#define SLIPWAY_BUILDER_TRUST_SIMPLE_H

#include "base/arena.h"
#include "base/crypto/digest.h"
#include "base/strbuf.h"
#include "base/strmap.h"

#define MEDIA_SIMPLE                "application/vnd.dev.cosign.simplesigning.v1+json"
#define ANNOTATION_SIMPLE_SIGNATURE "dev.cosignproject.cosign/signature"

enum { SIMPLE_BYTES_MAX = 64 << 10, SIMPLE_TAG_MAX = 80 };

/* "sha256-HEX.sig"; returns out. */
char *simple_tag(const struct digest *subject, char out[SIMPLE_TAG_MAX]);

struct simple_payload {
	const char *reference; /* HOST/REPOSITORY at the time of signing; "" if none */
	struct digest digest;  /* of the image's manifest or index */
	struct strmap annotations;
};

/* ERR_FORMAT for anything but a payload of cosign's. */
int simple_parse(const char *text, size_t len, struct arena *a, struct simple_payload *ret_payload,
                 struct err *err) MUST_USE;

/* Appends the bytes to sign. */
void simple_print(const struct simple_payload *payload, struct strbuf *sb);

/* Appends the configuration of a manifest whose layers have these digests. */
void simple_print_config(const struct digest *layers, size_t n, struct strbuf *sb);

#endif
