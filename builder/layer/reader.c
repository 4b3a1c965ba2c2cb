/*
 * Reading layers back. The bytes flow blob -> decompressor -> hasher -> libarchive's tar reader; we
 * decompress ourselves because the diff ID is the digest of every byte of the tar, the padding behind its
 * end included, which a tar reader never asks for.
 */
#include "builder/layer/reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "builder/layer/inflate.h"
#include "builder/layer/source_archive.h"

enum { READER_BLOCK = 256 << 10, READER_MEMBERS_MAX = 8 << 20, READER_XATTRS_MAX = 256 };
#define READER_BYTES_MAX ((int64_t)1 << 40)

struct layer_reader {
	struct source *plain; /* decompressed bytes */
	struct hasher hasher;
	int64_t raw_size;
	struct archive *archive;
	struct err err; /* of the source, on its way through libarchive */
	bool failed;
	size_t n_members;
	struct arena arena; /* of the current member */
	char block[READER_BLOCK];
};

/* The next block of the tar, hashed; 0 at the end, -1 with r->err. */
static la_ssize_t next_block(struct layer_reader *r)
{
	size_t n;

	if (source_read(r->plain, r->block, sizeof(r->block), &n, &r->err) != 0) {
		r->failed = true;
		return -1;
	}
	hasher_update(&r->hasher, r->block, n);
	r->raw_size += (int64_t)n;
	if (r->raw_size > READER_BYTES_MAX) {
		err_set(&r->err, ERR_LIMIT, "the layer unpacks to more than 1 TiB");
		r->failed = true;
		return -1;
	}
	return (la_ssize_t)n;
}

static la_ssize_t give_block(struct archive *archive, void *data, const void **ret_block)
{
	struct layer_reader *r = data;
	la_ssize_t n = next_block(r);

	if (n < 0)
		archive_set_error(archive, EIO, "%s", r->err.msg);
	*ret_block = r->block;
	return n;
}

/* What really went wrong: the source's own error, or libarchive's words about the tar. */
static int archive_failure(const struct layer_reader *r, struct err *err)
{
	const char *text = archive_error_string(r->archive);

	if (r->failed) {
		*err = r->err;
		return -1;
	}
	return err_set(err, ERR_FORMAT, "layer: %s", text != NULL ? text : "not a tar archive");
}

int layer_reader_open(struct source *blob, const char *media_type, struct layer_reader **ret_reader,
                      struct err *err)
{
	struct layer_reader *r;
	enum compression compression;

	if (!media_layer_compression(media_type, &compression)) {
		source_close(blob);
		return err_set(err, ERR_UNSUPPORTED, "'%.120s' is not a layer that can be read", media_type);
	}
	r = mem_zalloc(sizeof(*r));
	r->plain = inflate_source(blob, compression);
	hasher_init(&r->hasher);
	r->archive = archive_read_new();
	if (r->archive == NULL)
		BUG("out of memory");
	archive_read_support_format_tar(r->archive);
	archive_read_support_format_empty(r->archive);
	/* Without this an end-of-archive mark in the middle would hide what follows from us, not from others. */
	archive_read_set_option(r->archive, "tar", "read_concatenated_archives", NULL);
	if (archive_read_open(r->archive, r, NULL, give_block, NULL) != ARCHIVE_OK) {
		archive_failure(r, err);
		layer_reader_close(r);
		return -1;
	}
	*ret_reader = r;
	return 0;
}

/* "./usr/bin/" -> "usr/bin", in the member's arena. */
static const char *plain_path(struct layer_reader *r, const char *path)
{
	size_t len;

	while (path[0] == '/' || (path[0] == '.' && (path[1] == '/' || path[1] == '\0')))
		path++;
	len = strlen(path);
	while (len > 0 && path[len - 1] == '/')
		len--;
	return arena_strndup(&r->arena, path, len);
}

static enum member_type type_of(struct archive_entry *entry)
{
	if (archive_entry_hardlink(entry) != NULL || archive_entry_hardlink_utf8(entry) != NULL)
		return MEMBER_HARDLINK;
	switch (archive_entry_filetype(entry)) {
	case AE_IFREG:
		return MEMBER_FILE;
	case AE_IFDIR:
		return MEMBER_DIR;
	case AE_IFLNK:
		return MEMBER_SYMLINK;
	case AE_IFCHR:
		return MEMBER_CHAR;
	case AE_IFBLK:
		return MEMBER_BLOCK;
	case AE_IFIFO:
		return MEMBER_FIFO;
	default:
		return MEMBER_OTHER;
	}
}

