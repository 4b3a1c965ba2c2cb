/*
 * Inside of source_files_add, shared by its three files (source_files.c: items, source_walk.c:
 * folders, source_glob.c: patterns). Nobody else includes this.
 *
 * A walk looks names up relative to open folders and never through a symbolic link it has not
 * checked, so that a source that changes meanwhile can at worst be reported, never lead outside. It
 * costs one fstatat per file and opens folders only.
 */
#ifndef SLIPWAY_BUILDER_LAYER_SOURCE_SOURCE_WALK_H
#define SLIPWAY_BUILDER_LAYER_SOURCE_SOURCE_WALK_H

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "builder/layer/source/sources.h"
#include "builder/layer/tree/select.h"

enum { WALK_DEPTH_MAX = 200, WALK_ENTRIES_MAX = 4000000, WALK_PROBLEMS_MAX = 20 };

/* First path of an inode with several names. */
struct walk_inode {
	uint64_t dev, ino;
	const char *path; /* in the image; NULL = free slot */
};

struct files_walk {
	struct tree *tree;
	const struct layer_files *item;
	struct diags *diags;
	struct selection select;
	const char *base;    /* folder that include, exclude and follow are relative to; "" = "/" */
	char root[PATH_MAX]; /* its real path, only for `follow` */
	struct walk_inode *inodes; /* hash table, a power of two */
	size_t n_inodes, cap_inodes;
	size_t n_entries;
	unsigned n_problems;
	bool stopped; /* too many problems or entries: reported, the rest is left */
};

void walk_init(struct files_walk *w, struct tree *t, const struct layer_files *item,
               struct diags *d);
void walk_done(struct files_walk *w);

/* A problem of the user's making, at the item. After WALK_PROBLEMS_MAX of them the walk stops. */
void walk_problem(struct files_walk *w, const char *hint, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* The folder that includes, excludes and follow refer to. `fd` is open on it. */
int walk_set_base(struct files_walk *w, int fd, const char *base, struct err *err) MUST_USE;

/* One name met on the way. */
struct walk_node {
	int dirfd; /* the folder it is looked up in */
	const char *name;
	const char *source; /* path on disk */
	const char *image;  /* path in the image */
	bool top;      /* what `from` names itself: globs do not apply, its metadata is implied */
	bool included; /* a folder above was included */
	unsigned depth;
	const struct walk_node *parent;
	const char *real; /* target of a followed link; NULL otherwise */
	struct stat st;   /* filled by the walk */
};

/* Adds the file, link or folder with all below it; *ret_added becomes true when something was
 * added. */
int walk_visit(struct files_walk *w, struct walk_node *n, bool *ret_added,
               struct err *err) MUST_USE;

/* Adds an entry; a path that cannot be shipped is a problem, not an error. */
int walk_add(struct files_walk *w, const struct entry *e, struct err *err) MUST_USE;

/*
 * Paths of everything in an open folder, in byte order: prefix + "/" + name, in the tree's arena.
 */
struct walk_names {
	const char **at;
	size_t n, cap;
};
void walk_names_done(struct walk_names *names);
int walk_list(struct files_walk *w, DIR *dir, const char *prefix, struct walk_names *names,
              struct err *err) MUST_USE;

/* a + "/" + b in the tree's arena; only b when a is empty. */
const char *walk_join(struct files_walk *w, const char *a, const char *b);

/* Visits every match of a glob; each lands in `image`. No match is a problem. */
int walk_glob(struct files_walk *w, const char *pattern, const char *image,
              struct err *err) MUST_USE;
bool walk_is_glob(const char *path);

#endif
