/* See source_origin.h. In order: folders, packages, what was found, entries of the layer. */
#include "builder/layer/source/source_origin.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/mem.h"
#include "builder/layer/source/source_members.h"
#include "builder/layer/source/sysroot.h"

enum { LINKS_MAX = 40, AR_MAGIC = 8 };

static void cannot_read(struct origin *o, const char *from, const char *why, struct diags *d)
{
	diags_error(d, o->at, "correct the path: it is relative to the spec's folder",
	            "layer '%s': '%s' %s", o->tree.label, from, why);
	o->kind = ORIGIN_NONE;
}

/* ---- folders ---- */

/* One path of a root file system, links on the way to it followed inside. */
static int add_path(struct origin *o, const struct sysroot *root, const char *path, struct diags *d,
                    struct err *err)
{
	struct arena *a = o->tree.arena;
	struct layer_files item = {.at = o->at, .mode = -1, .dir_mode = -1, .owner = {-1, -1}};
	const char *resolved;
	struct err ignored = {0};
	struct stat st;

	if (sysroot_resolve(root, arena_printf(a, "/%s", path), a, &resolved, &ignored) != 0)
		return 0;
	item.from = sysroot_host_path(root, resolved, a);
	item.to = arena_printf(a, "/%s", path);
	if (stat(item.from, &st) != 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return 0;
	return source_files_add(&o->tree, &item, d, err);
}

static int read_root(struct origin *o, const char *root, const struct origin_request *req,
                     struct diags *d, struct err *err)
{
	/* Following links needs no more of a sysroot than its root. */
	const struct sysroot sysroot = {.root = root};

	for (size_t i = 0; req->paths[i] != NULL; i++)
		if (add_path(o, &sysroot, req->paths[i], d, err) != 0)
			return -1;
	return 0;
}

static int read_folder(struct origin *o, const struct origin_request *req, struct diags *d,
                       struct err *err)
{
	char resolved[PATH_MAX];

	if (realpath(req->from, resolved) == NULL) {
		cannot_read(o, req->from, "cannot be read", d);
		return 0;
	}
	o->kind = ORIGIN_FOLDER;
	return read_root(o, strcmp(resolved, "/") == 0 ? "" : arena_strdup(o->tree.arena, resolved),
	                 req, d, err);
}

/* ---- packages ---- */

static int read_package(struct origin *o, const struct origin_request *req, struct diags *d,
                        struct err *err)
{
	const struct layer_path item = {.at = req->at, .path = req->from};
	struct strlist include = {0};
	size_t before = d->n_errors;

	while (req->paths[include.n] != NULL)
		include.n++;
	include.at = arena_calloc(o->tree.arena, include.n, sizeof(*include.at));
	for (size_t i = 0; i < include.n; i++)
		include.at[i] = arena_printf(o->tree.arena, "/%s", req->paths[i]);
	o->kind = ORIGIN_PACKAGE;
	if (deb_add(&o->tree, &item, req->platform, &include, d, err) != 0)
		return -1;
	if (d->n_errors > before)
		o->kind = ORIGIN_NONE;
	return 0;
}

/* deb(5): an ar archive. */
static bool is_package(int fd)
{
	char magic[AR_MAGIC];

	return fs_pread(fd, magic, sizeof(magic), 0) == AR_MAGIC &&
	       memcmp(magic, "!<arch>\n", AR_MAGIC) == 0;
}

static int read_named(struct origin *o, const struct origin_request *req, struct diags *d,
                      struct err *err)
{
	AUTO_CLOSE int fd = open(req->from, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	o->name = arena_printf(o->tree.arena, "'%s'", req->from);
	if (fd < 0 || fstat(fd, &st) != 0) {
		cannot_read(o, req->from, errno == ENOENT ? "does not exist" : "cannot be read", d);
		return 0;
	}
	if (S_ISDIR(st.st_mode))
		return read_folder(o, req, d, err);
	if (!S_ISREG(st.st_mode)) {
		cannot_read(o, req->from, "is not a file and not a folder", d);
		return 0;
	}
	if (is_package(fd))
		return read_package(o, req, d, err);
	o->kind = ORIGIN_FILE;
	return 0;
}

int origin_read(struct origin *o, const struct origin_request *req, const struct tree *t,
                struct diags *d, struct err *err)
{
	int rc;

