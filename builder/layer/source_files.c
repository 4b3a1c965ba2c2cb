/*
 * `files:` items. The walk opens folders by descriptor and never follows a link it did not ask to, so a tree
 * that changes underneath cannot lead it outside.
 *
 * Modes: unless the spec says otherwise a file is 0755 when its owner may execute it and 0644 when not, a
 * folder 0755: the umask of whoever checked the sources out does not show in the image.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/text.h"
#include "builder/layer/sources.h"
#include "builder/layer/xattr.h"

enum { WALK_DEPTH_MAX = 256 };

/* A name of a multiply linked file, for finding its other names. */
struct link_name {
	uint64_t dev, ino; /* ino 0 = free slot */
	size_t entry;      /* index in the tree */
};

/* Open addressing; the number of slots is a power of two and at least twice the number of names. */
struct link_table {
	struct link_name *slots;
	size_t n, n_slots;
};

struct walk {
	struct tree *tree;
	const struct layer_files *item;
	struct diags *diags;
	const char *root; /* the source folder on disk */
	struct link_table links;
};

/* A problem of the user's making: reported at the item, and the walk goes on. */
static int complain(struct walk *w, const char *path, const char *why, const char *hint)
{
	struct diag *d = diags_add(w->diags, DIAG_ERROR, w->item->at, "'%s' %s", path, why);

	if (hint != NULL)
		diag_hint(w->diags, d, "%s", hint);
	return 0;
}

static bool matches(const struct strlist *globs, const char *path)
{
	for (size_t i = 0; i < globs->n; i++)
		if (text_glob(globs->at[i], path))
			return true;
	return false;
}

/* Everything about an entry that does not depend on its type. */
static struct entry base_entry(const struct walk *w, const char *to, const struct stat *st)
{
	const struct layer_files *item = w->item;
	struct entry e = {.path = to, .uid = (uint32_t)item->owner.uid, .gid = (uint32_t)item->owner.gid,
	                  .mtime = st->st_mtim.tv_sec, .at = item->at};

	if (S_ISDIR(st->st_mode))
		e.mode = item->dir_mode >= 0 ? (uint32_t)item->dir_mode : 0755;
	else if (S_ISLNK(st->st_mode))
		e.mode = 0777;
	else if (item->mode >= 0)
		e.mode = (uint32_t)item->mode;
	else
		e.mode = (st->st_mode & S_IXUSR) != 0 ? 0755 : 0644;
	return e;
}

static int read_xattrs(struct walk *w, int dir_fd, const char *name, struct entry *e, struct err *err)
{
	AUTO_CLOSE int fd = -1;

	if (w->item->xattrs.n == 0)
		return 0;
	fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, ERR_IO, "open '%s'", name);
	return xattr_read(fd, &w->item->xattrs, w->tree->arena, e, err);
}

/* The slot of a file, free when it is not known. */
static struct link_name *link_slot(const struct link_table *t, uint64_t dev, uint64_t ino)
{
	size_t i = (size_t)((ino ^ dev << 32) * 0x9e3779b97f4a7c15u >> 20);

	for (;; i++) {
		struct link_name *slot = &t->slots[i & (t->n_slots - 1)];

		if (slot->ino == 0 || (slot->ino == ino && slot->dev == dev))
			return slot;
	}
}

static void grow_links(struct link_table *t)
{
	struct link_table bigger = {.n = t->n, .n_slots = t->n_slots < 64 ? 64 : t->n_slots * 2};

	bigger.slots = mem_calloc(bigger.n_slots, sizeof(*bigger.slots));
	for (size_t i = 0; i < t->n_slots; i++)
		if (t->slots[i].ino != 0)
			*link_slot(&bigger, t->slots[i].dev, t->slots[i].ino) = t->slots[i];
	free(t->slots);
	*t = bigger;
}

