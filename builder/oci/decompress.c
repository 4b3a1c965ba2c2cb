/* See decompress.h; source_unpack is in unpack.c. */
#include "builder/oci/decompress.h"

#include <limits.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/mem.h"

enum { INPUT_BYTES = 128 << 10, ZSTD_WINDOW_LOG_MAX = 27, GZIP_WINDOW = 16 + MAX_WBITS };

/* What both codecs share: the compressed bytes at hand. */
struct input {
	struct source *in;
	unsigned char *buf;
	size_t at, n;
	bool end;
};

static int refill_input(struct input *i, struct err *err)
{
	if (i->at < i->n || i->end)
		return 0;
	i->at = 0;
	if (source_read(i->in, i->buf, INPUT_BYTES, &i->n, err) != 0)
		return -1;
	i->end = i->n == 0;
	return 0;
}

static void input_done(struct input *i)
{
	source_close(i->in);
	free(i->buf);
}

static int cut_short(const char *codec, struct err *err)
{
	err_set(err, ERR_FORMAT, "%s: the compressed data is truncated", codec);
	return err_hint(err, "The file is incomplete: fetch or make it again.");
}

/* ---- zstd ---- */

struct unzstd {
	struct source source;
	struct input input;
	ZSTD_DCtx *ctx;
	bool whole; /* the last frame is complete */
};

static int unzstd_failed(size_t rc, struct err *err)
{
	bool large = ZSTD_getErrorCode(rc) == ZSTD_error_frameParameter_windowTooLarge;

	return err_set(err, large ? ERR_LIMIT : ERR_FORMAT, "zstd: %s", ZSTD_getErrorName(rc));
}

static int unzstd_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	struct unzstd *z = (struct unzstd *)s;
	ZSTD_outBuffer out = {buf, cap, 0};

	while (out.pos < cap) {
		if (refill_input(&z->input, err) != 0)
			return -1;
		ZSTD_inBuffer in = {z->input.buf, z->input.n, z->input.at};
		size_t before = out.pos;

		if (z->input.end && z->whole)
			break;
		size_t rc = ZSTD_decompressStream(z->ctx, &out, &in);

		if (ZSTD_isError(rc))
			return unzstd_failed(rc, err);
		z->whole = rc == 0;
		z->input.at = in.pos;
		if (z->input.end && !z->whole && out.pos == before)
			return cut_short("zstd", err);
	}
	*ret_n = out.pos;
	return 0;
}

static void unzstd_close(struct source *s)
{
	struct unzstd *z = (struct unzstd *)s;

	ZSTD_freeDCtx(z->ctx);
	input_done(&z->input);
	free(z);
}

static struct source *unzstd_new(struct input input)
{
	struct unzstd *z = mem_zalloc(sizeof(*z));

	*z = (struct unzstd){{unzstd_read, unzstd_close}, input, ZSTD_createDCtx(), false};
	if (z->ctx == NULL ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(z->ctx, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MAX)))
		mem_exhausted("zstd");
	return &z->source;
}

/* ---- gzip ---- */

struct gunzip {
	struct source source;
	struct input input;
	z_stream z;
	bool whole;
};

/* Inflates into the rest of the buffer, going from one member to the next. */
static int inflate_some(struct gunzip *g, struct err *err)
{
	if (g->whole) {
		inflateReset(&g->z);
		g->whole = false;
	}
	g->z.next_in = g->input.buf + g->input.at;
	g->z.avail_in = (unsigned)(g->input.n - g->input.at);
	int rc = inflate(&g->z, Z_NO_FLUSH);

	g->input.at = g->input.n - g->z.avail_in;
	g->whole = rc == Z_STREAM_END;
	if (rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR)
		return 0;
	return err_set(err, ERR_FORMAT, "gzip: %s", g->z.msg != NULL ? g->z.msg : "damaged data");
}

static int gunzip_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	struct gunzip *g = (struct gunzip *)s;
	unsigned want = cap < UINT_MAX ? (unsigned)cap : UINT_MAX;

	g->z.next_out = buf;
	g->z.avail_out = want;
	while (g->z.avail_out > 0) {
		unsigned before = g->z.avail_out;

		if (refill_input(&g->input, err) != 0)
			return -1;
		if (g->input.end && g->whole)
			break;
		if (inflate_some(g, err) != 0)
			return -1;
		if (g->input.end && !g->whole && g->z.avail_out == before)
			return cut_short("gzip", err);
	}
	*ret_n = want - g->z.avail_out;
	return 0;
}

static void gunzip_close(struct source *s)
{
	struct gunzip *g = (struct gunzip *)s;

	inflateEnd(&g->z);
	input_done(&g->input);
	free(g);
}

static struct source *gunzip_new(struct input input)
{
	struct gunzip *g = mem_zalloc(sizeof(*g));

	*g = (struct gunzip){.source = {gunzip_read, gunzip_close}, .input = input};
	if (inflateInit2(&g->z, GZIP_WINDOW) != Z_OK)
		mem_exhausted("zlib");
	return &g->source;
}

struct source *source_decompress(struct source *in, enum compression compression)
{
	struct input input = {.in = in};

	if (compression == COMPRESSION_NONE)
		return in;
	input.buf = mem_realloc(NULL, INPUT_BYTES, 1);
	return compression == COMPRESSION_ZSTD ? unzstd_new(input) : gunzip_new(input);
}
