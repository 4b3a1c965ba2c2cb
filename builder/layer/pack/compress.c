/* See compress.h. Sections: parameters, gzip, zstd, the codec. */
#include "builder/layer/pack/compress.h"

#include <libdeflate.h>
#include <stdbool.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "builder/layer/pack/deflate_join.h"
#include "builder/layer/pack/layer.h"

/*
 * All numbers here are bits: raise LAYER_FORMAT_VERSION when one changes. Larger blocks gain
 * nothing measurable for DEFLATE, whose window is 32 KiB; zstd's window at level 3 is 2 MiB.
 */
enum {
	GZIP_BLOCK = 1 << 20,
	GZIP_HALF = GZIP_BLOCK / 2,
	ZSTD_BLOCK = 4 << 20,
	COPY_BLOCK = 1 << 20,
	GZIP_LEVEL_MAX = 12,
	ZSTD_LEVEL_MAX = 19,
	STORED_MAX = 65535, /* bytes of a stored DEFLATE block */
	STORED_HEAD = 5,
	SAMPLE_PIECES =
		4, /* what decides whether a gzip block is stored: pieces of the block ... */
	SAMPLE_PIECE = 16 << 10,
	SAMPLE = SAMPLE_PIECES * SAMPLE_PIECE,
	SAMPLE_FROM = 2 * SAMPLE, /* shorter blocks are never stored */
	SAMPLE_LEVEL = 1,
	BYTE_VALUES = 256
};

struct codec {
	enum compression compression;
	struct libdeflate_compressor *deflate, *sampler;
	ZSTD_CCtx *zstd;
	unsigned char *sample; /* SAMPLE bytes, then room for them compressed */
};

/* ---- parameters ---- */

int codec_level(enum compression compression, int level, int *ret_level, struct err *err)
{
	int max = compression == COMPRESSION_GZIP ? GZIP_LEVEL_MAX : ZSTD_LEVEL_MAX;

	if (compression == COMPRESSION_NONE) {
		*ret_level = 0;
		return 0;
	}
	if (level == 0)
		level = compression == COMPRESSION_GZIP ? LAYER_LEVEL_GZIP : LAYER_LEVEL_ZSTD;
	if (level < 1 || level > max)
		return err_set(err, ERR_USAGE, "%s has no level %d: it has 1 to %d",
		               compression_name(compression), level, max);
	*ret_level = level;
	return 0;
}

size_t codec_block_size(enum compression compression)
{
	switch (compression) {
	case COMPRESSION_NONE:
		return COPY_BLOCK;
	case COMPRESSION_GZIP:
		return GZIP_BLOCK;
	case COMPRESSION_ZSTD:
		return ZSTD_BLOCK;
	}
	BUG("compression %d", (int)compression);
}

size_t codec_bound(enum compression compression)
{
	size_t block = codec_block_size(compression);

	if (compression == COMPRESSION_GZIP)
		return 2 *
		       (libdeflate_deflate_compress_bound(NULL, GZIP_HALF) + DEFLATE_JOIN_SLACK);
	if (compression == COMPRESSION_ZSTD)
		return ZSTD_compressBound(block);
	return block;
}

const char *codec_encoder(enum compression compression)
{
	switch (compression) {
	case COMPRESSION_NONE:
		return "tar";
	case COMPRESSION_GZIP:
		return "libdeflate-" LIBDEFLATE_VERSION_STRING;
	case COMPRESSION_ZSTD:
		return "zstd-" ZSTD_VERSION_STRING;
	}
	BUG("compression %d", (int)compression);
}

/* ---- gzip ---- */

static void put_le(unsigned char *out, size_t n, uint64_t value)
{
	for (size_t i = 0; i < n; i++, value >>= 8)
		out[i] = (unsigned char)value;
}

/* Stored blocks, none of them final, ending at a byte border as they always do. */
static size_t store_blocks(const unsigned char *bytes, size_t len, unsigned char *out)
{
	size_t at = 0;

	for (size_t done = 0, n; done < len; done += n) {
		n = len - done < STORED_MAX ? len - done : STORED_MAX;
		out[at] = 0;
		put_le(out + at + 1, 2, n);
		put_le(out + at + 3, 2, ~n);
		memcpy(out + at + STORED_HEAD, bytes + done, n);
		at += STORED_HEAD + n;
	}
	return at;
}

/*
 * True when byte values are spread so evenly that an order-0 coder would gain less than about 3 %.
 * For even bytes the sum of squared counts is n * n / 256 + n; a tenth more is the border.
 */
static bool looks_random(const unsigned char *sample)
{
	const uint64_t even = (uint64_t)SAMPLE * SAMPLE / BYTE_VALUES + SAMPLE;
	uint32_t count[BYTE_VALUES] = {0};
	uint64_t sum = 0;

	for (size_t i = 0; i < SAMPLE; i++)
		count[sample[i]]++;
	for (size_t i = 0; i < BYTE_VALUES; i++)
		sum += (uint64_t)count[i] * count[i];
	return sum < even + even / 10;
}

/* Random-looking at four fixed places, and not compressible by 1.05 there either. */
static bool incompressible(struct codec *c, const unsigned char *bytes, size_t len)
{
	size_t stride, n;

	if (len < SAMPLE_FROM)
		return false;
	stride = (len - SAMPLE_PIECE) / (SAMPLE_PIECES - 1);
	for (size_t i = 0; i < SAMPLE_PIECES; i++)
		memcpy(c->sample + i * SAMPLE_PIECE, bytes + i * stride, SAMPLE_PIECE);
	if (!looks_random(c->sample))
		return false;
	n = libdeflate_deflate_compress(c->sampler, c->sample, SAMPLE, c->sample + SAMPLE, SAMPLE);
	return n == 0 || n * 21 > (size_t)SAMPLE * 20;
}

