#include "builder/oci/inflate.h"

#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"

enum { INFLATE_INPUT = 256 << 10, ZSTD_WINDOW_LOG_MAX = 27 };

struct inflate {
	struct source source;
	struct source *inner;
	unsigned char input[INFLATE_INPUT];
	size_t have, used; /* bytes of input, and how many of them are consumed */
	bool end;          /* inner has no more */
	bool inside;       /* in the middle of a member or frame */
	z_stream zlib;
	ZSTD_DCtx *zstd;
};

/* Makes sure that there is input, unless inner is at its end. */
static int refill(struct inflate *f, struct err *err)
{
	size_t n;

	if (f->used < f->have || f->end)
		return 0;
	if (source_read(f->inner, f->input, sizeof(f->input), &n, err) != 0)
		return -1;
	f->have = n;
	f->used = 0;
	f->end = n == 0;
	return 0;
}

/* One call of the decoder; *ret_n = bytes made. */
static int step_gzip(struct inflate *f, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	f->zlib.next_in = f->input + f->used;
	f->zlib.avail_in = (unsigned)(f->have - f->used);
	f->zlib.next_out = buf;
	f->zlib.avail_out = (unsigned)(cap < UINT32_MAX ? cap : UINT32_MAX);
	unsigned room = f->zlib.avail_out;
	int status = inflate(&f->zlib, Z_NO_FLUSH);

	f->used = f->have - f->zlib.avail_in;
	*ret_n = room - f->zlib.avail_out;
	if (status == Z_STREAM_END) {
		f->inside = false;
		inflateReset(&f->zlib);
		return 0;
	}
	f->inside = true;
	if (status != Z_OK && status != Z_BUF_ERROR)
		return err_set(err, ERR_FORMAT, "gzip data is damaged: %s",
		               f->zlib.msg != NULL ? f->zlib.msg : "unknown");
	return 0;
}

static int step_zstd(struct inflate *f, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	ZSTD_inBuffer in = {f->input, f->have, f->used};
	ZSTD_outBuffer out = {buf, cap, 0};
	size_t status = ZSTD_decompressStream(f->zstd, &out, &in);

	f->used = in.pos;
	*ret_n = out.pos;
	if (ZSTD_isError(status))
		return err_set(err, ERR_FORMAT, "zstd data is damaged: %s",
		               ZSTD_getErrorName(status));
	f->inside = status != 0;
	return 0;
}

static int read_decoded(struct inflate *f, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	for (;;) {
		if (refill(f, err) != 0)
			return -1;
		if (f->end && !f->inside) {
			*ret_n = 0;
			return 0;
		}
		bool starved = f->end && f->used == f->have;
		int status = f->zstd != NULL ? step_zstd(f, buf, cap, ret_n, err)
		                             : step_gzip(f, buf, cap, ret_n, err);

		if (status != 0 || *ret_n > 0)
			return status;
		if (starved && f->inside)
			return err_set(err, ERR_FORMAT, "compressed data ends too early");
	}
}

static int inflate_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	return read_decoded((struct inflate *)s, buf, cap, ret_n, err);
}

static int plain_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	return source_read(((struct inflate *)s)->inner, buf, cap, ret_n, err);
}

static void inflate_close(struct source *s)
{
	struct inflate *f = (struct inflate *)s;

	source_close(f->inner);
	if (f->zstd != NULL)
		ZSTD_freeDCtx(f->zstd);
	inflateEnd(&f->zlib);
	free(f);
}

struct source *inflate_source(struct source *inner, enum compression compression)
{
	struct inflate *f = mem_zalloc(sizeof(*f));

	f->source = (struct source){compression == COMPRESSION_NONE ? plain_read : inflate_read,
	                            inflate_close};
	f->inner = inner;
	if (compression == COMPRESSION_ZSTD) {
		f->zstd = ZSTD_createDCtx();
		if (f->zstd == NULL)
			BUG("out of memory");
		/* 128 MiB, what every consumer's decoder takes; more is an attack on memory. */
		ZSTD_DCtx_setParameter(f->zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MAX);
	} else if (compression == COMPRESSION_GZIP && inflateInit2(&f->zlib, 15 + 16) != Z_OK) {
		BUG("out of memory");
	}
	return &f->source;
}
