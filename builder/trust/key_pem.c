/*
 * Keys as PEM text (RFC 7468): what OpenSSL writes, and what cosign does.
 */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>
#include <string.h>

#include "base/mem.h"
#include "builder/trust/key_internal.h"

int key_password(const struct trust_key_opts *opts, char **ret_password, struct err *err)
{
	const struct trust_key_outside *o = opts->outside;
	char *password = o->take_variable(o, TRUST_PASSWORD_VARIABLE);

	if (password == NULL && o->prompt != NULL)
		return o->prompt(o, "Password of the signing key: ", ret_password, err);
	if (password == NULL) {
		err_set(err, ERR_DENIED, "the key is encrypted, and there is no password");
		return err_hint(err, "set " TRUST_PASSWORD_VARIABLE
		                     "; for a verification name the public key, which needs none");
	}
	*ret_password = password;
	return 0;
}

/* A block: what it is called, and its bytes (of a key: wiped by the reader). */
struct pem_block {
	char *name, *header;
	unsigned char *data;
	long len;
};

static void pem_block_done(struct pem_block *b)
{
	OPENSSL_free(b->name);
	OPENSSL_free(b->header);
	if (b->data != NULL)
		OPENSSL_clear_free(b->data, (size_t)b->len);
	*b = (struct pem_block){0};
}

static int read_public(const struct trust_key_opts *opts UNUSED, const struct pem_block *b,
                       EVP_PKEY **ret_pkey, struct err *err)
{
	const unsigned char *at = b->data;

	*ret_pkey = d2i_PUBKEY(NULL, &at, b->len);
	if (*ret_pkey != NULL && at == b->data + b->len)
		return 0;
	return err_set(err, ERR_FORMAT, "the public key is malformed");
}

/* PKCS #8, or the older forms of elliptic curves and RSA. */
static int read_private(const struct trust_key_opts *opts UNUSED, const struct pem_block *b,
                        EVP_PKEY **ret_pkey, struct err *err)
{
	const unsigned char *at = b->data;

	if (b->header != NULL && strstr(b->header, "ENCRYPTED") != NULL) {
		err_set(err, ERR_UNSUPPORTED, "the key is encrypted in OpenSSL's old form");
		return err_hint(err, "openssl pkcs8 -topk8 -in OLD -out NEW");
	}
	*ret_pkey = d2i_AutoPrivateKey(NULL, &at, b->len);
	if (*ret_pkey != NULL && at == b->data + b->len)
		return 0;
	return err_set(err, ERR_FORMAT, "the private key is malformed");
}

static int read_pkcs8(const struct trust_key_opts *opts, const struct pem_block *b,
                      EVP_PKEY **ret_pkey, struct err *err)
{
	const unsigned char *at = b->data;
	X509_SIG *sealed = d2i_X509_SIG(NULL, &at, b->len);
	PKCS8_PRIV_KEY_INFO *plain = NULL;
	char *password = NULL;
	int result = sealed != NULL ? key_password(opts, &password, err)
	                            : err_set(err, ERR_FORMAT, "the private key is malformed");

	if (result == 0) {
		plain = PKCS8_decrypt(sealed, password, (int)strlen(password));
		*ret_pkey = plain != NULL ? EVP_PKCS82PKEY(plain) : NULL;
		if (*ret_pkey == NULL)
			result = err_set(err, ERR_DENIED, "the password is not the key's");
	}
	mem_free_secret(&password);
	PKCS8_PRIV_KEY_INFO_free(plain);
	X509_SIG_free(sealed);
	return result;
}

static int read_cosign(const struct trust_key_opts *opts, const struct pem_block *b,
                       EVP_PKEY **ret_pkey, struct err *err)
{
	char *password = NULL;

	if (key_password(opts, &password, err) != 0)
		return -1;
	int result =
		key_from_cosign((const char *)b->data, (size_t)b->len, password, ret_pkey, err);

	mem_free_secret(&password);
	return result;
}

static int refuse_certificate(const struct trust_key_opts *opts UNUSED,
                              const struct pem_block *b UNUSED, EVP_PKEY **ret_pkey UNUSED,
                              struct err *err)
{
	err_set(err, ERR_UNSUPPORTED, "this is a certificate, not a key");
	return err_hint(err, "openssl x509 -in CERTIFICATE -pubkey -noout prints its key");
}

static const struct {
	const char *name;
	bool is_private;
	int (*read)(const struct trust_key_opts *opts, const struct pem_block *b,
	            EVP_PKEY **ret_pkey, struct err *err);
} forms[] = {
	{"PUBLIC KEY", false, read_public},
	{"PRIVATE KEY", true, read_private},
	{"EC PRIVATE KEY", true, read_private},
	{"RSA PRIVATE KEY", true, read_private},
	{"ENCRYPTED PRIVATE KEY", true, read_pkcs8},
	{"ENCRYPTED SIGSTORE PRIVATE KEY", true, read_cosign},
	{"ENCRYPTED COSIGN PRIVATE KEY", true, read_cosign},
	{"CERTIFICATE", false, refuse_certificate},
};

static int read_block(const struct trust_key_opts *opts, const struct pem_block *b, EVP_PKEY **pkey,
                      bool *ret_private, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		if (strcmp(b->name, forms[i].name) != 0)
			continue;
		if (*pkey != NULL)
			return err_set(err, ERR_FORMAT, "the text has several keys");
		*ret_private = forms[i].is_private;
		return forms[i].read(opts, b, pkey, err);
	}
	return 0;
}

static int read_blocks(const struct trust_key_opts *opts, BIO *bio, EVP_PKEY **pkey,
                       bool *ret_private, struct err *err)
{
	for (;;) {
		AUTO(pem_block) struct pem_block b = {0};

		if (PEM_read_bio(bio, &b.name, &b.header, &b.data, &b.len) != 1)
			return 0;
		if (read_block(opts, &b, pkey, ret_private, err) != 0)
			return -1;
	}
}

int key_from_pem(const struct trust_key_opts *opts, const char *text, size_t len,
                 EVP_PKEY **ret_pkey, bool *ret_private, struct err *err)
{
	BIO *bio = BIO_new_mem_buf(text, (int)len);
	EVP_PKEY *pkey = NULL;
	int result = bio != NULL ? read_blocks(opts, bio, &pkey, ret_private, err)
	                         : err_set(err, ERR_FORMAT, "the text cannot be read");

	BIO_free(bio);
	ERR_clear_error();
	if (result == 0 && pkey == NULL) {
		err_set(err, ERR_FORMAT, "there is no key in PEM form in it");
		result = err_hint(err, "a key begins with -----BEGIN PUBLIC KEY----- or with "
		                       "-----BEGIN ... PRIVATE KEY-----");
	}
	if (result != 0) {
		EVP_PKEY_free(pkey);
		return -1;
	}
	*ret_pkey = pkey;
	return 0;
}
