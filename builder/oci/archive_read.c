/*
 * Reading an oci-archive: the places of its members are noted in one pass. A compressed archive is
 * unpacked into one unnamed temporary file, a plain one is read where it lies.
 */
#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "base/crypto/digest_stream.h"
#include "base/fs.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "base/text.h"
#include "builder/oci/archive_internal.h"
#include "builder/oci/layout_internal.h"
#include "builder/oci/referrers.h"

enum { ARCHIVE_BLOBS_MAX = 1 << 18, ARCHIVE_VERSION_MAX = 4096 };

struct archive_blob {
	struct digest digest;
	int64_t offset, size;
};

struct archive_store {
	struct store store;
	char *path;
	int fd;                           /* the archive, or what it was unpacked to */
	VEC(struct archive_blob) members; /* sorted by digest once the archive is read */
	struct strbuf index;              /* index.json */
	bool has_version;
};

static int by_digest(const void *a, const void *b)
{
	return memcmp(((const struct archive_blob *)a)->digest.bytes,
	              ((const struct archive_blob *)b)->digest.bytes, DIGEST_BYTES);
}

static int archive_resolve(struct store *s, const char *tag, struct arena *a,
                           struct descriptor *ret_desc, struct err *err)
{
	const struct archive_store *as = (struct archive_store *)s;
	struct index index;

	if (index_parse(as->index.ptr, as->index.len, NULL, a, &index, err) != 0)
		return err_wrap(err, "'%s': index.json", as->path);
	return layout_find(&index, as->path, tag, ret_desc, err);
}

static int archive_open_blob(struct store *s, const struct descriptor *desc,
                             struct source **ret_source, struct err *err)
{
	const struct archive_store *as = (struct archive_store *)s;
	const struct archive_blob key = {.digest = desc->digest}, *found = NULL;
	char text[DIGEST_TEXT_MAX];

	if (as->members.n > 0)
		found = bsearch(&key, as->members.at, as->members.n, sizeof(key), by_digest);
	if (found == NULL)
		return err_set(err, ERR_NOT_FOUND, "'%s' has no blob %s", as->path,
		               digest_text(&desc->digest, text));
	if (store_check_size(desc, found->size, err) != 0)
		return -1;
	*ret_source = source_verified(archive_range(as->fd, found->offset, found->size),
	                              &desc->digest, desc->size);
	return 0;
}

static int archive_referrers(struct store *s, const struct digest *subject, const char *type,
                             struct arena *a, struct referrers *ret_referrers, struct err *err)
{
	const struct archive_store *as = (struct archive_store *)s;
	AUTO(referrers_scan)
	struct referrers_scan scan = {.store = s, .subject = subject, .type = type, .arena = a};
	struct index index;

	if (index_parse(as->index.ptr, as->index.len, NULL, a, &index, err) != 0 ||
	    referrers_consider_layout(&scan, &index, err) != 0)
		return err_wrap(err, "'%s'", as->path);
	*ret_referrers = referrers_finish(&scan);
	return 0;
}

static void archive_close(struct store *s)
{
	struct archive_store *as = (struct archive_store *)s;

	attr_close_fd(&as->fd);
	vec_done(&as->members);
	strbuf_done(&as->index);
	free(as->path);
	free(as);
}

/* One pass over the members. */
struct archive_pass {
	struct archive_store *as;
	struct archive_reader reader;
	int64_t file_size;
	int64_t unpacked; /* bytes in as->fd, of a compressed archive */
};

static int read_small(struct archive_pass *pass, const char *name, struct strbuf *sb,
                      struct err *err)
{
	struct strbuf_sink sink;

	if (sb->len > 0)
		return err_set(err, ERR_FORMAT, "'%s' has two members '%s'", pass->as->path, name);
	strbuf_sink_init(&sink, sb);
	return archive_copy_member(&pass->reader, &sink.sink, err) != 0
	               ? err_wrap(err, "member '%s'", name)
	               : 0;
}

static int note_blob(struct archive_pass *pass, const struct digest *d, int64_t size,
                     struct err *err)
{
	struct archive_blob member = {.digest = *d, .size = size};
	struct fd_sink sink;

