/*
 * AWS Key Management Service (JSON 1.1 protocol, API 2014-11-01), as far as signing needs it.
 */
#ifndef SLIPWAY_BUILDER_AWS_KMS_H
#define SLIPWAY_BUILDER_AWS_KMS_H

#include "builder/aws/session.h"

/* A key as references spell it: awskms://[HOST[:PORT]]/KEY. Strings live in the arena. */
struct kms_ref {
	const char *endpoint; /* URL of HOST; NULL = the region's */
	const char *key;      /* identifier, "alias/NAME" or ARN */
	const char *region;   /* of an ARN; NULL = the settings' */
	const char *account;  /* likewise; NULL = not known */
};

/* ERR_USAGE with what is wrong. */
int kms_ref_parse(const char *text, struct arena *a, struct kms_ref *ret_ref,
                  struct err *err) MUST_USE;

/* GetPublicKey: appends the SubjectPublicKeyInfo. ERR_UNSUPPORTED for a key that is not for
 * signing. */
int kms_public_key(struct aws_session *s, const struct kms_ref *ref, struct strbuf *der,
                   struct err *err) MUST_USE;

/* What KMS hashes itself; of more bytes it is sent the hash. */
enum { KMS_RAW_MAX = 4096 };

struct kms_message {
	const void *bytes;
	size_t len;
	bool hashed; /* bytes are the hash of the message, not the message */
};

/* Sign: appends the signature of a message by this algorithm ("ECDSA_SHA_256"). */
int kms_sign(struct aws_session *s, const struct kms_ref *ref, const char *algorithm,
             const struct kms_message *message, struct strbuf *signature, struct err *err) MUST_USE;

#endif
