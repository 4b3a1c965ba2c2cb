#include "base/crypto/digest.h"
#include "base/mem.h"

#include <openssl/evp.h>
#include <string.h>

static const char prefix[] = "sha256:";

/* Value of a lower-case hex digit, -1 otherwise (descriptor.md: upper case is not allowed). */
static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

int digest_parse(const char *text, struct digest *ret_digest, struct err *err)
{
	struct digest d;
	const char *hex = text + sizeof(prefix) - 1;

	if (strncmp(text, prefix, sizeof(prefix) - 1) != 0)
		return err_set(err, ERR_FORMAT, "'%.80s' is not a sha256 digest", text);
	if (strlen(hex) != 2 * DIGEST_BYTES)
		return err_set(err, ERR_FORMAT, "digest '%.80s' does not have 64 hex digits", text);
	for (size_t i = 0; i < DIGEST_BYTES; i++) {
		int high = hex_value(hex[2 * i]), low = hex_value(hex[2 * i + 1]);

		if (high < 0 || low < 0)
			return err_set(err, ERR_FORMAT,
			               "digest '%.80s' has a byte that is not lower-case hex",
			               text);
		d.bytes[i] = (unsigned char)(high << 4 | low);
	}
	*ret_digest = d;
	return 0;
}

char *digest_hex(const struct digest *d, char out[DIGEST_HEX_MAX])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < DIGEST_BYTES; i++) {
		out[2 * i] = digits[d->bytes[i] >> 4];
		out[2 * i + 1] = digits[d->bytes[i] & 15];
	}
	out[2 * DIGEST_BYTES] = '\0';
	return out;
}

char *digest_text(const struct digest *d, char out[DIGEST_TEXT_MAX])
{
	memcpy(out, prefix, sizeof(prefix) - 1);
	digest_hex(d, out + sizeof(prefix) - 1);
	return out;
}

bool digest_equal(const struct digest *a, const struct digest *b)
{
	return memcmp(a->bytes, b->bytes, DIGEST_BYTES) == 0;
}

bool digest_is_zero(const struct digest *d)
{
	static const struct digest zero;

	return digest_equal(d, &zero);
}

struct digest digest_of(const void *bytes, size_t len)
{
	struct digest d;

	if (EVP_Digest(bytes, len, d.bytes, NULL, EVP_sha256(), NULL) != 1)
		mem_exhausted("OpenSSL");
	return d;
}

void hasher_init(struct hasher *h)
{
	if (h->ctx == NULL)
		h->ctx = EVP_MD_CTX_new();
	if (h->ctx == NULL || EVP_DigestInit_ex(h->ctx, EVP_sha256(), NULL) != 1)
		mem_exhausted("OpenSSL");
}

void hasher_update(struct hasher *h, const void *bytes, size_t len)
{
	if (EVP_DigestUpdate(h->ctx, bytes, len) != 1)
		BUG("SHA-256 update failed");
}

struct digest hasher_final(struct hasher *h)
{
	struct digest d;

	if (EVP_DigestFinal_ex(h->ctx, d.bytes, NULL) != 1)
		BUG("SHA-256 final failed");
	return d;
}

void hasher_done(struct hasher *h)
{
	EVP_MD_CTX_free(h->ctx);
	h->ctx = NULL;
}
