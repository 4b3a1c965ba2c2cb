/*
 * cosign's encrypted key (go-securesystemslib, encrypted/encrypted.go): JSON with scrypt's
 * parameters, and PKCS #8 in a box of XSalsa20-Poly1305.
 */
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <sodium.h>
#include <string.h>

#include "base/doc/json.h"
#include "base/mem.h"
#include "builder/trust/base64.h"
#include "builder/trust/key_internal.h"

enum { SCRYPT_MEMORY = 256 << 20, BOX_BYTES_MAX = 16 << 10 };

/* The costs that cosign has written; any other is somebody's attempt to take time or memory. */
static const int64_t costs[] = {32768, 65536, 131072};

struct box {
	int64_t cost, r, p;
	struct strbuf salt, nonce, sealed;
};

static void box_done(struct box *b)
{
	strbuf_done(&b->salt);
	strbuf_done(&b->nonce);
	strbuf_done(&b->sealed);
}

static bool has_word(const cJSON *obj, const char *key, const char *word)
{
	const char *text = json_string(obj, key);

	return text != NULL && strcmp(text, word) == 0;
}

static bool read_bytes(const cJSON *obj, const char *key, struct strbuf *sb)
{
	const char *text = json_string(obj, key);

	return text != NULL && base64_decode(text, sb);
}

static int malformed(const char *what, struct err *err)
{
	return err_set(err, ERR_FORMAT, "the encrypted key is malformed: %s", what);
}

static int check_cost(const struct box *b, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(costs); i++)
		if (b->cost == costs[i] && b->r == 8 && b->p == 1)
			return 0;
	return err_set(err, ERR_UNSUPPORTED,
	               "the encrypted key asks for N=%lld, r=%lld, p=%lld of scrypt, which no "
	               "cosign writes",
	               (long long)b->cost, (long long)b->r, (long long)b->p);
}

static int parse_box(const cJSON *doc, struct box *b, struct err *err)
{
	const cJSON *kdf = json_get(doc, "kdf"), *cipher = json_get(doc, "cipher"),
		    *params = json_get(kdf, "params");

	if (!has_word(kdf, "name", "scrypt") || !has_word(cipher, "name", "nacl/secretbox"))
		return err_set(err, ERR_UNSUPPORTED,
		               "the key is encrypted by something else than scrypt and "
		               "nacl/secretbox");
	if (json_size(params, "N", &b->cost, err) != 0 || json_size(params, "r", &b->r, err) != 0 ||
	    json_size(params, "p", &b->p, err) != 0)
		return err_wrap(err, "the encrypted key is malformed");
	if (check_cost(b, err) != 0)
		return -1;
	if (!read_bytes(kdf, "salt", &b->salt) || b->salt.len < 16)
		return malformed("salt", err);
	if (!read_bytes(cipher, "nonce", &b->nonce) || b->nonce.len != crypto_secretbox_NONCEBYTES)
		return malformed("nonce", err);
	if (!read_bytes(doc, "ciphertext", &b->sealed) ||
	    b->sealed.len <= crypto_secretbox_MACBYTES)
		return malformed("ciphertext", err);
	return 0;
}

static int read_pkcs8(const unsigned char *der, size_t len, EVP_PKEY **ret_pkey, struct err *err)
{
	const unsigned char *at = der;
	PKCS8_PRIV_KEY_INFO *info = d2i_PKCS8_PRIV_KEY_INFO(NULL, &at, (long)len);

	*ret_pkey = info != NULL && at == der + len ? EVP_PKCS82PKEY(info) : NULL;
	PKCS8_PRIV_KEY_INFO_free(info);
	return *ret_pkey != NULL ? 0 : malformed("what it holds is not a key", err);
}

static int open_box(const struct box *b, const char *password, EVP_PKEY **ret_pkey, struct err *err)
{
	unsigned char secret[crypto_secretbox_KEYBYTES];
	size_t len = b->sealed.len - crypto_secretbox_MACBYTES;
	unsigned char *der = mem_zalloc(len);
	int result = 0;

	if (EVP_PBE_scrypt(password, strlen(password), (unsigned char *)b->salt.ptr, b->salt.len,
	                   (uint64_t)b->cost, (uint64_t)b->r, (uint64_t)b->p, SCRYPT_MEMORY, secret,
	                   sizeof(secret)) != 1)
		result = err_set(err, ERR_UNSUPPORTED, "OpenSSL's scrypt is not to be had");
	else if (crypto_secretbox_open_easy(der, (unsigned char *)b->sealed.ptr, b->sealed.len,
	                                    (unsigned char *)b->nonce.ptr, secret) != 0)
		result = err_set(err, ERR_DENIED, "the password is not the key's");
	else
		result = read_pkcs8(der, len, ret_pkey, err);
	OPENSSL_cleanse(secret, sizeof(secret));
	OPENSSL_cleanse(der, len);
	free(der);
	return result;
}

int key_from_cosign(const char *json, size_t len, const char *password, EVP_PKEY **ret_pkey,
                    struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	AUTO(box)
	struct box b = {.salt = STRBUF_INIT(1024),
	                .nonce = STRBUF_INIT(1024),
	                .sealed = STRBUF_INIT(BOX_BYTES_MAX)};

	if (json_parse("encrypted key", json, len, &doc, err) != 0 || parse_box(doc, &b, err) != 0)
		return -1;
	return open_box(&b, password, ret_pkey, err);
}