	if (pass->as->members.n == ARCHIVE_BLOBS_MAX)
		return err_set(err, ERR_LIMIT, "'%s' has more than %d blobs", pass->as->path,
		               ARCHIVE_BLOBS_MAX);
	if (!archive_is_compressed(&pass->reader)) {
		member.offset = archive_filter_bytes(pass->reader.tar, 0);
		if (member.offset < 0 || size > pass->file_size - member.offset)
			return err_set(err, ERR_FORMAT, "'%s' is truncated", pass->as->path);
	} else {
		member.offset = pass->unpacked;
		fd_sink_init(&sink, pass->as->fd);
		if (archive_copy_member(&pass->reader, &sink.sink, err) != 0)
			return err_wrap(err, "unpack '%s'", pass->as->path);
		pass->unpacked += size;
	}
	vec_push(&pass->as->members, member);
	return 0;
}

static int check_version(const struct strbuf *text, struct archive_store *as, struct err *err)
{
	AUTO(json) cJSON *doc = NULL;

	if (json_parse("oci-layout", text->ptr, text->len, &doc, err) != 0)
		return -1;
	const char *version = json_string(doc, "imageLayoutVersion");

	if (version == NULL || !text_has_prefix(version, "1."))
		return err_set(err, ERR_UNSUPPORTED, "image layout version is not 1.x");
	as->has_version = true;
	return 0;
}

/* What is not part of a layout is left alone: `docker save` adds files of its own. */
static int read_member(struct archive_pass *pass, struct archive_entry *entry, struct err *err)
{
	const char *name = archive_entry_pathname(entry);
	bool regular = archive_entry_filetype(entry) == AE_IFREG &&
	               archive_entry_hardlink(entry) == NULL &&
	               archive_entry_sparse_count(entry) == 0 && archive_entry_size_is_set(entry) &&
	               archive_entry_size(entry) >= 0;
	char text[DIGEST_TEXT_MAX];
	struct digest d;
	struct err ignored = {0};

	if (name != NULL && text_has_prefix(name, "./"))
		name += 2;
	if (name == NULL || !regular)
		return 0;
	if (strcmp(name, "index.json") == 0)
		return read_small(pass, name, &pass->as->index, err);
	if (strcmp(name, "oci-layout") == 0) {
		AUTO(strbuf) struct strbuf version = STRBUF_INIT(ARCHIVE_VERSION_MAX);

		return read_small(pass, name, &version, err) != 0
		               ? -1
		               : check_version(&version, pass->as, err);
	}
	if (!text_has_prefix(name, "blobs/sha256/") || strlen(name) != 13 + 2 * DIGEST_BYTES)
		return 0;
	snprintf(text, sizeof(text), "sha256:%.64s", name + 13);
	return digest_parse(text, &d, &ignored) == 0
	               ? note_blob(pass, &d, archive_entry_size(entry), err)
	               : 0;
}

static int read_members(struct archive_pass *pass, struct err *err)
{
	struct archive_entry *entry;
	int more;

	while ((more = archive_next_member(&pass->reader, &entry, err)) == 1) {
		if (archive_is_compressed(&pass->reader) && pass->as->fd < 0 &&
		    archive_open_unpacked(&pass->as->fd, err) != 0)
			return -1;
		if (read_member(pass, entry, err) != 0)
			return -1;
	}
	return more;
}

static int scan_file(struct archive_store *as, struct err *err)
{
	AUTO_CLOSE int fd = -1;
	struct archive_pass pass = {.as = as};

	if (archive_open_file(as->path, &fd, &pass.file_size, err) != 0)
		return -1;
	int result = archive_reader_open(&pass.reader, as->path, fd, err);

	if (result == 0)
		result = read_members(&pass, err);
	archive_reader_done(&pass.reader);
	if (result == 0 && as->fd < 0) {
		as->fd = fd;
		fd = -1;
	}
	return result;
}

int archive_open_oci(const char *path, struct store **ret_store, struct err *err)
{
	struct archive_store *as = mem_zalloc(sizeof(*as));

	as->store = (struct store){archive_resolve, archive_open_blob, archive_close,
	                           archive_referrers};
	as->path = mem_strdup(path);
	as->fd = -1;
	as->index.max = MANIFEST_BYTES_MAX;
	int result = scan_file(as, err);

	if (result == 0 && (!as->has_version || as->index.len == 0))
		result = err_set(err, ERR_FORMAT,
		                 "'%s' is not an OCI archive: it has no oci-layout or index.json",
		                 path);
	if (result != 0) {
		archive_close(&as->store);
		return -1;
	}
	if (as->members.n > 0)
		qsort(as->members.at, as->members.n, sizeof(*as->members.at), by_digest);
	*ret_store = &as->store;
	return 0;
}