/* The tree's index of another name of this file, or -1 (and this one is remembered). */
static ssize_t other_name(struct walk *w, const struct stat *st)
{
	if (w->links.n * 2 >= w->links.n_slots)
		grow_links(&w->links);
	struct link_name *slot = link_slot(&w->links, st->st_dev, st->st_ino);

	if (slot->ino != 0)
		return (ssize_t)slot->entry;
	*slot = (struct link_name){st->st_dev, st->st_ino, w->tree->n};
	w->links.n++;
	return -1;
}

static int64_t nanoseconds(struct timespec ts)
{
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int add_file(struct walk *w, int dir_fd, const char *name, const char *from, const char *to,
                    const struct stat *st, struct err *err)
{
	struct entry e = base_entry(w, to, st);
	ssize_t other = st->st_nlink > 1 ? other_name(w, st) : -1;

	if (other >= 0) {
		e.type = ENTRY_HARDLINK;
		e.link = w->tree->at[other].path;
		return tree_add(w->tree, &e, err);
	}
	if (faccessat(dir_fd, name, R_OK, 0) != 0 && errno == EACCES)
		return complain(w, from, "cannot be read", "change its permissions, or exclude it");
	e.type = ENTRY_FILE;
	e.size = st->st_size;
	e.content = st->st_size > 0 ? CONTENT_PATH : CONTENT_NONE;
	e.source = from;
	e.stamp = (struct entry_stamp){st->st_dev, st->st_ino, nanoseconds(st->st_mtim),
	                               nanoseconds(st->st_ctim)};
	if (read_xattrs(w, dir_fd, name, &e, err) != 0)
		return err_wrap(err, "'%s'", from);
	return tree_add(w->tree, &e, err);
}

static int add_symlink(struct walk *w, int dir_fd, const char *name, const char *from, const char *to,
                       const struct stat *st, struct err *err)
{
	struct entry e = base_entry(w, to, st);
	char target[PATH_MAX];
	ssize_t n = readlinkat(dir_fd, name, target, sizeof(target));

	if (n < 0)
		return err_set(err, ERR_IO, "read the link '%s'", from);
	if (n == (ssize_t)sizeof(target))
		return complain(w, from, "is a symbolic link with too long a target", NULL);
	e.type = ENTRY_SYMLINK;
	e.link = arena_strndup(w->tree->arena, target, (size_t)n);
	return tree_add(w->tree, &e, err);
}

static int add_folder(struct walk *w, const char *to, const struct stat *st, struct err *err)
{
	struct entry e = base_entry(w, to, st);

	e.type = ENTRY_DIR;
	return tree_add(w->tree, &e, err);
}

static int walk_folder(struct walk *w, int fd, const char *rel, const char *to, int depth, struct err *err);

/*
 * `follow: true`: a link becomes what it points to, as long as that lies inside the source. *ret_from is
 * then the real path on disk.
 */
static int follow(struct walk *w, const char *from, const char *rel, const char *to, int depth,
                  struct err *err)
{
	AUTO_FREE char *root = realpath(w->root, NULL);
	AUTO_FREE char *real = realpath(from, NULL);
	struct stat st;

	if (real == NULL || root == NULL || stat(real, &st) != 0)
		return complain(w, from, "is a symbolic link to nothing", "exclude it, or leave out `follow`");
	size_t len = strlen(root);

	if (strncmp(real, root, len) != 0 || (real[len] != '/' && real[len] != '\0'))
		return complain(w, from, "points out of the source", "exclude it, or leave out `follow`");
	const char *path = arena_strdup(w->tree->arena, real);

	if (S_ISREG(st.st_mode))
		return add_file(w, AT_FDCWD, path, path, to, &st, err);
	if (!S_ISDIR(st.st_mode))
		return complain(w, from, "points to neither file nor folder", NULL);
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return complain(w, from, "cannot be read", NULL);
	if (add_folder(w, to, &st, err) != 0)
		return -1;
	return walk_folder(w, fd, rel, to, depth + 1, err);
}

static int walk_entry(struct walk *w, int dir_fd, const char *name, const char *rel, const char *to,
                      int depth, struct err *err)
{
	const char *from = arena_printf(w->tree->arena, "%s/%s", w->root, rel);
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return err_set(err, errno == ENOENT ? ERR_CONFLICT : ERR_IO,
		               errno == ENOENT ? "'%s' vanished during the build" : "look at '%s'", from);
	bool wanted = w->item->include.n == 0 || matches(&w->item->include, rel);

	if (S_ISDIR(st.st_mode)) {
		AUTO_CLOSE int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd < 0)
			return complain(w, from, "cannot be read", "change its permissions, or exclude it");
		if (wanted && add_folder(w, to, &st, err) != 0)
			return -1;
		return walk_folder(w, fd, rel, to, depth + 1, err);
	}
	if (!wanted || S_ISSOCK(st.st_mode))
		return 0;
	if (S_ISREG(st.st_mode))
		return add_file(w, dir_fd, name, from, to, &st, err);
	if (S_ISLNK(st.st_mode) && !w->item->follow)
		return add_symlink(w, dir_fd, name, from, to, &st, err);
	if (S_ISLNK(st.st_mode))
		return follow(w, from, rel, to, depth, err);
	return complain(w, from, "is a device or a pipe", "a layer holds files, folders and links; exclude it");
}

