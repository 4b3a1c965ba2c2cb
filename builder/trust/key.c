/*
 * Opening a key by its reference, and the two things one does with it.
 */
#include "builder/trust/key.h"

#include <openssl/core_names.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>

#include "base/crypto/digest.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "builder/trust/base64.h"
#include "builder/trust/key_internal.h"

enum { KEY_FILE_MAX = 64 << 10, SIGNATURE_MAX = 1024 };

#define KMS_SCHEME "awskms://"
#define ENV_SCHEME "env://"

/* cosign's own table, less what signs another hash than it seems (protobuf-specs, key details). */
static const struct key_kind kinds[] = {
	{"ECDSA P-256", "EC", "prime256v1", 256, 256, "SHA256", "ECDSA_SHA_256"},
	{"ECDSA P-384", "EC", "secp384r1", 384, 384, "SHA384", "ECDSA_SHA_384"},
	{"ECDSA P-521", "EC", "secp521r1", 521, 521, "SHA512", "ECDSA_SHA_512"},
	{"RSA", "RSA", NULL, 2048, 8192, "SHA256", "RSASSA_PKCS1_V1_5_SHA_256"},
};

static bool is_kind(EVP_PKEY *pkey, const struct key_kind *kind)
{
	int bits = EVP_PKEY_get_bits(pkey);
	char group[64] = "";
	size_t len;

	if (!EVP_PKEY_is_a(pkey, kind->type) || bits < kind->bits_min || bits > kind->bits_max)
		return false;
	return kind->group == NULL ||
	       (EVP_PKEY_get_group_name(pkey, group, sizeof(group), &len) == 1 &&
	        strcmp(group, kind->group) == 0);
}

int key_kind_of(EVP_PKEY *pkey, const struct key_kind **ret_kind, struct err *err)
{
	const char *type = EVP_PKEY_get0_type_name(pkey);

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (is_kind(pkey, &kinds[i])) {
			*ret_kind = &kinds[i];
			return 0;
		}
	err_set(err, ERR_UNSUPPORTED, "a key of type %.40s with %d bits is not supported",
	        type != NULL ? type : "?", EVP_PKEY_get_bits(pkey));
	return err_hint(err, "use ECDSA on P-256 (P-384, P-521), or RSA of 2048 to 8192 bits: "
	                     "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256");
}

/* ---- opening ---- */

static int fingerprint(struct trust_key *key, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(sizeof(key->fingerprint));
	unsigned char *der = NULL;
	int len = i2d_PUBKEY(key->pkey, &der);

	if (len <= 0)
		return err_set(err, ERR_FORMAT, "the key has no public part");
	struct digest d = digest_of(der, (size_t)len);

	OPENSSL_free(der);
	base64_encode(d.bytes, sizeof(d.bytes), &text);
	snprintf(key->fingerprint, sizeof(key->fingerprint), "%s", strbuf_str(&text));
	return 0;
}

static int use_pem(const struct trust_key_opts *opts, const char *text, size_t len,
                   struct trust_key *key, struct err *err)
{
	if (key_from_pem(opts, text, len, &key->pkey, &key->has_private, err) != 0)
		return -1;
	if (!opts->to_sign || key->has_private)
		return 0;
	err_set(err, ERR_USAGE, "this is a public key, which signs nothing");
	return err_hint(err, "name the private key that belongs to it");
}

static int open_file(const struct trust_key_opts *opts, struct trust_key *key, struct err *err)
{
	struct strbuf text = STRBUF_INIT(KEY_FILE_MAX);
	int result = fs_read_file(opts->ref, KEY_FILE_MAX, &text, err);

	if (result == 0)
		result = use_pem(opts, strbuf_str(&text), text.len, key, err);
	if (text.ptr != NULL)
		OPENSSL_cleanse(text.ptr, text.cap);
	strbuf_done(&text);
	return result;
}

static int open_variable(const struct trust_key_opts *opts, struct trust_key *key, struct err *err)
{
	const char *name = opts->ref + strlen(ENV_SCHEME);
	char *text = opts->outside->take_variable(opts->outside, name);

	if (text == NULL)
		return err_set(err, ERR_NOT_FOUND, "the variable %.100s is not set", name);
	int result = use_pem(opts, text, strlen(text), key, err);

	mem_free_secret(&text);
	return result;
}

static int open_kms(const struct trust_key_opts *opts, struct trust_key *key, struct err *err)
{
	AUTO(strbuf) struct strbuf der = STRBUF_INIT(KEY_FILE_MAX);

	if (kms_ref_parse(opts->ref, &key->arena, &key->kms, err) != 0)
		return -1;
	if (opts->aws == NULL) {
		*err = *opts->aws_err;
		return -1;
	}
	key->aws = opts->aws;
	if (kms_public_key(key->aws, &key->kms, &der, err) != 0)
		return -1;
	const unsigned char *at = (const unsigned char *)strbuf_str(&der);

	key->pkey = d2i_PUBKEY(NULL, &at, (long)der.len);
	if (key->pkey == NULL || at != (const unsigned char *)der.ptr + der.len)
		return err_set(err, ERR_FORMAT, "KMS answers with something else than a key");
	return 0;
}

/* How a reference begins, and what opens it; anything else is a file. */
static const struct {
	const char *scheme;
	int (*open)(const struct trust_key_opts *opts, struct trust_key *key, struct err *err);
} schemes[] = {{KMS_SCHEME, open_kms}, {ENV_SCHEME, open_variable}};