static const char *link_of(struct layer_reader *r, struct archive_entry *entry, enum member_type type)
{
	const char *text = type == MEMBER_HARDLINK ? archive_entry_hardlink(entry) : archive_entry_symlink(entry);

	if (text == NULL)
		text = type == MEMBER_HARDLINK ? archive_entry_hardlink_utf8(entry)
		                               : archive_entry_symlink_utf8(entry);
	if (text == NULL)
		return "";
	return type == MEMBER_HARDLINK ? plain_path(r, text) : arena_strdup(&r->arena, text);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct entry_xattr *)a)->name, ((const struct entry_xattr *)b)->name);
}

static void take_xattrs(struct layer_reader *r, struct archive_entry *entry, struct member *m)
{
	int count = archive_entry_xattr_reset(entry);
	struct entry_xattr *list;
	const char *name;
	const void *value;
	size_t len;

	if (count <= 0)
		return;
	list = arena_calloc(&r->arena, READER_XATTRS_MAX, sizeof(*list));
	while (m->n_xattrs < READER_XATTRS_MAX &&
	       archive_entry_xattr_next(entry, &name, &value, &len) == ARCHIVE_OK)
		list[m->n_xattrs++] = (struct entry_xattr){arena_strdup(&r->arena, name),
		                                           arena_memdup(&r->arena, value, len), len};
	qsort(list, m->n_xattrs, sizeof(*list), by_name);
	m->xattrs = list;
}

static void fill_member(struct layer_reader *r, struct archive_entry *entry, const char *path, struct member *m)
{
	*m = (struct member){.path = plain_path(r, path), .type = type_of(entry)};
	m->mode = (uint32_t)archive_entry_perm(entry);
	m->uid = (uint32_t)archive_entry_uid(entry);
	m->gid = (uint32_t)archive_entry_gid(entry);
	m->mtime = archive_entry_mtime(entry);
	m->size = m->type == MEMBER_FILE ? archive_entry_size(entry) : 0;
	if (m->type == MEMBER_HARDLINK || m->type == MEMBER_SYMLINK)
		m->link = link_of(r, entry, m->type);
	take_xattrs(r, entry, m);
}

int layer_reader_next(struct layer_reader *r, struct member *ret_member, bool *ret_more, struct err *err)
{
	struct archive_entry *entry;
	int status = archive_read_next_header(r->archive, &entry);

	arena_done(&r->arena);
	*ret_more = status == ARCHIVE_OK || status == ARCHIVE_WARN;
	if (status == ARCHIVE_EOF && !r->failed)
		return 0;
	if (!*ret_more)
		return archive_failure(r, err);
	if (++r->n_members > READER_MEMBERS_MAX)
		return err_set(err, ERR_LIMIT, "the layer has more than %d members", READER_MEMBERS_MAX);
	const char *path = archive_member_name(entry);

	if (path == NULL)
		return err_set(err, ERR_FORMAT, "member %zu has a name that cannot be read", r->n_members);
	fill_member(r, entry, path, ret_member);
	return 0;
}

int layer_reader_read(struct layer_reader *r, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	la_ssize_t n = archive_read_data(r->archive, buf, cap);

	if (n < 0)
		return archive_failure(r, err);
	*ret_n = (size_t)n;
	return 0;
}

int layer_reader_finish(struct layer_reader *r, struct digest *ret_diff_id, int64_t *ret_raw_size,
                        struct err *err)
{
	la_ssize_t n;

	do
		n = next_block(r);
	while (n > 0);
	if (n < 0) {
		*err = r->err;
		return -1;
	}
	*ret_diff_id = hasher_final(&r->hasher);
	*ret_raw_size = r->raw_size;
	return 0;
}

void layer_reader_close(struct layer_reader *r)
{
	if (r == NULL)
		return;
	archive_read_free(r->archive);
	source_close(r->plain);
	hasher_done(&r->hasher);
	arena_done(&r->arena);
	free(r);
}
