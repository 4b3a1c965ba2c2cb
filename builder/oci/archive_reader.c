/*
 * One pass over the members of a tar file, and ranges of what was found.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/interrupt.h"
#include "base/mem.h"
#include "builder/oci/archive_internal.h"

int archive_open_file(const char *path, int *ret_fd, int64_t *ret_size, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "open '%s'", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return err_set(err, ERR_FORMAT, "'%s' is not a regular file", path);
	*ret_size = st.st_size;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

static int read_failed(const struct archive_reader *r, struct err *err)
{
	const char *why = archive_error_string(r->tar);

	return err_set(err, ERR_FORMAT, "'%s' is not a readable tar file: %s", r->path,
	               why != NULL ? why : "unknown");
}

/* Only decoders inside libarchive: others would start programs. */
int archive_reader_open(struct archive_reader *r, const char *path, int fd, struct err *err)
{
	*r = (struct archive_reader){.path = path, .tar = archive_read_new()};
	if (r->tar == NULL)
		mem_exhausted("libarchive");
	if (archive_read_support_format_tar(r->tar) != ARCHIVE_OK ||
	    archive_read_support_filter_gzip(r->tar) != ARCHIVE_OK ||
	    archive_read_support_filter_bzip2(r->tar) != ARCHIVE_OK ||
	    archive_read_support_filter_xz(r->tar) != ARCHIVE_OK ||
	    archive_read_support_filter_zstd(r->tar) != ARCHIVE_OK ||
	    archive_read_open_fd(r->tar, fd, 64 << 10) != ARCHIVE_OK)
		return read_failed(r, err);
	return 0;
}

void archive_reader_done(struct archive_reader *r)
{
	archive_read_free(r->tar);
	r->tar = NULL;
}

bool archive_is_compressed(const struct archive_reader *r)
{
	return archive_filter_code(r->tar, 0) != ARCHIVE_FILTER_NONE;
}

/* Tells the budget of a compressed archive how far it was read. */
static int check_expansion(struct archive_reader *r, struct err *err)
{
	int64_t in, out;

	if (interrupt_check(err) != 0)
		return -1;
	if (!archive_is_compressed(r))
		return 0;
	in = archive_filter_bytes(r->tar, -1);
	out = archive_filter_bytes(r->tar, 0);
	budget_earn(&r->budget, in - r->weighed);
	budget_spend(&r->budget, BUDGET_UNPACKED, out - r->decompressed);
	r->weighed = in;
	r->decompressed = out;
	if (budget_check(&r->budget, err) == 0)
		return 0;
	err->hint[0] = '\0';
	err_hint(err, "if the file is to be trusted, decompress it before");
	return err_wrap(err, "'%s'", r->path);
}

/* What is skipped of a compressed archive is decompressed all the same, so it is read in pieces. */
static int skip_member(struct archive_reader *r, struct err *err)
{
	const void *bytes;
	size_t n;
	la_int64_t offset;
	int status = ARCHIVE_OK;

	while (status == ARCHIVE_OK) {
		if (check_expansion(r, err) != 0)
			return -1;
		status = archive_read_data_block(r->tar, &bytes, &n, &offset);
	}
	return status == ARCHIVE_EOF ? 0 : read_failed(r, err);
}

int archive_next_member(struct archive_reader *r, struct archive_entry **ret_entry, struct err *err)
{
	int status;

	/* The filter is known after the first header only. */
	if (r->begun && archive_is_compressed(r) && skip_member(r, err) != 0)
		return -1;
	r->begun = true;
	status = archive_read_next_header(r->tar, ret_entry);
	if (status == ARCHIVE_EOF)
		return 0;
	if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
		return read_failed(r, err);
	return check_expansion(r, err) == 0 ? 1 : -1;
}

int archive_copy_member(struct archive_reader *r, struct sink *sink, struct err *err)
{
	AUTO_FREE unsigned char *buf = mem_realloc(NULL, 256 << 10, 1);
	la_ssize_t n;

	while ((n = archive_read_data(r->tar, buf, 256 << 10)) > 0)
		if (check_expansion(r, err) != 0 || sink_write(sink, buf, (size_t)n, err) != 0)
			return -1;
	return n == 0 ? 0 : read_failed(r, err);
}

int archive_open_unpacked(int *ret_fd, struct err *err)
{
	const char *dir = getenv("TMPDIR");

	return fs_open_unnamed(dir != NULL && dir[0] == '/' ? dir : "/tmp", ret_fd, err);
}

/* Reads a range of a descriptor that other threads read too. */
struct range_source {
	struct source source;
	int fd; /* borrowed from the store */
	int64_t at, left;
};

static int range_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	struct range_source *r = (struct range_source *)s;
	size_t want = (uint64_t)r->left < cap ? (size_t)r->left : cap;
	ssize_t n = fs_pread(r->fd, buf, want, r->at);

	if (n < 0)
		return err_set(err, ERR_IO, "read");
	r->at += n;
	r->left -= n;
	*ret_n = (size_t)n;
	return 0;
}

static void range_close(struct source *s)
{
	free(s);
}

struct source *archive_range(int fd, int64_t at, int64_t size)
{
	struct range_source *r = mem_zalloc(sizeof(*r));

	*r = (struct range_source){{range_read, range_close}, fd, at, size};
	return &r->source;
}
