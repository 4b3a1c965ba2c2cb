/*
 * source_unpack: libarchive's filters around its raw format, that is, decompression only; our own
 * tar reader does the rest. Filters that start programs (lrzip, lzop, grzip) are left out.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>

#include "base/mem.h"
#include "builder/layer/tar/unpack.h"

enum { UNPACK_BYTES = 128 << 10 };

struct unpack {
	struct source source;
	struct source *in;
	struct archive *archive;
	struct err inner; /* of reading `in`, which libarchive cannot carry */
	unsigned char buf[UNPACK_BYTES];
};

static la_ssize_t on_read(struct archive *a, void *ctx, const void **ret_bytes)
{
	struct unpack *u = ctx;
	size_t n;

	if (source_read(u->in, u->buf, sizeof(u->buf), &n, &u->inner) != 0) {
		archive_set_error(a, EIO, "%s", u->inner.msg);
		return ARCHIVE_FATAL;
	}
	*ret_bytes = u->buf;
	return (la_ssize_t)n;
}

static int failed(struct unpack *u, struct err *err)
{
	const char *why = archive_error_string(u->archive);

	if (u->inner.code != ERR_NONE) {
		*err = u->inner;
		return -1;
	}
	err_set(err, ERR_FORMAT, "decompress: %s", why != NULL ? why : "damaged data");
	return err_hint(err, "The file is damaged or incomplete: fetch or make it again.");
}

static int unpack_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	struct unpack *u = (struct unpack *)s;
	la_ssize_t n = archive_read_data(u->archive, buf, cap);

	/* A warning is a failure here: half an archive is none. */
	if (n < 0)
		return failed(u, err);
	*ret_n = (size_t)n;
	return 0;
}

static void unpack_close(struct source *s)
{
	struct unpack *u = (struct unpack *)s;

	archive_read_free(u->archive);
	source_close(u->in);
	free(u);
}

static bool set_up(struct archive *a)
{
	int (*const supports[])(struct archive *) = {
		archive_read_support_format_raw,  archive_read_support_format_empty,
		archive_read_support_filter_gzip, archive_read_support_filter_bzip2,
		archive_read_support_filter_xz,   archive_read_support_filter_lzma,
		archive_read_support_filter_lzip, archive_read_support_filter_lz4,
		archive_read_support_filter_zstd, archive_read_support_filter_compress,
		archive_read_support_filter_uu,
	};

	/* ARCHIVE_WARN means that a program does the work; Debian's library has all of these built
	 * in. */
	for (size_t i = 0; i < ARRAY_LEN(supports); i++)
		if (supports[i](a) < ARCHIVE_WARN)
			return false;
	return true;
}

int source_unpack(struct source *in, struct source **ret_source, struct err *err)
{
	struct unpack *u = mem_zalloc(sizeof(*u));
	struct archive_entry *entry;

	u->source = (struct source){unpack_read, unpack_close};
	u->in = in;
	u->archive = archive_read_new();
	if (u->archive == NULL || !set_up(u->archive))
		BUG("libarchive reader cannot be made");
	int rc = archive_read_open(u->archive, u, NULL, on_read, NULL);

	if (rc == ARCHIVE_OK)
		rc = archive_read_next_header(u->archive, &entry);
	if (rc == ARCHIVE_EOF) {
		/* Nothing at all: an empty stream, which the reader of tar will judge. */
		unpack_close(&u->source);
		*ret_source = source_from_bytes("", 0);
		return 0;
	}
	if (rc < ARCHIVE_WARN || u->inner.code != ERR_NONE) {
		failed(u, err);
		unpack_close(&u->source);
		return -1;
	}
	*ret_source = &u->source;
	return 0;
}
