#include "trainer/sample/png.h"

#include <string.h>

#include "base/mem.h"

enum { STORED_MAX = 65535, ADLER = 65521, COLOURS = 3 };

static void put_be32(struct strbuf *sb, uint32_t v)
{
	unsigned char b[4] = {(unsigned char)(v >> 24), (unsigned char)(v >> 16),
	                      (unsigned char)(v >> 8), (unsigned char)v};

	strbuf_add(sb, b, sizeof(b));
}

/* CRC-32 of RFC 2083, reflected polynomial 0xEDB88320. */
static uint32_t crc32_of(const char *bytes, size_t n)
{
	uint32_t crc = 0xffffffffu, table[256];

	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c >> 1 ^ (0xedb88320u & (0u - (c & 1u)));
		table[i] = c;
	}
	for (size_t i = 0; i < n; i++)
		crc = crc >> 8 ^ table[(crc ^ (unsigned char)bytes[i]) & 255];
	return ~crc;
}

static uint32_t adler32_of(const char *bytes, size_t n)
{
	uint32_t a = 1, b = 0;

	for (size_t i = 0; i < n; i++) {
		a = (a + (unsigned char)bytes[i]) % ADLER;
		b = (b + a) % ADLER;
	}
	return b << 16 | a;
}

/* Length, type, data, checksum of type and data. */
static void add_chunk(struct strbuf *sb, const char type[5], const struct strbuf *data)
{
	AUTO(strbuf) struct strbuf body = STRBUF_INIT(0);

	strbuf_add(&body, type, 4);
	strbuf_add(&body, strbuf_str(data), data->len);
	put_be32(sb, (uint32_t)data->len);
	strbuf_add(sb, body.ptr, body.len);
	put_be32(sb, crc32_of(body.ptr, body.len));
}

/* A zlib stream of stored blocks. */
static void store(struct strbuf *out, const struct strbuf *raw)
{
	strbuf_add(out, "\x78\x01", 2);
	for (size_t at = 0; at < raw->len;) {
		size_t n = raw->len - at < STORED_MAX ? raw->len - at : STORED_MAX;
		unsigned char head[5] = {at + n == raw->len, (unsigned char)n,
		                         (unsigned char)(n >> 8), (unsigned char)~n,
		                         (unsigned char)(~n >> 8)};

		strbuf_add(out, head, sizeof(head));
		strbuf_add(out, raw->ptr + at, n);
		at += n;
	}
	put_be32(out, adler32_of(raw->ptr, raw->len));
}

void png_encode(struct strbuf *sb, const uint8_t *rgb, uint32_t height, uint32_t width)
{
	static const unsigned char signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
	static const unsigned char format[5] = {8, 2, 0, 0, 0}; /* 8 bits, RGB */
	AUTO(strbuf) struct strbuf head = STRBUF_INIT(0);
	AUTO(strbuf) struct strbuf raw = STRBUF_INIT(0);
	AUTO(strbuf) struct strbuf data = STRBUF_INIT(0);
	AUTO(strbuf) struct strbuf end = STRBUF_INIT(0);
	size_t row = (size_t)width * COLOURS;

	put_be32(&head, width);
	put_be32(&head, height);
	strbuf_add(&head, format, sizeof(format));
	for (uint32_t y = 0; y < height; y++) {
		strbuf_addc(&raw, 0);
		strbuf_add(&raw, rgb + y * row, row);
	}
	store(&data, &raw);
	strbuf_add(sb, signature, sizeof(signature));
	add_chunk(sb, "IHDR", &head);
	add_chunk(sb, "IDAT", &data);
	add_chunk(sb, "IEND", &end);
}
