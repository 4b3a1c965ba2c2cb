#include <archive.h>
#include <archive_entry.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "builder/oci/archive_internal.h"

enum { TARFILE_CHUNK = 256 << 10 };

static int tarfile_failed(const struct tarfile *t, struct err *err)
{
	const char *why = archive_error_string(t->tar);

	if (t->why.code != ERR_NONE) {
		*err = t->why;
		return -1;
	}
	return err_set(err, ERR_FORMAT, "write '%s': %s", t->path, why != NULL ? why : "unknown");
}

/*
 * Takes every byte, even after a failure: if one were reported, libarchive would leak what it
 * holds, and closing a half-written tar fills the member up with zeros, which nobody needs on
 * disk. The failure stays in t->why.
 */
static la_ssize_t write_chunk(struct archive *tar UNUSED, void *data, const void *bytes, size_t len)
{
	struct tarfile *t = data;

	if (!t->given_up && fs_write_all(t->temp.fd, bytes, len, &t->why) != 0)
		t->given_up = true;
	return (la_ssize_t)len;
}

int tarfile_open(struct tarfile *t, const char *path, struct err *err)
{
	char dir[PATH_MAX];

	t->path = path;
	fs_parent(path, dir);
	if (fs_temp_open(&t->temp, dir, err) != 0)
		return -1;
	t->tar = archive_write_new();
	if (t->tar == NULL)
		mem_exhausted("libarchive");
	/* Plain ustar; a pax record only where a layer is larger than ustar can say (8 GiB). */
	if (archive_write_set_format_pax_restricted(t->tar) != ARCHIVE_OK ||
	    archive_write_add_filter_none(t->tar) != ARCHIVE_OK ||
	    archive_write_set_bytes_in_last_block(t->tar, 1) != ARCHIVE_OK ||
	    archive_write_open(t->tar, t, NULL, write_chunk, NULL) != ARCHIVE_OK)
		return tarfile_failed(t, err);
	return 0;
}

int tarfile_commit(struct tarfile *t, struct err *err)
{
	if (archive_write_close(t->tar) != ARCHIVE_OK || t->given_up)
		return tarfile_failed(t, err);
	return fs_temp_commit(&t->temp, t->path, 0644, err);
}

void tarfile_done(struct tarfile *t)
{
	t->given_up = true;
	archive_write_free(t->tar);
	t->tar = NULL;
	fs_temp_done(&t->temp);
}

static int add_header(struct tarfile *t, const char *name, mode_t mode, int64_t size,
                      struct err *err)
{
	struct archive_entry *entry = archive_entry_new();

	if (entry == NULL)
		mem_exhausted("libarchive");
	archive_entry_set_pathname(entry, name);
	archive_entry_set_mode(entry, mode);
	archive_entry_set_size(entry, size);
	archive_entry_set_mtime(entry, 0, 0);
	archive_entry_set_uid(entry, 0);
	archive_entry_set_gid(entry, 0);
	int status = archive_write_header(t->tar, entry);

	archive_entry_free(entry);
	return status == ARCHIVE_OK && !t->given_up ? 0 : tarfile_failed(t, err);
}

int tarfile_add_folder(struct tarfile *t, const char *name, struct err *err)
{
	return add_header(t, name, S_IFDIR | 0755, 0, err);
}

int tarfile_add_bytes(struct tarfile *t, const char *name, const void *bytes, size_t len,
                      struct err *err)
{
	struct source *src = source_from_bytes(bytes, len);
	int result = tarfile_add_source(t, name, src, (int64_t)len, err);

	source_close(src);
	return result;
}

int tarfile_add_source(struct tarfile *t, const char *name, struct source *src, int64_t size,
                       struct err *err)
{
	AUTO_FREE unsigned char *buf = mem_realloc(NULL, TARFILE_CHUNK, 1);
	int64_t left = size;

	if (add_header(t, name, S_IFREG | 0644, size, err) != 0)
		return -1;
	for (;;) {
		size_t n;

		if (interrupt_check(err) != 0 || source_read(src, buf, TARFILE_CHUNK, &n, err) != 0)
			return -1;
		if (n == 0)
			break;
		left -= (int64_t)n;
		if (left < 0)
			break;
		if (archive_write_data(t->tar, buf, n) != (la_ssize_t)n || t->given_up)
			return tarfile_failed(t, err);
	}
	if (left != 0)
		return err_set(err, ERR_DIGEST, "'%s' does not have %lld bytes", name,
		               (long long)size);
	return 0;
}