/* rel: path below the root, "" for itself; to: path in the image. */
static int walk_folder(struct walk *w, int fd, const char *rel, const char *to, int depth, struct err *err)
{
	struct dirent *item;
	int dup_fd = dup(fd), status = 0;
	DIR *dir = dup_fd >= 0 ? fdopendir(dup_fd) : NULL;

	if (dir == NULL) {
		attr_close_fd(&dup_fd);
		return err_set(err, ERR_IO, "open folder '%s/%s'", w->root, rel);
	}
	if (depth > WALK_DEPTH_MAX)
		status = complain(w, rel, "is nested too deeply", "is a link followed in a circle?");
	while (status == 0 && depth <= WALK_DEPTH_MAX && (item = readdir(dir)) != NULL) {
		const char *name = item->d_name;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		const char *below = rel[0] != '\0' ? arena_printf(w->tree->arena, "%s/%s", rel, name)
		                                   : arena_strdup(w->tree->arena, name);

		if (matches(&w->item->exclude, below))
			continue;
		if (strncmp(name, ".wh.", 4) == 0) {
			complain(w, below, "cannot be shipped: in a layer a name that starts with '.wh.' means a deletion "
			                   "(image-spec, whiteouts)", "rename or exclude it");
			continue;
		}
		status = walk_entry(w, fd, name, below, arena_printf(w->tree->arena, "%s/%s", to, name), depth, err);
	}
	closedir(dir);
	return status;
}

/* ---- the three forms of an item ---- */

static const char *last_segment(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static const char *trimmed(struct arena *a, const char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	return arena_strndup(a, path, len);
}

static int add_path(struct walk *w, const char *from, const char *to, struct err *err)
{
	struct stat st;

	from = trimmed(w->tree->arena, from);
	if (stat(from, &st) != 0)
		return complain(w, from, errno == ENOENT ? "does not exist" : "cannot be read",
		                errno == ENOENT ? "is it built? paths start at the folder of the spec" : NULL);
	w->root = from;
	if (S_ISDIR(st.st_mode)) {
		AUTO_CLOSE int fd = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd < 0)
			return complain(w, from, "cannot be read", NULL);
		if (add_folder(w, to, &st, err) != 0)
			return -1;
		return walk_folder(w, fd, "", trimmed(w->tree->arena, to), 0, err);
	}
	if (!S_ISREG(st.st_mode))
		return complain(w, from, "is neither file nor folder", NULL);
	if (text_has_suffix(to, "/"))
		to = arena_printf(w->tree->arena, "%s%s", to, last_segment(from));
	return add_file(w, AT_FDCWD, from, from, to, &st, err);
}

