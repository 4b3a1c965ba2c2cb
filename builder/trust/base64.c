#include "builder/trust/base64.h"

#include <stdint.h>
#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(const void *bytes, size_t len, struct strbuf *sb)
{
	const unsigned char *b = bytes;

	for (size_t i = 0; i < len; i += 3) {
		size_t n = len - i < 3 ? len - i : 3;
		uint32_t group = (uint32_t)b[i] << 16 | (n > 1 ? (uint32_t)b[i + 1] << 8 : 0) |
		                 (n > 2 ? b[i + 2] : 0);

		strbuf_addc(sb, letters[group >> 18]);
		strbuf_addc(sb, letters[group >> 12 & 63]);
		strbuf_addc(sb, n > 1 ? letters[group >> 6 & 63] : '=');
		strbuf_addc(sb, n > 2 ? letters[group & 63] : '=');
	}
}

/* The value of a letter, 64 for anything else. */
static uint32_t value_of(char c)
{
	const char *at = c != '\0' ? strchr(letters, c) : NULL;

	return at != NULL ? (uint32_t)(at - letters) : 64;
}

/* Four letters, of which the last n_pad are '='; the bits that they do not use are zero. */
static bool decode_group(const char *text, size_t n_pad, struct strbuf *sb)
{
	uint32_t group = 0;

	for (size_t i = 0; i < 4; i++) {
		uint32_t value = i < 4 - n_pad ? value_of(text[i]) : 0;

		if (value == 64)
			return false;
		group = group << 6 | value;
	}
	if ((n_pad > 0 && (group & 0xff) != 0) || (n_pad > 1 && (group & 0xffff) != 0))
		return false;
	strbuf_addc(sb, (char)(group >> 16));
	if (n_pad < 2)
		strbuf_addc(sb, (char)(group >> 8));
	if (n_pad < 1)
		strbuf_addc(sb, (char)group);
	return true;
}

bool base64_decode(const char *text, struct strbuf *sb)
{
	size_t len = strlen(text);

	if (len % 4 != 0)
		return false;
	for (size_t i = 0; i < len; i += 4) {
		bool last = i + 4 == len;
		size_t n_pad = last ? (size_t)(text[i + 3] == '=') +
		                               (size_t)(text[i + 3] == '=' && text[i + 2] == '=')
		                    : 0;

		if (!decode_group(text + i, n_pad, sb))
			return false;
	}
	return !sb->overflow;
}
