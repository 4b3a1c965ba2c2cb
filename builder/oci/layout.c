/*
 * Sections: open and close, blobs, the store interface.
 */
#include "builder/oci/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/fs_below.h"
#include "base/interrupt.h"
#include "base/mem.h"
#include "builder/oci/layout_internal.h"
#include "builder/oci/referrers.h"

static const char layout_file[] = LAYOUT_VERSION_JSON;

enum { LAYOUT_FILE_MAX = 4096, SYNC_STEP = 16 << 20 };

/* ---- open and close ---- */

static int check_version(const char *path, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(LAYOUT_FILE_MAX);
	AUTO(json) cJSON *doc = NULL;
	char file[PATH_MAX];

	if (fs_join(file, path, LAYOUT_FILE, err) != 0)
		return -1;
	if (fs_read_file(file, LAYOUT_FILE_MAX, &text, err) != 0) {
		if (err->code != ERR_NOT_FOUND)
			return -1;
		err_set(err, ERR_NOT_FOUND, "'%s' %s", path,
		        fs_exists(path) ? "is not an OCI image layout: it has no oci-layout file"
		                        : "does not exist");
		return -1;
	}
	if (json_parse(file, text.ptr, text.len, &doc, err) != 0)
		return -1;
	const char *version = json_string(doc, "imageLayoutVersion");

	if (version == NULL || strncmp(version, "1.", 2) != 0)
		return err_set(err, ERR_UNSUPPORTED,
		               "'%s': image layout version '%.20s' is not 1.x", path,
		               version != NULL ? version : "");
	return 0;
}

/* Makes the skeleton under the index lock: two processes may start on the same empty folder. */
static int create_skeleton(const char *path, struct err *err)
{
	static const char empty[] =
		"{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_INDEX "\",\"manifests\":[]}";
	AUTO(fs_below) struct fs_below below = FS_BELOW_INIT;
	char file[PATH_MAX];
	AUTO_CLOSE int lock = -1;

	/* Nobody's link decides where blobs are written, and where garbage is collected. */
	if (fs_below_open(path, &below, err) != 0 ||
	    fs_below_mkdirs(&below, "blobs/sha256", err) != 0 ||
	    fs_join(file, path, LAYOUT_INDEX_LOCK, err) != 0 ||
	    fs_lock(file, FS_LOCK_EXCLUSIVE, &lock, err) != 0 ||
	    fs_join(file, path, "index.json", err) != 0)
		return -1;
	if (!fs_exists(file) && fs_write_file(file, empty, strlen(empty), 0644, err) != 0)
		return -1;
	if (fs_join(file, path, LAYOUT_FILE, err) != 0)
		return -1;
	return fs_exists(file) ? 0
	                       : fs_write_file(file, layout_file, strlen(layout_file), 0644, err);
}

int layout_lock_readers(const char *path, int operation, int *ret_fd, struct err *err)
{
	/* An exclusive lock on NFS needs a descriptor that may write; a reader's never does. */
	int wanted = (operation & LOCK_EX) != 0 ? O_RDWR : O_RDONLY, result;
	char file[PATH_MAX];

	if (fs_join(file, path, LAYOUT_FILE, err) != 0)
		return -1;
	AUTO_CLOSE int fd = open(file, wanted | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 && wanted == O_RDWR)
		fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return err_set(err, ERR_IO, "open '%s'", file);
	while ((result = flock(fd, operation)) != 0 && errno == EINTR)
		if (interrupt_check(err) != 0)
			return -1;
	if (result != 0)
		return err_set(err, ERR_IO, "lock '%s'", file);
	*ret_fd = fd;
	fd = -1;
	return 0;
}

/* Where a reader can have no lock, no collector has one either, and none collects. */
static int begin_reading(struct layout *l, struct err *err)
{
	struct err why = {0};

	if (layout_lock_readers(l->path, LOCK_SH, &l->lock_fd, &why) == 0 || why.code == ERR_IO)
		return 0;
	*err = why;
	return -1;
}

