/*
 * Reading an oci-archive: its members go into a temporary layout, which then is the store. Only what a
 * layout has is taken; anything else in the tar is passed over.
 */
#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "builder/oci/archive.h"
#include "builder/oci/layout.h"

enum { READ_BLOCK = 256 << 10 };

struct archive_store {
	struct store store;
	struct layout *layout;
	struct store *inner;
	char dir[PATH_MAX];
};

struct archive_source {
	struct source source;
	struct archive *archive;
};

static int read_member(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	struct archive *archive = ((struct archive_source *)s)->archive;
	la_ssize_t n = archive_read_data(archive, buf, cap);

	if (n < 0)
		return err_set(err, ERR_FORMAT, "%s", archive_error_string(archive));
	*ret_n = (size_t)n;
	return 0;
}

/* "./blobs/sha256/HEX" gives its digest; false for any other name. */
static bool blob_name(const char *name, struct digest *ret_digest)
{
	char text[DIGEST_TEXT_MAX];
	struct err ignored = {0};

	if (!text_has_prefix(name, "blobs/sha256/") || strlen(name) != 13 + 2 * DIGEST_BYTES)
		return false;
	snprintf(text, sizeof(text), "sha256:%s", name + 13);
	return digest_parse(text, ret_digest, &ignored) == 0;
}

static int take_blob(struct archive_store *s, struct source *member, const struct digest *want, struct err *err)
{
	__attribute__((cleanup(layout_blob_done))) struct layout_blob blob = {0};
	struct digest digest;
	int64_t size;

	if (layout_blob_begin(s->layout, &blob, err) != 0 ||
	    stream_copy(member, &blob.hashed.sink, &size, err) != 0)
		return -1;
	return layout_blob_commit(&blob, want, &digest, &size, err);
}

static int take_index(struct archive_store *s, struct source *member, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	char path[PATH_MAX];

	if (stream_read_all(member, &text, err) != 0 || fs_join(path, s->dir, "index.json", err) != 0)
		return -1;
	return fs_write_file(path, text.ptr, text.len, 0644, err);
}

static int take_members(struct archive_store *s, struct archive *archive, struct err *err)
{
	struct archive_source source = {{read_member, NULL}, archive};
	struct archive_entry *entry;
	bool indexed = false;
	int status;

	while ((status = archive_read_next_header(archive, &entry)) == ARCHIVE_OK || status == ARCHIVE_WARN) {
		const char *name = archive_entry_pathname(entry);
		struct digest digest;
		int taken = 0;

		if (name == NULL || archive_entry_filetype(entry) != AE_IFREG)
			continue;
		name += strncmp(name, "./", 2) == 0 ? 2 : 0;
		if (blob_name(name, &digest))
			taken = take_blob(s, &source.source, &digest, err);
		else if (strcmp(name, "index.json") == 0)
			taken = take_index(s, &source.source, err);
		indexed = indexed || strcmp(name, "index.json") == 0;
		if (taken != 0)
			return err_wrap(err, "member '%s'", name);
	}
	if (status != ARCHIVE_EOF)
		return err_set(err, ERR_FORMAT, "%s", archive_error_string(archive));
	return indexed ? 0 : err_set(err, ERR_FORMAT, "it has no index.json: not an OCI archive");
}

static int resolve(struct store *s, const char *tag, struct arena *a, struct descriptor *ret_desc,
                   struct err *err)
{
	return store_resolve(((struct archive_store *)s)->inner, tag, a, ret_desc, err);
}

static int open_blob(struct store *s, const struct descriptor *desc, struct source **ret_source,
                     struct err *err)
{
	return store_open(((struct archive_store *)s)->inner, desc, ret_source, err);
}

static void close_store(struct store *store)
{
	struct archive_store *s = (struct archive_store *)store;
	struct err ignored = {0};

	store_close(s->inner);
	layout_close(s->layout);
	/* A temporary folder that cannot be removed is the system's cleaner's business. */
	if (s->dir[0] != '\0' && fs_remove_tree(s->dir, &ignored) != 0)
		s->dir[0] = '\0';
	free(s);
}

static int unpack(struct archive_store *s, const char *path, struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	struct archive *archive = archive_read_new();
	int status;

	snprintf(s->dir, sizeof(s->dir), "%s/slipway-archive-XXXXXX", tmp != NULL ? tmp : "/tmp");
	if (mkdtemp(s->dir) == NULL) {
		s->dir[0] = '\0';
		archive_read_free(archive);
		return err_set(err, ERR_IO, "create a temporary folder");
	}
	archive_read_support_filter_all(archive);
	archive_read_support_format_tar(archive);
	status = layout_open(s->dir, LAYOUT_WRITE, &s->layout, err);
	if (status == 0 && archive_read_open_filename(archive, path, READ_BLOCK) != ARCHIVE_OK)
		status = err_set(err, ERR_FORMAT, "%s", archive_error_string(archive));
	if (status == 0)
		status = take_members(s, archive, err);
	archive_read_free(archive);
	return status;
}

int archive_open_oci(const char *path, struct store **ret_store, struct err *err)
{
	struct archive_store *s;

	if (!fs_exists(path))
		return err_set(err, ERR_NOT_FOUND, "'%s' does not exist", path);
	s = mem_zalloc(sizeof(*s));
	s->store = (struct store){resolve, open_blob, close_store};
	if (unpack(s, path, err) != 0) {
		close_store(&s->store);
		return err_wrap(err, "OCI archive '%s'", path);
	}
	s->inner = layout_store(s->layout);
	*ret_store = &s->store;
	return 0;
}
