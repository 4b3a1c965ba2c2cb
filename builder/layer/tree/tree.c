/* See tree.h. What puts a tree in order is in tree_finish.c. */
#include "builder/layer/tree/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/interrupt.h"
#include "base/mem.h"

enum { PATH_BYTES_MAX = 4096, SPOOL_BUFFER = 256 << 10 };

/* ---- the tree ---- */

void tree_init(struct tree *t, struct arena *a, const char *label, int64_t epoch)
{
	*t = (struct tree){.arena = a, .spool_fd = -1, .epoch = epoch, .label = label};
}

void tree_done(struct tree *t)
{
	free(t->at);
	/* A zeroed tree has no spool either: 0 is never one of its descriptors. */
	if (t->spool_fd > 0)
		close(t->spool_fd);
	*t = (struct tree){.spool_fd = -1};
}

int64_t tree_bytes(const struct tree *t)
{
	int64_t sum = 0;

	for (size_t i = 0; i < t->n; i++)
		if (t->at[i].type == ENTRY_FILE && __builtin_add_overflow(sum, t->at[i].size, &sum))
			return INT64_MAX;
	return sum;
}

/* ---- paths ---- */

static int bad_path(struct err *err, struct srcpos at, const char *path, const char *what)
{
	return err_at(err, ERR_FORMAT, at, "path '%.*s' %s", 256, path, what);
}

/* One segment of a path; *ret_keep is false for "" and ".". */
static int check_segment(const char *path, const char *segment, size_t len, struct srcpos at,
                         bool *ret_keep, struct err *err)
{
	if (len == 2 && memcmp(segment, "..", 2) == 0)
		return bad_path(err, at, path, "has a '..' segment");
	if (len >= 4 && memcmp(segment, ".wh.", 4) == 0) {
		bad_path(err, at, path, "has a segment that starts with '.wh.'");
		return err_hint(err, "In a layer such a name deletes a lower file (image-spec, "
		                     "whiteouts), so it cannot be shipped; rename or exclude it.");
	}
	if (len > NAME_MAX)
		return bad_path(err, at, path, "has a segment longer than 255 bytes");
	*ret_keep = len > 0 && !(len == 1 && segment[0] == '.');
	return 0;
}

/* The path without empty and '.' segments: the same pointer when it has none, else a copy. */
static int clean_path(struct tree *t, const char *path, struct srcpos at, const char **ret_path,
                      struct err *err)
{
	size_t len = strlen(path), used = 0;
	char clean[PATH_BYTES_MAX + 1];

	if (len > PATH_BYTES_MAX)
		return bad_path(err, at, path, "is longer than 4096 bytes");
	for (const char *s = path; *s != '\0';) {
		size_t n = strcspn(s, "/");
		bool keep = false;

		if (check_segment(path, s, n, at, &keep, err) != 0)
			return -1;
		if (keep) {
			if (used > 0)
				clean[used++] = '/';
			memcpy(clean + used, s, n);
			used += n;
		}
		s += n + (s[n] == '/');
	}
	*ret_path = used == len ? path : arena_strndup(t->arena, clean, used);
	return 0;
}

static int check_symlink(const struct entry *e, struct err *err)
{
	size_t len = e->link != NULL ? strlen(e->link) : 0;

	if (len == 0)
		return bad_path(err, e->at, e->path, "is a symbolic link without a target");
	if (len >= PATH_BYTES_MAX)
		return bad_path(err, e->at, e->path,
		                "is a symbolic link with a target over 4095 bytes");
	return 0;
}

int tree_add(struct tree *t, const struct entry *e, struct err *err)
{
	struct entry copy = *e;

	if (clean_path(t, e->path, e->at, &copy.path, err) != 0)
		return -1;
	if (copy.path[0] == '\0') {
		if (e->type == ENTRY_DIR)
			return 0; /* the root itself is no entry of a layer */
		return bad_path(err, e->at, e->path, "names no file");
	}
	if (e->type == ENTRY_SYMLINK && check_symlink(e, err) != 0)
		return -1;
	if (e->type == ENTRY_HARDLINK &&
	    clean_path(t, e->link != NULL ? e->link : "", e->at, &copy.link, err) != 0)
		return -1;
	if (e->size < 0)
		return bad_path(err, e->at, e->path, "has a negative size");
	if (e->type != ENTRY_FILE)
		copy.size = 0;
	copy.mode &= 07777;
	vec_push(t, copy);
	return 0;
}

