/*
 * Folders of the building machine as entries. In order: problems, lists of names, inodes with
 * several names, entries, symbolic links that are followed, the walk.
 */
#include "builder/layer/source/source_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/timestamp.h"
#include "builder/layer/tree/xattr.h"

enum { PROC_PATH_MAX = 64 + NAME_MAX };

void walk_init(struct files_walk *w, struct tree *t, const struct layer_files *item,
               struct diags *d)
{
	*w = (struct files_walk){.tree = t,
	                         .item = item,
	                         .diags = d,
	                         .select = {.include = &item->include, .exclude = &item->exclude},
	                         .base = ""};
}

void walk_done(struct files_walk *w)
{
	free(w->inodes);
	w->inodes = NULL;
}

/* ---- problems ---- */

void walk_problem(struct files_walk *w, const char *hint, const char *fmt, ...)
{
	char text[2 * PATH_MAX];
	va_list args;

	if (w->stopped)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	struct diag *diag = diags_add(w->diags, DIAG_ERROR, w->item->at, "layer '%s': %s",
	                              w->tree->label, text);

	if (hint != NULL)
		diag_hint(w->diags, diag, "%s", hint);
	if (++w->n_problems == WALK_PROBLEMS_MAX) {
		diags_add(w->diags, DIAG_NOTE, w->item->at,
		          "layer '%s': more problems of '%s' are not shown", w->tree->label,
		          w->item->from);
		w->stopped = true;
	}
}

/* Why a file cannot be had, by errno: what the user can repair is a problem, the rest an error. */
static int refused(struct files_walk *w, const char *what, const char *source, struct err *err)
{
	switch (errno) {
	case EACCES:
	case EPERM:
		walk_problem(w, "give the building user permission to read it, or exclude it",
		             "%s '%s': permission denied", what, source);
		return 0;
	case ENOENT:
	case ENOTDIR:
	case ELOOP:
		walk_problem(w, "build again when nothing writes to the source",
		             "%s '%s' changed while the folder was read", what, source);
		return 0;
	default:
		return err_set(err, ERR_IO, "read %s '%s'", what, source);
	}
}

/* ---- names ---- */

/* a + "/" + b; faster than printf, which counts with tens of thousands of files. */
static const char *join_path(struct arena *a, const char *left, const char *right)
{
	size_t left_len = strlen(left), right_len = strlen(right);
	char *path = arena_alloc(a, left_len + right_len + 2); /* zeroed */

	char *end = mempcpy(path, left, left_len);

	*end = '/';
	mempcpy(end + 1, right, right_len);
	return path;
}

const char *walk_join(struct files_walk *w, const char *a, const char *b)
{
	return a[0] == '\0' ? arena_strdup(w->tree->arena, b) : join_path(w->tree->arena, a, b);
}

