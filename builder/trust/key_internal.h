/*
 * What the files about keys share; nobody else includes it.
 */
#ifndef SLIPWAY_BUILDER_TRUST_KEY_INTERNAL_H
#define SLIPWAY_BUILDER_TRUST_KEY_INTERNAL_H

#include <openssl/evp.h>

#include "builder/aws/kms.h"
#include "builder/trust/key.h"

/* An algorithm that is signed with. */
struct key_kind {
	const char *name, *type; /* type as OpenSSL calls it */
	const char *group;       /* of an elliptic curve, as OpenSSL calls it; NULL = none */
	int bits_min, bits_max;
	const char *hash;          /* as OpenSSL calls it */
	const char *kms_algorithm; /* as KMS calls it */
};

struct trust_key {
	EVP_PKEY *pkey; /* owned; with the private part only if has_private */
	bool has_private;
	const struct key_kind *kind;
	char fingerprint[64];
	struct aws_session *aws; /* KMS: borrowed; NULL = the key is here */
	struct arena arena;      /* of kms */
	struct kms_ref kms;
};

/* The row of a key; ERR_UNSUPPORTED says which there are. */
int key_kind_of(EVP_PKEY *pkey, const struct key_kind **ret_kind, struct err *err) MUST_USE;

/*
 * The one key in a PEM text; other blocks (EC PARAMETERS) are passed over. *ret_private: it has its
 * private part. The caller frees with EVP_PKEY_free.
 */
int key_from_pem(const struct trust_key_opts *opts, const char *text, size_t len,
                 EVP_PKEY **ret_pkey, bool *ret_private, struct err *err) MUST_USE;

/* The password of an encrypted key: the variable's, else a person's. The caller wipes and frees. */
int key_password(const struct trust_key_opts *opts, char **ret_password, struct err *err) MUST_USE;

/*
 * Opens the content of cosign's encrypted key: JSON with scrypt's parameters and a box of
 * XSalsa20-Poly1305 around PKCS #8. ERR_DENIED for a wrong password.
 */
int key_from_cosign(const char *json, size_t len, const char *password, EVP_PKEY **ret_pkey,
                    struct err *err) MUST_USE;

#endif
