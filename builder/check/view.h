/*
 * The final file system of an image: its layers' members applied in order, as container runtimes do
 * (image-spec, layer.md, "Applying Changesets" and "Whiteouts"). Holds no content. Paths are looked
 * up with symbolic links followed inside the image. Problems that show only while layers are
 * applied are reported to a callback. Ownership: nodes live in the arena, members in their scans,
 * which outlive the view.
 */
#ifndef SLIPWAY_BUILDER_CHECK_VIEW_H
#define SLIPWAY_BUILDER_CHECK_VIEW_H

#include "builder/check/scan.h"

/* A path must fit into one system call (PATH_MAX, path_resolution(7)): runtimes give them whole. */
enum { VIEW_NODES_MAX = 10000000, VIEW_PATH_MAX = 4095 };

struct view_node {
	const char *name;                           /* last segment of the path */
	struct view_node *parent;                   /* NULL for the root */
	struct view_node *first_child, *last_child; /* in the order they came */
	struct view_node *next_sibling, *prev_sibling;
	const struct scan_member *member;  /* its metadata; NULL for a folder nobody named */
	const struct scan_member *content; /* the member with the bytes: another for hard links */
	size_t layer;                      /* which layer brought it, from 0 */
	uint64_t hash;
	uint32_t path_len; /* with leading '/'; 0 for the root */
	bool alive;
	unsigned marks; /* for the rules: what was reported or reached */
};

enum view_event {
	VIEW_DUPLICATE,        /* the same path twice in one layer */
	VIEW_SHADOWED_LINK,    /* a folder replaces a link to a folder: what lay behind is gone */
	VIEW_BAD_WHITEOUT,     /* ".wh." without a name, or a whiteout with a reserved name */
	VIEW_USELESS_WHITEOUT, /* hides nothing */
	VIEW_BAD_HARDLINK      /* names a file that is not there */
};

/* Told while layers are applied; `detail` may be NULL. */
typedef void view_report(void *ctx, enum view_event event, size_t layer,
                         const struct scan_member *m, const char *detail);

struct view {
	struct arena *arena;
	struct view_node *root;
	struct view_node **table; /* hash table over (parent, name); owned */
	size_t n_table, n_nodes;
	view_report *report; /* may be NULL */
	void *ctx;
	struct budget *budget; /* pays for nodes, and for each segment of a path; may be NULL */
	size_t arena_mark;     /* the arena's size that was paid for */
};

void view_init(struct view *v, struct arena *a, view_report *report, void *ctx);
void view_done(struct view *v);

/* Applies one layer above those before it. ERR_LIMIT beyond VIEW_NODES_MAX, VIEW_PATH_MAX and the
 * budget; ERR_INTERRUPTED. */
int view_apply(struct view *v, const struct layer_scan *scan, size_t layer,
               struct err *err) MUST_USE;

/*
 * The node at a path (with or without leading '/'), NULL when there is none. Links on the way are
 * followed inside the image, the last one only if `follow`. At most 40 links. With the budget
 * exceeded nothing is found any more: who looks up many paths checks it at the end.
 */
struct view_node *view_find(const struct view *v, const char *path, bool follow);

/* The same from a folder on. */
struct view_node *view_find_at(const struct view *v, struct view_node *dir, const char *path,
                               bool follow);

/* Told of every folder in which a name is looked up, those behind links too; false ends the look-up
 * with NULL. */
typedef bool view_passed(void *ctx, struct view_node *dir);

/* The same, with the folders on the way told: who has no right to search one of them does not get
 * there. */
struct view_node *view_walk(const struct view *v, struct view_node *dir, const char *path,
                            bool follow, view_passed *passed, void *ctx);

/*
 * The first node from a folder on whose path matches a glob (text_glob's; links are followed, below
 * `**` those to folders are not). Looks at no more than *steps nodes, which it counts down; at 0
 * nothing is found.
 */
struct view_node *view_glob(const struct view *v, struct view_node *dir, const char *glob,
                            size_t *steps);

bool view_is_dir(const struct view_node *n);
bool view_is_file(const struct view_node *n); /* a regular file, also by hard link */

/* The path of a node with leading '/', in the arena. */
char *view_path(const struct view *v, const struct view_node *n);

/*
 * The next node in a walk over all living ones, parents first; start with the root, ends with NULL.
 */
struct view_node *view_next(const struct view_node *n);

#endif