/* A scheme of others' is not a file that happens to be missing. */
static int open_any(const struct trust_key_opts *opts, struct trust_key *key, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		if (text_has_prefix(opts->ref, schemes[i].scheme))
			return schemes[i].open(opts, key, err);
	if (strstr(opts->ref, "://") == NULL)
		return open_file(opts, key, err);
	err_set(err, ERR_UNSUPPORTED, "there is no such kind of key");
	return err_hint(err,
	                "a key is a file, " ENV_SCHEME "VARIABLE or " KMS_SCHEME "/alias/NAME");
}

static int wrap_key(const char *ref, struct err *err)
{
	err_wrap(err, "key '%.200s'", ref);
	return err->code == ERR_NOT_FOUND && err->hint[0] == '\0'
	               ? err_hint(err, "name the file of a key in PEM, or a key in AWS KMS as "
	                               "awskms:///alias/NAME")
	               : -1;
}

int trust_key_open(const struct trust_key_opts *opts, struct trust_key **ret_key, struct err *err)
{
	AUTO_TRUST_KEY struct trust_key *key = mem_zalloc(sizeof(*key));

	if (open_any(opts, key, err) != 0 || key_kind_of(key->pkey, &key->kind, err) != 0 ||
	    fingerprint(key, err) != 0)
		return wrap_key(opts->ref, err);
	*ret_key = key;
	key = NULL;
	return 0;
}

void trust_key_free(struct trust_key *key)
{
	if (key == NULL)
		return;
	EVP_PKEY_free(key->pkey);
	arena_done(&key->arena);
	free(key);
}

void trust_key_freep(struct trust_key **key)
{
	trust_key_free(*key);
	*key = NULL;
}

const char *trust_key_fingerprint(const struct trust_key *key)
{
	return key->fingerprint;
}

const char *trust_key_hash(const struct trust_key *key)
{
	static const char *const names[][2] = {
		{"SHA256", "sha256"}, {"SHA384", "sha384"}, {"SHA512", "sha512"}};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i][0], key->kind->hash) == 0)
			return names[i][1];
	BUG("hash %s", key->kind->hash);
}

const char *trust_key_kind(const struct trust_key *key)
{
	return key->kind->name;
}

bool trust_key_is_kms(const char *ref)
{
	return text_has_prefix(ref, KMS_SCHEME);
}

void trust_key_public_pem(const struct trust_key *key, struct strbuf *sb)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char *bytes = NULL;
	long len;

	if (bio == NULL || PEM_write_bio_PUBKEY(bio, key->pkey) != 1)
		BUG("a public key cannot be written");
	len = BIO_get_mem_data(bio, &bytes);
	strbuf_add(sb, bytes, (size_t)len);
	BIO_free(bio);
}

/* ---- signing and verifying ---- */

static int sign_here(const struct trust_key *key, const void *bytes, size_t len,
                     struct strbuf *signature, struct err *err)
{
	unsigned char out[SIGNATURE_MAX];
	size_t out_len = sizeof(out);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool good = ctx != NULL &&
	            EVP_DigestSignInit_ex(ctx, NULL, key->kind->hash, NULL, NULL, key->pkey,
	                                  NULL) == 1 &&
	            EVP_DigestSign(ctx, out, &out_len, bytes, len) == 1;

	EVP_MD_CTX_free(ctx);
	if (!good)
		return err_set(err, ERR_FORMAT, "the private key does not sign");
	strbuf_add(signature, out, out_len);
	return 0;
}

/* KMS hashes what is short itself, and is sent the hash of what is longer than it takes. */
static int sign_there(struct trust_key *key, const void *bytes, size_t len,
                      struct strbuf *signature, struct err *err)
{
	unsigned char hash[EVP_MAX_MD_SIZE];
	size_t hash_len = 0;
	struct kms_message message = {bytes, len, false};

	if (len <= KMS_RAW_MAX)
		return kms_sign(key->aws, &key->kms, key->kind->kms_algorithm, &message, signature,
		                err);
	if (EVP_Q_digest(NULL, key->kind->hash, NULL, bytes, len, hash, &hash_len) != 1)
		BUG("OpenSSL has no %s", key->kind->hash);
	message = (struct kms_message){hash, hash_len, true};
	return kms_sign(key->aws, &key->kms, key->kind->kms_algorithm, &message, signature, err);
}

int trust_key_sign(struct trust_key *key, const void *bytes, size_t len, struct strbuf *signature,
                   struct err *err)
{
	int result = key->aws != NULL ? sign_there(key, bytes, len, signature, err)
	                              : sign_here(key, bytes, len, signature, err);

	if (result == 0 && !trust_key_verify(key, bytes, len, signature->ptr, signature->len))
		result = err_set(err, ERR_FORMAT,
		                 "the signature that was made does not verify with the public key");
	return result;
}

bool trust_key_verify(const struct trust_key *key, const void *bytes, size_t len,
                      const void *signature, size_t signature_len)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool good = ctx != NULL && signature_len > 0 &&
	            EVP_DigestVerifyInit_ex(ctx, NULL, key->kind->hash, NULL, NULL, key->pkey,
	                                    NULL) == 1 &&
	            EVP_DigestVerify(ctx, signature, signature_len, bytes, len) == 1;

	EVP_MD_CTX_free(ctx);
	return good;
}
