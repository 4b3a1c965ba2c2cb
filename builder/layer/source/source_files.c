/* One item of `files:`; the walk itself is in source_walk.c. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/text.h"
#include "builder/layer/source/source_walk.h"

static struct entry plain_entry(const struct files_walk *w, enum entry_type type, const char *path)
{
	const struct layer_owner *owner = &w->item->owner;

	return (struct entry){
		.path = path,
		.type = type,
		.uid = owner->uid > 0 ? (uint32_t)owner->uid : 0,
		.gid = owner->gid > 0 ? (uint32_t)owner->gid : 0,
		.mtime = w->tree->epoch,
		.at = w->item->at,
	};
}

static int add_directory(struct files_walk *w, struct err *err)
{
	struct entry e = plain_entry(w, ENTRY_DIR, w->item->directory);

	e.mode = w->item->mode >= 0 ? (uint32_t)w->item->mode : 0755;
	return walk_add(w, &e, err);
}

static int add_symlink(struct files_walk *w, struct err *err)
{
	struct entry e = plain_entry(w, ENTRY_SYMLINK, w->item->to);

	if (text_has_suffix(w->item->to, "/")) {
		walk_problem(w, "write the link's own path, without '/' at its end",
		             "'%s' names a folder, not a symbolic link", w->item->to);
		return 0;
	}
	e.mode = 0777;
	e.link = w->item->symlink;
	return walk_add(w, &e, err);
}

/* The path without '/' at its end; "" for the root. */
static const char *strip_slashes(struct arena *a, const char *path)
{
	size_t len = strlen(path);

	while (len > 0 && path[len - 1] == '/')
		len--;
	return arena_strndup(a, path, len);
}

static const char *last_segment(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* `from/` means the folder itself, also where its name is a symbolic link. */
static int look_at(struct files_walk *w, const char *from, struct stat *st)
{
	bool through = w->item->follow || text_has_suffix(from, "/");

	return fstatat(AT_FDCWD, from, st, through ? 0 : AT_SYMLINK_NOFOLLOW);
}

static void report_missing(struct files_walk *w, const char *from)
{
	if (errno == ENOENT || errno == ENOTDIR)
		walk_problem(
			w,
			"build it first, or correct the path: it is relative to the spec's folder",
			"'%s' does not exist", from);
	else
		walk_problem(w, NULL, "'%s' cannot be read: %s", from, strerror(errno));
}

static int add_named(struct files_walk *w, const char *from, const char *to, struct err *err)
{
	bool into = text_has_suffix(w->item->to, "/"), added = false;
	struct walk_node n = {.dirfd = AT_FDCWD, .name = from, .top = true, .image = to};
	struct stat st;

	if (look_at(w, from, &st) != 0) {
		report_missing(w, from);
		return 0;
	}
	n.source = strip_slashes(w->tree->arena, from);
	if (!S_ISDIR(st.st_mode) && into)
		n.image = walk_join(w, to, last_segment(n.source));
	if (!S_ISDIR(st.st_mode) && n.image[0] == '\0') {
		walk_problem(w, "write 'to' as /folder/ or as the file's whole path",
		             "'%s' is a file: it cannot become '%s'", from, w->item->to);
		return 0;
	}
	if (walk_visit(w, &n, &added, err) != 0)
		return -1;
	if (!added && w->n_problems == 0 && w->item->include.n > 0)
		walk_problem(w, "includes are relative to 'from'",
		             "nothing in '%s' matches the includes", from);
	return 0;
}

static int add_item(struct files_walk *w, struct err *err)
{
	const struct layer_files *item = w->item;
	struct stat st;

	if (item->directory != NULL)
		return add_directory(w, err);
	if (item->symlink != NULL)
		return add_symlink(w, err);
	const char *to = strip_slashes(w->tree->arena, item->to + strspn(item->to, "/"));

	/* A file may really be called so. */
	if (walk_is_glob(item->from) && lstat(item->from, &st) != 0)
		return walk_glob(w, item->from, to, err);
	return add_named(w, item->from, to, err);
}

int source_files_add(struct tree *t, const struct layer_files *item, struct diags *d,
                     struct err *err)
{
	AUTO(walk) struct files_walk w;

	walk_init(&w, t, item, d);
	if (add_item(&w, err) == 0)
		return 0;
	return err_wrap(err, "layer '%s'", t->label);
}