void walk_names_done(struct walk_names *names)
{
	vec_done(names);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int walk_list(struct files_walk *w, DIR *dir, const char *prefix, struct walk_names *names,
              struct err *err)
{
	/* "/" + name, also where the prefix is empty because the folder is the root. */
	for (;;) {
		errno = 0;
		struct dirent *d = readdir(dir);

		if (d == NULL && errno != 0)
			return err_set(err, ERR_IO, "read folder '%s'", prefix);
		if (d == NULL)
			break;
		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		if (++w->n_entries > WALK_ENTRIES_MAX) {
			walk_problem(w, "name smaller folders", "'%s' has over %d files",
			             w->item->from, WALK_ENTRIES_MAX);
			w->stopped = true;
			break;
		}
		vec_push(names, join_path(w->tree->arena, prefix, d->d_name));
	}
	if (names->n > 0)
		qsort(names->at, names->n, sizeof(*names->at), compare_names);
	return 0;
}

/* ---- inodes with several names ---- */

static struct walk_inode *find_inode(struct files_walk *w, uint64_t dev, uint64_t ino)
{
	uint64_t hash = (ino ^ (dev << 40)) * UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (size_t)(hash >> 20) & (w->cap_inodes - 1);

	while (w->inodes[i].path != NULL && (w->inodes[i].ino != ino || w->inodes[i].dev != dev))
		i = (i + 1) & (w->cap_inodes - 1);
	return &w->inodes[i];
}

static void grow_inodes(struct files_walk *w)
{
	struct walk_inode *old = w->inodes;
	size_t n = w->cap_inodes;

	w->cap_inodes = n == 0 ? 256 : 2 * n;
	w->inodes = mem_calloc(w->cap_inodes, sizeof(*w->inodes));
	for (size_t i = 0; i < n; i++)
		if (old[i].path != NULL)
			*find_inode(w, old[i].dev, old[i].ino) = old[i];
	free(old);
}

/* The first image path of this inode, or NULL when `path` is the first. */
static const char *first_name(struct files_walk *w, const struct stat *st, const char *path)
{
	if (w->n_inodes * 2 >= w->cap_inodes)
		grow_inodes(w);
	struct walk_inode *found = find_inode(w, (uint64_t)st->st_dev, (uint64_t)st->st_ino);

	if (found->path != NULL)
		return found->path;
	*found = (struct walk_inode){(uint64_t)st->st_dev, (uint64_t)st->st_ino, path};
	w->n_inodes++;
	return NULL;
}

/* ---- entries ---- */

int walk_add(struct files_walk *w, const struct entry *e, struct err *err)
{
	struct err why = {0};

	if (tree_add(w->tree, e, &why) == 0)
		return 0;
	if (why.code == ERR_FORMAT) {
		walk_problem(w, why.hint[0] != '\0' ? why.hint : NULL, "%s", why.msg);
		return 0;
	}
	*err = why;
	return -1;
}

static struct entry new_entry(const struct files_walk *w, const struct walk_node *n,
                              enum entry_type type)
{
	const struct layer_files *item = w->item;
	const struct stat *st = &n->st;

	return (struct entry){
		.path = n->image,
		.type = type,
		.uid = item->owner.uid > 0 ? (uint32_t)item->owner.uid : 0,
		.gid = item->owner.gid > 0 ? (uint32_t)item->owner.gid : 0,
		.mtime = st->st_mtim.tv_sec < w->tree->epoch ? st->st_mtim.tv_sec : w->tree->epoch,
		.source = n->source,
		.at = item->at,
	};
}

static int read_xattrs(struct files_walk *w, const struct walk_node *n, struct entry *e,
                       struct err *err)
{
	char path[PROC_PATH_MAX];
	struct err why = {0};

	if (w->item->xattrs.n == 0)
		return 0;
	/* Through the open folder: the path might lead elsewhere by now. */
	int len = snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", n->dirfd, n->name);
	bool by_path = n->real != NULL || n->dirfd < 0 || len < 0 || (size_t)len >= sizeof(path);
	const char *where = n->real != NULL ? n->real : by_path ? n->source : path;

	if (xattr_read(e, w->tree->arena, where, &w->item->xattrs, &why) == 0)
		return 0;
	if (why.code != ERR_FORMAT) {
		*err = why;
		return err_wrap(err, "'%s'", n->source);
	}
	walk_problem(w, why.hint[0] != '\0' ? why.hint : NULL, "'%s': %s", n->source, why.msg);
	return 0;
}

/* Without opening it: asks the kernel only where the mode leaves a doubt. */
static bool readable(const struct walk_node *n)
{
	if ((n->st.st_mode & 0444) == 0444)
		return true;
	if (n->real != NULL)
		return faccessat(AT_FDCWD, n->real, R_OK, AT_EACCESS) == 0;
	return faccessat(n->dirfd, n->name, R_OK, AT_EACCESS) == 0;
}

static int add_file(struct files_walk *w, const struct walk_node *n, struct err *err)
{
	const struct stat *st = &n->st;
	const char *first = st->st_nlink > 1 ? first_name(w, st, n->image) : NULL;
	struct entry e = new_entry(w, n, first != NULL ? ENTRY_HARDLINK : ENTRY_FILE);

	if (!readable(n))
		return refused(w, "file", n->source, err);
	e.mode = (st->st_mode & 0100) != 0 ? 0755 : 0644;
	if (w->item->mode >= 0)
		e.mode = (uint32_t)w->item->mode;
	e.link = first;
	e.size = st->st_size;
	e.content = st->st_size > 0 ? CONTENT_PATH : CONTENT_NONE;
	e.stamp = (struct entry_stamp){.dev = (uint64_t)st->st_dev,
	                               .ino = (uint64_t)st->st_ino,
	                               .mtime_ns = timespec_ns(st->st_mtim),
	                               .ctime_ns = timespec_ns(st->st_ctim)};
	if (read_xattrs(w, n, &e, err) != 0)
		return -1;
	return walk_add(w, &e, err);
}

static int add_link(struct files_walk *w, const struct walk_node *n, struct err *err)
{
	struct entry e = new_entry(w, n, ENTRY_SYMLINK);
	char target[PATH_MAX];
	ssize_t len = readlinkat(n->dirfd, n->name, target, sizeof(target));

	if (len < 0)
		return refused(w, "symbolic link", n->source, err);
	e.mode = 0777;
	e.link = arena_strndup(w->tree->arena, target, (size_t)len);
	return walk_add(w, &e, err);
}

static int add_folder(struct files_walk *w, const struct walk_node *n, bool empty, struct err *err)
{
	struct entry e = new_entry(w, n, ENTRY_DIR);
	bool asked = w->item->dir_mode >= 0 || e.uid != 0 || e.gid != 0;

	e.mode = w->item->dir_mode >= 0 ? (uint32_t)w->item->dir_mode : 0755;
	e.implied = !n->included || (n->top && !empty && !asked);
	if (read_xattrs(w, n, &e, err) != 0)
		return -1;
	return walk_add(w, &e, err);
}

static int add_leaf(struct files_walk *w, const struct walk_node *n, bool *ret_added,
                    struct err *err)
{
	switch (n->st.st_mode & S_IFMT) {
	case S_IFREG:
		*ret_added = true;
		return add_file(w, n, err);
	case S_IFLNK:
		*ret_added = true;
		return add_link(w, n, err);
	case S_IFSOCK:
		return 0; /* means nothing without its process */
	default:
		walk_problem(w,
		             "exclude it: an image layer built from files holds files, folders and "
		             "links",
		             "'%s' is a %s", n->source,
		             S_ISFIFO(n->st.st_mode) ? "fifo" : "device node");
		return 0;
	}
}

/* ---- following links ---- */

/* The path of an open descriptor, whatever way led to it. */
static int real_path(int fd, char out[PATH_MAX], struct err *err)
{
	char proc[PROC_PATH_MAX];

	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	ssize_t len = readlink(proc, out, PATH_MAX - 1);

	if (len < 0)
		return err_set(err, ERR_IO, "read '%s'", proc);
	out[len] = '\0';
	return 0;
}

int walk_set_base(struct files_walk *w, int fd, const char *base, struct err *err)
{
	w->base = base;
	return w->item->follow ? real_path(fd, w->root, err) : 0;
}

static bool inside(const char *root, const char *path)
{
	size_t len = strcmp(root, "/") == 0 ? 0 : strlen(root);

	return strncmp(path, root, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

static int visit_typed(struct files_walk *w, struct walk_node *n, bool *ret_added, struct err *err);

/* The target is opened first, as a path only, and then asked where it lies: nothing can change
 * between. */
static int visit_target(struct files_walk *w, struct walk_node *n, bool *ret_added, struct err *err)
{
	AUTO_CLOSE int fd = openat(n->dirfd, n->name, O_PATH | O_CLOEXEC);
	char real[PATH_MAX];

	if (fd < 0 && (errno == ENOENT || errno == ELOOP || errno == ENOTDIR)) {
		walk_problem(w, "exclude it, or build without 'follow'",
		             "the link '%s' leads nowhere", n->source);
		return 0;
	}
	if (fd < 0)
		return refused(w, "symbolic link", n->source, err);
	if (real_path(fd, real, err) != 0)
		return -1;
	if (fstat(fd, &n->st) != 0)
		return err_set(err, ERR_IO, "stat '%s'", n->source);
	if (!n->top && !inside(w->root, real)) {
		walk_problem(w,
		             "exclude it, build without 'follow', or copy its target by an item of "
		             "its own",
		             "the link '%s' leaves the source: it leads to '%s'", n->source, real);
		return 0;
	}
	n->real = arena_strdup(w->tree->arena, real);
	if (S_ISDIR(n->st.st_mode)) {
		n->dirfd = fd;
		n->name = ".";
	}
	return visit_typed(w, n, ret_added, err);
}

/* ---- the walk ---- */

/* Only followed links can lead back to a folder above. */
static bool loops(const struct walk_node *n)
{
	for (const struct walk_node *p = n->parent; p != NULL; p = p->parent)
		if (p->st.st_dev == n->st.st_dev && p->st.st_ino == n->st.st_ino)
			return true;
	return false;
}

static int visit_children(struct files_walk *w, struct walk_node *n, DIR *dir,
                          const struct walk_names *names, bool *ret_added, struct err *err)
{
	size_t skip = strlen(n->source) + 1;

	for (size_t i = 0; i < names->n && !w->stopped; i++) {
		struct walk_node child = {
			.dirfd = dirfd(dir),
			.name = names->at[i] + skip,
			.source = names->at[i],
			.image = walk_join(w, n->image, names->at[i] + skip),
			.included = n->included,
			.depth = n->depth + 1,
			.parent = n,
		};

		if (walk_visit(w, &child, ret_added, err) != 0)
			return -1;
	}
	return 0;
}

static int visit_open(struct files_walk *w, struct walk_node *n, DIR *dir, bool *ret_added,
                      struct err *err)
{
	AUTO(walk_names) struct walk_names names = {0};
	bool below = false;

	if (n->top && walk_set_base(w, dirfd(dir), n->source, err) != 0)
		return -1;
	if (walk_list(w, dir, n->source, &names, err) != 0 ||
	    visit_children(w, n, dir, &names, &below, err) != 0)
		return -1;
	if (!n->included && !below)
		return 0;
	*ret_added = true;
	return add_folder(w, n, names.n == 0, err);
}

static int visit_folder(struct files_walk *w, struct walk_node *n, bool *ret_added, struct err *err)
{
	if (interrupt_check(err) != 0)
		return -1;
	if (n->depth > WALK_DEPTH_MAX || (w->item->follow && loops(n))) {
		walk_problem(w, "exclude it", "folder '%s' %s", n->source,
		             n->depth > WALK_DEPTH_MAX ? "lies over 200 folders deep"
		                                       : "leads back to a folder above it");
		return 0;
	}
	int fd = openat(n->dirfd, n->name,
	                O_RDONLY | O_DIRECTORY | O_CLOEXEC | (n->top ? 0 : O_NOFOLLOW));

	if (fd < 0)
		return refused(w, "folder", n->source, err);
	DIR *dir = fdopendir(fd);

	if (dir == NULL) {
		close(fd);
		return err_set(err, ERR_IO, "read folder '%s'", n->source);
	}
	int rc = visit_open(w, n, dir, ret_added, err);

	closedir(dir);
	return rc;
}

static int visit_typed(struct files_walk *w, struct walk_node *n, bool *ret_added, struct err *err)
{
	bool folder = S_ISDIR(n->st.st_mode);

	if (n->top) {
		n->included = !folder || w->item->include.n == 0;
	} else {
		const char *path = n->source + strlen(w->base) + 1;

		if (select_excludes(&w->select, path, folder))
			return 0;
		n->included = n->included || select_includes(&w->select, path, folder);
	}
	if (folder)
		return visit_folder(w, n, ret_added, err);
	return n->included ? add_leaf(w, n, ret_added, err) : 0;
}

int walk_visit(struct files_walk *w, struct walk_node *n, bool *ret_added, struct err *err)
{
	if (w->stopped)
		return 0;
	if (fstatat(n->dirfd, n->name, &n->st, AT_SYMLINK_NOFOLLOW) != 0)
		return refused(w, "file", n->source, err);
	if (S_ISLNK(n->st.st_mode) && w->item->follow)
		return visit_target(w, n, ret_added, err);
	return visit_typed(w, n, ret_added, err);
}