int layout_open(const char *path, unsigned flags, struct layout **ret_layout, struct err *err)
{
	AUTO_LAYOUT struct layout *l = mem_zalloc(sizeof(*l));
	char file[PATH_MAX];

	l->lock_fd = -1;
	l->path = mem_strdup(path);
	if ((flags & LAYOUT_WRITE) != 0) {
		l->writable = true;
		if (create_skeleton(path, err) != 0 ||
		    fs_join(file, path, LAYOUT_WRITERS_LOCK, err) != 0 ||
		    fs_lock(file, FS_LOCK_SHARED, &l->lock_fd, err) != 0)
			return err_wrap(err, "image layout '%s'", path);
	}
	if (check_version(path, err) != 0 || (!l->writable && begin_reading(l, err) != 0))
		return -1;
	*ret_layout = l;
	l = NULL;
	return 0;
}

void layout_close(struct layout *l)
{
	if (l == NULL)
		return;
	attr_close_fd(&l->lock_fd);
	free(l->path);
	free(l);
}

void layout_closep(struct layout **l)
{
	layout_close(*l);
	*l = NULL;
}

const char *layout_path(const struct layout *l)
{
	return l->path;
}

/* ---- blobs ---- */

int layout_blob_path(const struct layout *l, const struct digest *d, char out[PATH_MAX],
                     struct err *err)
{
	char hex[DIGEST_HEX_MAX], name[16 + DIGEST_HEX_MAX];

	snprintf(name, sizeof(name), "blobs/sha256/%s", digest_hex(d, hex));
	return fs_join(out, l->path, name, err);
}

bool layout_has(const struct layout *l, const struct digest *d, int64_t size)
{
	char path[PATH_MAX];
	struct stat st;
	struct err ignored = {0};

	return layout_blob_path(l, d, path, &ignored) == 0 && stat(path, &st) == 0 &&
	       S_ISREG(st.st_mode) && (size < 0 || st.st_size == size);
}

int layout_open_fd(const struct layout *l, const struct digest *d, int *ret_fd, struct err *err)
{
	char path[PATH_MAX], text[DIGEST_TEXT_MAX];
	struct stat st;

	if (layout_blob_path(l, d, path, err) != 0)
		return -1;
	/* A pipe in a hostile layout must not block us. */
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 && errno == ENOENT)
		return err_set(err, ERR_NOT_FOUND, "'%s' has no blob %s", l->path,
		               digest_text(d, text));
	if (fd < 0)
		return err_set(err, ERR_IO, "open '%s'", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return err_set(err, ERR_FORMAT, "'%s' is not a regular file", path);
	*ret_fd = fd;
	fd = -1;
	return 0;
}

