#include "trainer/comm/hmac.h"

#include <string.h>

enum { INNER = 0x36, OUTER = 0x5c };

static unsigned nibble(char c)
{
	return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);
}

static void bytes_of(const char hex[SHA256_HEX_MAX], unsigned char out[SHA256_BYTES])
{
	for (size_t i = 0; i < SHA256_BYTES; i++)
		out[i] = (unsigned char)(nibble(hex[2 * i]) << 4 | nibble(hex[2 * i + 1]));
}

/* A key longer than a block stands for its digest. */
static void block_of(const char *key, unsigned char block[SHA256_BLOCK])
{
	size_t len = strlen(key);
	char hex[SHA256_HEX_MAX];
	struct sha256 s;

	memset(block, 0, SHA256_BLOCK);
	if (len <= SHA256_BLOCK) {
		memcpy(block, key, len);
		return;
	}
	sha256_init(&s);
	sha256_update(&s, key, len);
	bytes_of(sha256_hex(&s, hex), block);
}

static char *pass(const unsigned char block[SHA256_BLOCK], unsigned char pad, const void *bytes,
                  size_t len, char out[SHA256_HEX_MAX])
{
	unsigned char padded[SHA256_BLOCK];
	struct sha256 s;

	for (size_t i = 0; i < SHA256_BLOCK; i++)
		padded[i] = block[i] ^ pad;
	sha256_init(&s);
	sha256_update(&s, padded, sizeof(padded));
	sha256_update(&s, bytes, len);
	return sha256_hex(&s, out);
}

char *hmac_sha256_hex(const char *key, const char *text, char out[SHA256_HEX_MAX])
{
	unsigned char block[SHA256_BLOCK], inner[SHA256_BYTES];

	block_of(key, block);
	bytes_of(pass(block, INNER, text, strlen(text), out), inner);
	return pass(block, OUTER, inner, sizeof(inner), out);
}