/* ---- entries found, and compared ---- */

size_t tree_find(const struct tree *t, const char *path, size_t len)
{
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strncmp(t->at[middle].path, path, len) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	/* Of all paths with this prefix the path itself sorts first. */
	if (low < t->n && strncmp(t->at[low].path, path, len) == 0 && t->at[low].path[len] == '\0')
		return low;
	return t->n;
}

void tree_mark_parents(const struct tree *t, const char *path, bool *marks)
{
	for (const char *slash = strrchr(path, '/'); slash != NULL;
	     slash = memrchr(path, '/', (size_t)(slash - path))) {
		size_t at = tree_find(t, path, (size_t)(slash - path));

		if (at == t->n || marks[at])
			return;
		marks[at] = true;
	}
}

static bool same_xattrs(const struct entry *a, const struct entry *b)
{
	if (a->n_xattrs != b->n_xattrs)
		return false;
	for (size_t i = 0; i < a->n_xattrs; i++) {
		const struct entry_xattr *x = &a->xattrs[i], *y = &b->xattrs[i];

		if (strcmp(x->name, y->name) != 0 || x->len != y->len ||
		    (x->len > 0 && memcmp(x->value, y->value, x->len) != 0))
			return false;
	}
	return true;
}

bool entry_same_metadata(const struct entry *a, const struct entry *b)
{
	return a->mode == b->mode && a->uid == b->uid && a->gid == b->gid && same_xattrs(a, b);
}

/* ---- spool ---- */

/*
 * In $TMPDIR, else /var/tmp, which is made for large temporary files where /tmp may be memory, else
 * /tmp.
 */
static int open_spool(struct tree *t, struct err *err)
{
	const char *named = getenv("TMPDIR");
	const char *const dirs[] = {named, "/var/tmp", "/tmp"};
	struct err why = {0};

	if (t->spool_fd >= 0)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(dirs) && t->spool_fd < 0; i++)
		if (dirs[i] != NULL && dirs[i][0] != '\0')
			if (fs_open_unnamed(dirs[i], &t->spool_fd, &why) == 0)
				return 0;
	errno = why.os_errno;
	err_set(err, ERR_IO, "create a temporary file for archive contents");
	return err_hint(err, "Set TMPDIR to a writable folder.");
}

