/*
 * Keys that sign and verify: a PEM file, cosign's encrypted key, a variable that holds either, or a
 * key in AWS KMS, which never leaves it. ECDSA on P-256, P-384 and P-521, RSA (PKCS #1 v1.5) from
 * 2048 bits; what cannot be had right everywhere is refused (Ed25519: others sign a hash of it).
 * Secrets are wiped, and appear in no message.
 *
 *   const struct trust_key_opts opts = {.ref = "awskms:///alias/release", .aws = session};
 *   struct trust_key *key = NULL;
 *   if (trust_key_open(&opts, &key, err) != 0)
 *           return -1;
 */
#ifndef SLIPWAY_BUILDER_TRUST_KEY_H
#define SLIPWAY_BUILDER_TRUST_KEY_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "builder/aws/session.h"

struct trust_key; /* opaque */

/* What opening a key asks of the outside; both borrowed while trust_key_open runs. */
struct trust_key_outside {
	/*
	 * Takes a variable's value out of the environment, so that no child inherits it; the caller
	 * wipes and frees. NULL = it is not set. "" counts as a value.
	 */
	char *(*take_variable)(const struct trust_key_outside *o, const char *name);
	/* Asks the person at the terminal; the caller wipes and frees. NULL = nobody is there. */
	int (*prompt)(const struct trust_key_outside *o, const char *question, char **ret_answer,
	              struct err *err);
	void *ctx;
};

/* The variable with the password of an encrypted key, which cosign reads as well. */
#define TRUST_PASSWORD_VARIABLE "COSIGN_PASSWORD"

struct trust_key_opts {
	const char *ref;           /* PATH, env://VARIABLE or awskms://[HOST]/KEY */
	bool to_sign;              /* a private key is needed */
	struct aws_session *aws;   /* for KMS; borrowed as long as the key lives; NULL: aws_err */
	const struct err *aws_err; /* why there is no session */
	const struct trust_key_outside *outside;
};

/*
 * ERR_NOT_FOUND, ERR_FORMAT (not a key, several keys), ERR_DENIED (wrong password, KMS refuses),
 * ERR_UNSUPPORTED (another algorithm), ERR_USAGE (a reference that names nothing; a private key is
 * needed and this is a public one).
 */
int trust_key_open(const struct trust_key_opts *opts, struct trust_key **ret_key,
                   struct err *err) MUST_USE;
void trust_key_free(struct trust_key *key);   /* wipes; accepts NULL */
void trust_key_freep(struct trust_key **key); /* __attribute__((cleanup)) form */
#define AUTO_TRUST_KEY __attribute__((cleanup(trust_key_freep)))

/* Base64 of the SHA-256 of the public key (SubjectPublicKeyInfo): bundles name it as their hint. */
const char *trust_key_fingerprint(const struct trust_key *key);

/* "ECDSA P-256", "RSA". */
const char *trust_key_kind(const struct trust_key *key);

/* What is signed is the digest by this: "sha256". */
const char *trust_key_hash(const struct trust_key *key);

/* Appends the public key as PEM. */
void trust_key_public_pem(const struct trust_key *key, struct strbuf *sb);

/*
 * Appends the signature of the bytes: DER for ECDSA. It has been verified, whoever made it.
 */
int trust_key_sign(struct trust_key *key, const void *bytes, size_t len, struct strbuf *signature,
                   struct err *err) MUST_USE;

/* True only when the signature is this key's over exactly these bytes. */
bool trust_key_verify(const struct trust_key *key, const void *bytes, size_t len,
                      const void *signature, size_t signature_len) MUST_USE;

/* "awskms:///alias/x" and the like: a key in AWS KMS, as references spell it. */
bool trust_key_is_kms(const char *ref);

#endif