/* Compresses one half; the stream is complete. */
static void deflate_half(struct codec *c, const unsigned char *bytes, size_t len,
                         struct deflate_stream *s)
{
	s->len = libdeflate_deflate_compress(c->deflate, bytes, len, s->bytes,
	                                     s->cap - DEFLATE_JOIN_SLACK);
	if (s->len == 0)
		BUG("libdeflate: %zu bytes do not fit", len);
}

/*
 * A block is two streams, because walking two at once costs little more than walking one. The
 * second is made in the other half of `out` and then moved behind the first.
 */
static int gzip_block(struct codec *c, const unsigned char *bytes, size_t len, unsigned char *out,
                      size_t *ret_len, struct err *err)
{
	size_t half = codec_bound(COMPRESSION_GZIP) / 2;
	struct deflate_stream first = {.bytes = out, .cap = half};
	struct deflate_stream second = {.bytes = out + half, .cap = half};

	if (incompressible(c, bytes, len)) {
		*ret_len = store_blocks(bytes, len, out);
		return 0;
	}
	deflate_half(c, bytes, len < GZIP_HALF ? len : GZIP_HALF, &first);
	if (len <= GZIP_HALF) {
		if (deflate_join(&first, err) != 0)
			return -1;
		*ret_len = first.len;
		return 0;
	}
	deflate_half(c, bytes + GZIP_HALF, len - GZIP_HALF, &second);
	if (deflate_join_two(&first, &second, err) != 0)
		return -1;
	memmove(out + first.len, second.bytes, second.len);
	*ret_len = first.len + second.len;
	return 0;
}

size_t codec_head(enum compression compression, unsigned char out[CODEC_HEAD_MAX])
{
	/* RFC 1952, 2.3: DEFLATE, no flags, no time, no extra flags, operating system unknown. */
	static const unsigned char head[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};

	if (compression != COMPRESSION_GZIP)
		return 0;
	memcpy(out, head, sizeof(head));
	return sizeof(head);
}

size_t codec_tail(enum compression compression, uint32_t crc, uint64_t raw_size,
                  unsigned char out[CODEC_TAIL_MAX])
{
	if (compression != COMPRESSION_GZIP)
		return 0;
	out[0] = 3; /* an empty final block of fixed codes */
	out[1] = 0;
	put_le(out + 2, 4, crc);
	put_le(out + 6, 4, raw_size);
	return 10;
}

uint32_t codec_crc_join(uint32_t crc_a, uint32_t crc_b, size_t len_b)
{
	return (uint32_t)crc32_combine(crc_a, crc_b, (z_off_t)len_b);
}

/* ---- zstd ---- */

static void zstd_set(ZSTD_CCtx *zstd, ZSTD_cParameter parameter, int value)
{
	size_t rc = ZSTD_CCtx_setParameter(zstd, parameter, value);

	if (ZSTD_isError(rc))
		BUG("zstd parameter %d: %s", (int)parameter, ZSTD_getErrorName(rc));
}

static ZSTD_CCtx *zstd_new(int level)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();

	if (zstd == NULL)
		mem_exhausted("zstd");
	zstd_set(zstd, ZSTD_c_compressionLevel, level);
	zstd_set(zstd, ZSTD_c_contentSizeFlag, 1);
	zstd_set(zstd, ZSTD_c_checksumFlag, 0);
	return zstd;
}

static int zstd_block(struct codec *c, const void *bytes, size_t len, void *out, size_t *ret_len,
                      struct err *err)
{
	size_t n = ZSTD_compress2(c->zstd, out, codec_bound(COMPRESSION_ZSTD), bytes, len);

	if (ZSTD_isError(n))
		return err_set(err, ERR_LIMIT, "zstd: %s", ZSTD_getErrorName(n));
	*ret_len = n;
	return 0;
}

/* ---- the codec ---- */

static struct libdeflate_compressor *deflate_new(int level)
{
	struct libdeflate_compressor *deflate = libdeflate_alloc_compressor(level);

	if (deflate == NULL)
		mem_exhausted("libdeflate");
	return deflate;
}

struct codec *codec_new(enum compression compression, int level)
{
	struct codec *c = mem_zalloc(sizeof(*c));

	c->compression = compression;
	if (compression == COMPRESSION_GZIP) {
		c->deflate = deflate_new(level);
		c->sampler = deflate_new(SAMPLE_LEVEL);
		c->sample = mem_calloc(2, SAMPLE);
	} else if (compression == COMPRESSION_ZSTD) {
		c->zstd = zstd_new(level);
	}
	return c;
}

void codec_free(struct codec *c)
{
	if (c == NULL)
		return;
	if (c->deflate != NULL)
		libdeflate_free_compressor(c->deflate);
	if (c->sampler != NULL)
		libdeflate_free_compressor(c->sampler);
	ZSTD_freeCCtx(c->zstd);
	free(c->sample);
	free(c);
}

int codec_block(struct codec *c, const void *bytes, size_t len, void *out, size_t *ret_len,
                uint32_t *ret_crc, struct err *err)
{
	uint32_t crc = 0;
	size_t n = len;

	if (c->compression == COMPRESSION_GZIP) {
		crc = libdeflate_crc32(0, bytes, len);
		if (gzip_block(c, bytes, len, out, &n, err) != 0)
			return -1;
	} else if (c->compression == COMPRESSION_ZSTD) {
		if (zstd_block(c, bytes, len, out, &n, err) != 0)
			return -1;
	} else {
		memcpy(out, bytes, len);
	}
	*ret_len = n;
	*ret_crc = crc;
	return 0;
}