/* Starts writing back what is complete, so that the fsync at the end finds little to do. */
static int write_blob(struct sink *s, const void *bytes, size_t len, struct err *err)
{
	struct layout_blob *b =
		(struct layout_blob *)((char *)s - offsetof(struct layout_blob, file));
	int64_t before = b->hashed.bytes - (int64_t)len;

	if (fs_write_all(b->temp.fd, bytes, len, err) != 0)
		return err_wrap(err, "image layout '%s'", b->layout->path);
	if (before / SYNC_STEP != b->hashed.bytes / SYNC_STEP)
		sync_file_range(b->temp.fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	return 0;
}

int layout_blob_begin(struct layout *l, struct layout_blob *blob, struct err *err)
{
	char dir[PATH_MAX];

	if (!l->writable)
		BUG("layout '%s' was opened for reading", l->path);
	if (fs_join(dir, l->path, "blobs/sha256", err) != 0)
		return -1;
	*blob = (struct layout_blob){.layout = l, .temp = FS_TEMP_INIT};
	if (fs_temp_open(&blob->temp, dir, err) != 0)
		return err_wrap(err, "image layout '%s'", l->path);
	fd_sink_init(&blob->file, blob->temp.fd);
	blob->file.sink.write = write_blob;
	digest_sink_init(&blob->hashed, &blob->file.sink);
	return 0;
}

int layout_blob_commit(struct layout_blob *blob, const struct digest *want,
                       struct digest *ret_digest, int64_t *ret_size, struct err *err)
{
	struct digest d = digest_sink_final(&blob->hashed);
	char path[PATH_MAX], a[DIGEST_TEXT_MAX], b[DIGEST_TEXT_MAX];

	if (want != NULL && !digest_equal(&d, want))
		return err_set(err, ERR_DIGEST, "the content of %s has digest %s",
		               digest_text(want, a), digest_text(&d, b));
	if (layout_blob_path(blob->layout, &d, path, err) != 0)
		return -1;
	if (!layout_has(blob->layout, &d, blob->hashed.bytes) &&
	    fs_temp_commit(&blob->temp, path, 0444, err) != 0)
		return err_wrap(err, "image layout '%s'", blob->layout->path);
	*ret_digest = d;
	*ret_size = blob->hashed.bytes;
	return 0;
}

void layout_blob_done(struct layout_blob *blob)
{
	fs_temp_done(&blob->temp);
	digest_sink_done(&blob->hashed);
}

int layout_put(struct layout *l, const char *media_type, const void *bytes, size_t len,
               struct descriptor *ret_desc, struct err *err)
{
	__attribute__((cleanup(layout_blob_done))) struct layout_blob blob = {0};
	struct descriptor d = {.media_type = media_type};

	if (layout_blob_begin(l, &blob, err) != 0 ||
	    sink_write(&blob.hashed.sink, bytes, len, err) != 0 ||
	    layout_blob_commit(&blob, NULL, &d.digest, &d.size, err) != 0)
		return -1;
	*ret_desc = d;
	return 0;
}

int layout_adopt(struct layout *l, const char *path, const struct digest *d, struct err *err)
{
	char blob[PATH_MAX];
	struct stat st;

	if (layout_blob_path(l, d, blob, err) != 0)
		return -1;
	if (stat(path, &st) != 0)
		return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "'%s'", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_FORMAT, "'%s' is not a regular file", path);
	/* A shorter file of that name is what a full disk once left: it must go. */
	if (fs_exists(blob) && !layout_has(l, d, st.st_size) && unlink(blob) != 0)
		return err_set(err, ERR_IO, "replace '%s'", blob);
	return fs_link_or_copy(path, blob, err);
}

/* ---- the store interface ---- */

struct layout_store {
	struct store store;
	struct layout *layout;
};

static int layout_store_resolve(struct store *s, const char *tag, struct arena *a,
                                struct descriptor *ret_desc, struct err *err)
{
	const struct layout *l = ((struct layout_store *)s)->layout;
	struct index index;

	if (layout_index(l, a, &index, err) != 0)
		return -1;
	return layout_find(&index, l->path, tag, ret_desc, err);
}

static int layout_store_open_blob(struct store *s, const struct descriptor *desc,
                                  struct source **ret_source, struct err *err)
{
	AUTO_CLOSE int fd = -1;
	struct stat st;

	if (layout_open_fd(((struct layout_store *)s)->layout, &desc->digest, &fd, err) != 0)
		return -1;
	if (fstat(fd, &st) == 0 && store_check_size(desc, st.st_size, err) != 0)
		return -1;
	*ret_source = source_verified(source_from_fd(fd), &desc->digest, desc->size);
	fd = -1;
	return 0;
}

static int layout_store_referrers(struct store *s, const struct digest *subject, const char *type,
                                  struct arena *a, struct referrers *ret_referrers, struct err *err)
{
	AUTO(referrers_scan)
	struct referrers_scan scan = {.store = s, .subject = subject, .type = type, .arena = a};
	struct index index;

	if (layout_index(((struct layout_store *)s)->layout, a, &index, err) != 0 ||
	    referrers_consider_layout(&scan, &index, err) != 0)
		return -1;
	*ret_referrers = referrers_finish(&scan);
	return 0;
}

static void layout_store_close(struct store *s)
{
	free(s);
}

struct store *layout_store(struct layout *l)
{
	struct layout_store *s = mem_zalloc(sizeof(*s));

	s->store = (struct store){layout_store_resolve, layout_store_open_blob, layout_store_close,
	                          layout_store_referrers};
	s->layout = l;
	return &s->store;
}