	*o = (struct origin){.name = "this machine", .at = req->at};
	tree_init(&o->tree, t->arena, t->label, t->epoch);
	rc = req->from == NULL ? read_root(o, "", req, d, err) : read_named(o, req, d, err);
	return rc == 0 ? tree_finish(&o->tree, d, err) : -1;
}

void origin_done(struct origin *o)
{
	if (o->tree.arena != NULL)
		tree_done(&o->tree);
}

/* ---- what was found ---- */

/* The path that a link's target means: from the link's folder, or from the root. */
static bool link_target(const char *link, const char *target, char out[PATH_MAX])
{
	const char *slash = strrchr(link, '/');
	char joined[2 * PATH_MAX];
	size_t used = 0;

	if (snprintf(joined, sizeof(joined), "%.*s/%s",
	             target[0] == '/' || slash == NULL ? 0 : (int)(slash - link), link,
	             target) >= PATH_MAX)
		return false;
	for (const char *s = joined; *s != '\0';) {
		size_t n = strcspn(s, "/");

		if (n == 2 && s[0] == '.' && s[1] == '.') {
			while (used > 0 && out[--used] != '/')
				;
		} else if (n > 0 && !(n == 1 && s[0] == '.')) {
			if (used > 0)
				out[used++] = '/';
			memcpy(out + used, s, n);
			used += n;
		}
		s += n + (s[n] == '/');
	}
	out[used] = '\0';
	return true;
}

const struct entry *origin_find(const struct origin *o, const char *path)
{
	char at[PATH_MAX], next[PATH_MAX];

	if (strlen(path) >= sizeof(at))
		return NULL;
	memcpy(at, path, strlen(path) + 1);
	for (unsigned links = 0; links < LINKS_MAX; links++) {
		size_t i = tree_find(&o->tree, at, strlen(at));
		const struct entry *e = i < o->tree.n ? &o->tree.at[i] : NULL;

		if (e == NULL || e->type == ENTRY_FILE || e->type == ENTRY_DIR)
			return e;
		if (!link_target(e->type == ENTRY_HARDLINK ? "" : at, e->link, next))
			return NULL;
		memcpy(at, next, strlen(next) + 1);
	}
	return NULL;
}

/* ---- entries of the layer ---- */

int origin_load(const struct origin *o, const struct entry *file, struct strbuf *sb,
                struct err *err)
{
	struct source *in;
	int rc;

	strbuf_reset(sb);
	if (file->size == 0)
		return 0;
	if (tree_open_content(&o->tree, file, &in, err) != 0)
		return -1;
	rc = stream_read_all(in, sb, err);
	source_close(in);
	return rc == 0 ? 0 : err_wrap(err, "'%s'", file->path);
}

static int spool_copy(const struct origin *o, const struct entry *file, struct entry *e,
                      struct tree *t, struct err *err)
{
	struct source *in;
	int rc;

	if (tree_open_content(&o->tree, file, &in, err) != 0)
		return -1;
	rc = tree_spool(t, in, file->size, &e->offset, err);
	source_close(in);
	return rc;
}

int origin_copy(const struct origin *o, const struct entry *file, const char *to, struct srcpos at,
                struct tree *t, struct err *err)
{
	struct entry e = *file;

	e.path = arena_strdup(t->arena, to);
	e.at = at;
	e.mode = 0644;
	e.uid = e.gid = 0;
	e.xattrs = NULL;
	e.n_xattrs = 0;
	if (e.content == CONTENT_SPOOL && spool_copy(o, file, &e, t, err) != 0)
		return err_wrap(err, "'%s'", file->path);
	return tree_add(t, &e, err);
}

int data_file_add(struct tree *t, const char *path, const char *bytes, size_t len, struct srcpos at,
                  struct err *err)
{
	struct entry e = {.path = arena_strdup(t->arena, path),
	                  .type = ENTRY_FILE,
	                  .mode = 0644,
	                  .mtime = t->epoch,
	                  .size = (int64_t)len,
	                  .content = len > 0 ? CONTENT_BYTES : CONTENT_NONE,
	                  .bytes = arena_memdup(t->arena, bytes, len),
	                  .at = at};

	return tree_add(t, &e, err);
}

int data_link_add(struct tree *t, const char *path, const char *target, struct srcpos at,
                  struct err *err)
{
	struct entry e = {.path = arena_strdup(t->arena, path),
	                  .type = ENTRY_SYMLINK,
	                  .mode = 0777,
	                  .mtime = t->epoch,
	                  .link = arena_strdup(t->arena, target),
	                  .at = at};

	return tree_add(t, &e, err);
}