static int add_made(struct walk *w, struct err *err)
{
	const struct layer_files *item = w->item;
	struct entry e = {.uid = (uint32_t)item->owner.uid, .gid = (uint32_t)item->owner.gid, .at = item->at};

	if (item->symlink != NULL) {
		e.type = ENTRY_SYMLINK;
		e.path = item->to;
		e.link = item->symlink;
		e.mode = 0777;
	} else {
		e.type = ENTRY_DIR;
		e.path = item->directory;
		e.mode = item->mode >= 0 ? (uint32_t)item->mode : 0755;
	}
	return tree_add(w->tree, &e, err);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names in one folder that match one segment of a glob, in byte order. */
static size_t expand_segment(struct walk *w, const char *dir, const char *segment, const char ***ret_paths)
{
	VEC(const char *) found = {0};
	DIR *stream = opendir(dir[0] != '\0' ? dir : ".");
	struct dirent *item;

	while (stream != NULL && (item = readdir(stream)) != NULL) {
		bool hidden = item->d_name[0] == '.' && segment[0] != '.';

		if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0 || hidden)
			continue;
		if (text_glob(segment, item->d_name)) {
			const char *join = dir[0] != '\0' && !text_has_suffix(dir, "/") ? "/" : "";

			vec_push(&found, arena_printf(w->tree->arena, "%s%s%s", dir, join, item->d_name));
		}
	}
	if (stream != NULL)
		closedir(stream);
	size_t n = found.n;

	if (n > 0)
		qsort(found.at, n, sizeof(*found.at), by_text);
	*ret_paths = arena_memdup(w->tree->arena, found.at, n * sizeof(*found.at));
	vec_done(&found);
	return n;
}

/* Adds every match of the rest of a pattern below `dir`; *n counts them. */
static int add_matches(struct walk *w, const char *dir, const char *pattern, size_t *n, struct err *err)
{
	size_t len = strcspn(pattern, "/");
	const char *segment = arena_strndup(w->tree->arena, pattern, len), *rest = pattern + len;
	const char **paths;
	size_t count;

	rest += strspn(rest, "/");
	if (strpbrk(segment, "*?[") == NULL) {
		const char *join = dir[0] != '\0' && !text_has_suffix(dir, "/") ? "/" : "";
		const char *path = arena_printf(w->tree->arena, "%s%s%s", dir, join, segment);

		if (rest[0] != '\0')
			return add_matches(w, path, rest, n, err);
		if (!fs_exists(path))
			return 0;
		paths = arena_memdup(w->tree->arena, &path, sizeof(path));
		count = 1;
	} else {
		count = expand_segment(w, dir, segment, &paths);
	}
	for (size_t i = 0; i < count; i++) {
		const char *to = arena_printf(w->tree->arena, "%s/%s", w->item->to, last_segment(paths[i]));

		if (rest[0] != '\0') {
			if (add_matches(w, paths[i], rest, n, err) != 0)
				return -1;
			continue;
		}
		(*n)++;
		if (add_path(w, paths[i], to, err) != 0)
			return -1;
	}
	return 0;
}

static int add_glob(struct walk *w, struct err *err)
{
	const char *pattern = w->item->from;
	size_t n = 0;

	if (strstr(pattern, "**") != NULL)
		return complain(w, pattern, "has '**'", "name the folder in `from` and put the glob into `include`");
	if (add_matches(w, pattern[0] == '/' ? "/" : "", pattern + strspn(pattern, "/"), &n, err) != 0)
		return -1;
	return n > 0 ? 0 : complain(w, pattern, "matches nothing", "paths start at the folder of the spec");
}

int source_files_add(struct tree *t, const struct layer_files *item, struct diags *d, struct err *err)
{
	struct walk w = {.tree = t, .item = item, .diags = d};
	int status;

	if (item->from == NULL)
		status = add_made(&w, err);
	else if (strpbrk(item->from, "*?[") != NULL && !fs_exists(item->from))
		status = add_glob(&w, err);
	else
		status = add_path(&w, item->from, item->to, err);
	free(w.links.slots);
	return status == 0 ? 0 : err_wrap(err, "files");
}