static int spool_write(struct tree *t, const unsigned char *bytes, size_t len, int64_t offset,
                       struct err *err)
{
	while (len > 0) {
		ssize_t n = fs_pwrite(t->spool_fd, bytes, len, offset);

		if (n < 0) {
			err_set(err, ERR_IO, "write a temporary file for archive contents");
			return err_hint(err, "Set TMPDIR to a folder with more free space.");
		}
		bytes += n;
		offset += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Zeros become holes, so that the holes of a sparse file take no room on disk. */
static int spool_chunk(struct tree *t, const unsigned char *bytes, size_t len, int64_t offset,
                       struct err *err)
{
	if (!mem_is_zero(bytes, len))
		return spool_write(t, bytes, len, offset, err);
	if (len > 0 && ftruncate(t->spool_fd, offset + (int64_t)len) != 0)
		return err_set(err, ERR_IO, "extend a temporary file for archive contents");
	return 0;
}

int tree_spool(struct tree *t, struct source *src, int64_t size, int64_t *ret_offset,
               struct err *err)
{
	AUTO_FREE unsigned char *buf = mem_zalloc(SPOOL_BUFFER);
	int64_t done = 0, end;

	if (size < 0 || __builtin_add_overflow(t->spool_size, size, &end))
		return err_set(err, ERR_LIMIT, "content of %lld bytes", (long long)size);
	if (open_spool(t, err) != 0)
		return -1;
	for (size_t n = 1; n > 0;) {
		if (interrupt_check(err) != 0 || source_read(src, buf, SPOOL_BUFFER, &n, err) != 0)
			return -1;
		if ((int64_t)n > size - done)
			return err_set(err, ERR_FORMAT, "content is longer than %lld bytes",
			               (long long)size);
		if (spool_chunk(t, buf, n, t->spool_size + done, err) != 0)
			return -1;
		done += (int64_t)n;
	}
	if (done != size)
		return err_set(err, ERR_FORMAT, "content ends after %lld of %lld bytes",
		               (long long)done, (long long)size);
	*ret_offset = t->spool_size;
	t->spool_size = end;
	return 0;
}

/* ---- content ---- */

/* A file, or a part of one, that must deliver exactly `left` bytes more. */
struct file_content {
	struct source source;
	int fd;
	bool owned; /* fd is closed with it, and the file must end where the content does */
	int64_t offset, left;
	const char *name;
};

static int content_changed(const char *name, struct err *err)
{
	err_set(err, ERR_CONFLICT, "'%s' changed while it was being read", name);
	return err_hint(err, "Build again when nothing writes to the source files.");
}

static int content_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	struct file_content *c = (struct file_content *)s;
	/* At the end one byte more is asked for, to see that the file did not grow. */
	size_t want = c->left == 0 ? 1 : (int64_t)cap < c->left ? cap : (size_t)c->left;

	*ret_n = 0;
	if (c->left == 0 && !c->owned)
		return 0;
	ssize_t n = fs_pread(c->fd, buf, want, c->offset);

	if (n < 0)
		return err_set(err, ERR_IO, "read '%s'", c->name);
	if ((n == 0) != (c->left == 0))
		return content_changed(c->name, err);
	c->offset += n;
	c->left -= n;
	*ret_n = (size_t)n;
	return 0;
}

static void content_close(struct source *s)
{
	struct file_content *c = (struct file_content *)s;

	if (c->owned)
		close(c->fd);
	free(c);
}

static struct source *content_new(int fd, bool owned, const struct entry *e, int64_t offset)
{
	struct file_content *c = mem_zalloc(sizeof(*c));

	*c = (struct file_content){.source = {content_read, content_close},
	                           .fd = fd,
	                           .owned = owned,
	                           .offset = offset,
	                           .left = e->size,
	                           .name = e->source != NULL ? e->source : e->path};
	return &c->source;
}

static bool is_what_was_seen(const struct entry *e, const struct stat *st)
{
	const struct entry_stamp *s = &e->stamp;

	return S_ISREG(st->st_mode) && st->st_size == e->size &&
	       (s->ino == 0 || (s->dev == (uint64_t)st->st_dev && s->ino == (uint64_t)st->st_ino));
}

static int open_path(const struct entry *e, struct source **ret_source, struct err *err)
{
	struct stat st;
	/* Non-blocking, should a fifo have taken the file's place. */
	int fd = open(e->source, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0 && errno == ENOENT)
		return content_changed(e->source, err);
	if (fd < 0)
		return err_set(err, ERR_IO, "open '%s'", e->source);
	if (fstat(fd, &st) != 0 || !is_what_was_seen(e, &st)) {
		close(fd);
		return content_changed(e->source, err);
	}
	*ret_source = content_new(fd, true, e, 0);
	return 0;
}

int tree_open_content(const struct tree *t, const struct entry *e, struct source **ret_source,
                      struct err *err)
{
	if (e->type != ENTRY_FILE)
		BUG("'%s' is not a regular file", e->path);
	switch (e->content) {
	case CONTENT_PATH:
		return open_path(e, ret_source, err);
	case CONTENT_SPOOL:
		*ret_source = content_new(t->spool_fd, false, e, e->offset);
		return 0;
	case CONTENT_BYTES:
		*ret_source = source_from_bytes(e->bytes, (size_t)e->size);
		return 0;
	case CONTENT_NONE:
		break;
	}
	*ret_source = source_from_bytes("", 0);
	return 0;
}
