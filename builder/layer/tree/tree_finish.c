/*
 * tree_finish: order, implied parents, duplicates, hard links. Works on indexes into the sorted
 * array; a problem never stops it, so that one build shows them all.
 */
#include <string.h>

#include "base/mem.h"
#include "builder/layer/tree/tree.h"

/* ---- order ---- */

struct rank {
	const char *path;
	size_t i; /* order of adding: ties stay stable, whatever qsort does */
};

static int compare_rank(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	int paths = strcmp(x->path, y->path);

	return paths != 0 ? paths : x->i < y->i ? -1 : x->i > y->i;
}

static bool in_order(const struct tree *t)
{
	for (size_t i = 1; i < t->n; i++)
		if (strcmp(t->at[i - 1].path, t->at[i].path) > 0)
			return false;
	return true;
}

static void sort_entries(struct tree *t)
{
	if (in_order(t))
		return;
	struct rank *ranks = mem_calloc(t->n, sizeof(*ranks));
	struct entry *sorted = mem_calloc(t->n, sizeof(*sorted));

	for (size_t i = 0; i < t->n; i++)
		ranks[i] = (struct rank){t->at[i].path, i};
	qsort(ranks, t->n, sizeof(*ranks), compare_rank);
	for (size_t i = 0; i < t->n; i++)
		sorted[i] = t->at[ranks[i].i];
	free(ranks);
	free(t->at);
	t->at = sorted;
	t->cap = t->n;
}

/* ---- implied parents ---- */

/* Length of the parent's path, 0 when it is the root. */
static size_t parent_length(const char *path, size_t len)
{
	while (len > 0 && path[len - 1] != '/')
		len--;
	return len > 0 ? len - 1 : 0;
}

/* True when `previous` lies in the folder path[0..len): its parents were seen to. */
static bool shares_parent(const char *previous, const char *path, size_t len)
{
	return previous != NULL && strncmp(previous, path, len) == 0 && previous[len] == '/';
}

static void imply_parents(struct tree *t)
{
	size_t n = t->n; /* those appended are complete */

	for (size_t i = 0; i < n; i++) {
		const char *path = t->at[i].path, *previous = i > 0 ? t->at[i - 1].path : NULL;
		size_t len = parent_length(path, strlen(path));
		struct tree given = {.at = t->at, .n = n};

		for (; len > 0 && !shares_parent(previous, path, len);
		     len = parent_length(path, len)) {
			if (tree_find(&given, path, len) != n)
				continue;
			struct entry e = {.path = arena_strndup(t->arena, path, len),
			                  .type = ENTRY_DIR,
			                  .mode = 0755,
			                  .mtime = t->epoch,
			                  .implied = true,
			                  .at = t->at[i].at};

			vec_push(t, e);
			given.at = t->at;
		}
	}
	if (t->n > n)
		sort_entries(t);
}

/* ---- duplicates ---- */

static bool same_stamp(const struct entry *a, const struct entry *b)
{
	return a->stamp.ino != 0 && a->stamp.ino == b->stamp.ino && a->stamp.dev == b->stamp.dev;
}

/* The same bytes, as far as can be told without reading files. */
static bool same_content(const struct entry *a, const struct entry *b)
{
	if (a->size != b->size || a->content != b->content)
		return false;
	switch (a->content) {
	case CONTENT_NONE:
		return true;
	case CONTENT_PATH:
		return strcmp(a->source, b->source) == 0;
	case CONTENT_BYTES:
		return memcmp(a->bytes, b->bytes, (size_t)a->size) == 0;
	case CONTENT_SPOOL:
		return a->offset == b->offset;
	}
	return false;
}

/* Two entries that are one and the same thing. */
static bool same_source(const struct entry *a, const struct entry *b)
{
	bool a_file = a->type == ENTRY_FILE || a->type == ENTRY_HARDLINK;
	bool b_file = b->type == ENTRY_FILE || b->type == ENTRY_HARDLINK;

	if (!entry_same_metadata(a, b))
		return false;
	if (a_file && b_file && same_stamp(a, b))
		return true;
	if (a->type != b->type)
		return false;
	if (a->type == ENTRY_FILE)
		return same_content(a, b);
	return a->type == ENTRY_DIR || strcmp(a->link, b->link) == 0;
}

static const char *kind(const struct entry *e)
{
	static const char *const names[] = {
		[ENTRY_FILE] = "a file",
		[ENTRY_DIR] = "a folder",
		[ENTRY_SYMLINK] = "a symbolic link",
		[ENTRY_HARDLINK] = "a hard link",
	};

	return names[e->type];
}

/* " ('build/x')", " (slipway.yaml:3:5)", both, or "". */
static const char *origin_text(const struct tree *t, const struct entry *e)
{
	const char *source = e->source != NULL ? arena_printf(t->arena, "'%s'", e->source) : "";

	if (e->at.file == NULL)
		return source[0] == '\0' ? "" : arena_printf(t->arena, " (%s)", source);
	return arena_printf(t->arena, " (%s%s%s:%u:%u)", source, source[0] == '\0' ? "" : ", ",
	                    e->at.file, e->at.line, e->at.column);
}

static void report_duplicate(const struct tree *t, const struct entry *first,
                             const struct entry *second, struct diags *d)
{
	struct diag *diag;

	if (first->type == ENTRY_DIR && second->type == ENTRY_DIR) {
		diag = diags_add(d, DIAG_ERROR, second->at,
		                 "layer '%s': folder '/%s' is asked for twice: %04o %u:%u%s and "
		                 "%04o %u:%u%s",
		                 t->label, first->path, first->mode, first->uid, first->gid,
		                 origin_text(t, first), second->mode, second->uid, second->gid,
		                 origin_text(t, second));
		diag_hint(d, diag, "give both the same mode, owner and extended attributes");
		return;
	}
	diag = diags_add(d, DIAG_ERROR, second->at,
	                 "layer '%s': '/%s' comes from two sources: %s%s and %s%s", t->label,
	                 first->path, kind(first), origin_text(t, first), kind(second),
	                 origin_text(t, second));
	diag_hint(d, diag,
	          "exclude it from one of them, or ship it in a later layer to replace it");
}

/* What remains of two entries of one path. */
static void merge_entries(const struct tree *t, struct entry *kept, const struct entry *e,
                          struct diags *d)
{
	bool folders = kept->type == ENTRY_DIR && e->type == ENTRY_DIR;

	if (folders && kept->implied)
		*kept = *e;
	else if (!(folders && e->implied) && !same_source(kept, e))
		report_duplicate(t, kept, e, d);
}

static void merge_duplicates(struct tree *t, struct diags *d)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (n > 0 && strcmp(t->at[n - 1].path, t->at[i].path) == 0)
			merge_entries(t, &t->at[n - 1], &t->at[i], d);
		else if (n++ != i)
			t->at[n - 1] = t->at[i];
	}
	t->n = n;
}

/* ---- folders that are none ---- */

static void report_parent(const struct tree *t, const struct entry *parent,
                          const struct entry *child, struct diags *d)
{
	struct diag *diag = diags_add(d, DIAG_ERROR, child->at,
	                              "layer '%s': '/%s'%s needs a folder where '/%s'%s is %s",
	                              t->label, child->path, origin_text(t, child), parent->path,
	                              origin_text(t, parent), kind(parent));

	if (parent->type == ENTRY_SYMLINK)
		diag_hint(d, diag, "write the path that the link '/%s' -> '%s' leads to",
		          parent->path, parent->link);
}

/* Removes entries below something that is no folder; the first of each is reported. */
static void check_parents(struct tree *t, struct diags *d)
{
	const char *reported = NULL, *previous = NULL;
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		struct entry e = t->at[i];
		size_t len = parent_length(e.path, strlen(e.path));
		/* tree_find may look at entries moved down only: parents sort before children. */
		struct tree kept = {.at = t->at, .n = n};
		size_t parent = len == 0 || shares_parent(previous, e.path, len)
		                        ? n
		                        : tree_find(&kept, e.path, len);

		if (reported != NULL && shares_parent(e.path, reported, strlen(reported)))
			continue;
		if (parent != n && t->at[parent].type != ENTRY_DIR) {
			reported = t->at[parent].path;
			report_parent(t, &t->at[parent], &e, d);
			continue;
		}
		previous = e.path;
		t->at[n++] = e;
	}
	t->n = n;
}

/* ---- hard links ---- */

/* The regular file at the end of a chain of hard links, t->n when there is none. */
static size_t link_root(const struct tree *t, size_t i)
{
	for (size_t steps = 0; t->at[i].type == ENTRY_HARDLINK; steps++) {
		i = steps < 64 ? tree_find(t, t->at[i].link, strlen(t->at[i].link)) : t->n;
		if (i == t->n)
			return t->n;
	}
	return t->at[i].type == ENTRY_FILE ? i : t->n;
}

static void report_link(const struct tree *t, const struct entry *e, struct diags *d)
{
	struct diag *diag = diags_add(
		d, DIAG_ERROR, e->at,
		"layer '%s': hard link '/%s'%s points to '/%s', which is not a file of the layer",
		t->label, e->path, origin_text(t, e), e->link);

	diag_hint(d, diag, "include the file that it points to, or exclude the link");
}

/* A name of the same inode: it has the file's metadata, but no content of its own. */
static struct entry as_link(const struct entry *name, const struct entry *file, const char *link)
{
	struct entry e = *file;

	e.path = name->path;
	e.at = name->at;
	e.type = ENTRY_HARDLINK;
	e.link = link;
	e.size = 0;
	e.xattrs = NULL;
	e.n_xattrs = 0;
	e.content = CONTENT_NONE;
	e.source = NULL;
	e.bytes = NULL;
	e.offset = 0;
	e.stamp = (struct entry_stamp){0};
	return e;
}

/* root[i]: index of the file behind link i; first[f]: the least index of a name of file f. */
struct links {
	size_t *root, *first;
};

static void point_to_first(struct tree *t, const struct links *l)
{
	struct entry *out = mem_calloc(t->n, sizeof(*out));
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		size_t file = l->root[i];

		if (file == t->n)
			continue; /* a link to nothing, reported */
		const struct entry *e = &t->at[i], *f = &t->at[file];

		if (l->first[file] != i) {
			out[n++] = as_link(e, f, t->at[l->first[file]].path);
			continue;
		}
		out[n] = *f;
		out[n].path = e->path;
		out[n++].at = e->at;
	}
	free(t->at);
	t->at = out;
	t->cap = t->n;
	t->n = n;
}

static void order_hard_links(struct tree *t, struct diags *d)
{
	bool any = false;

	for (size_t i = 0; i < t->n && !any; i++)
		any = t->at[i].type == ENTRY_HARDLINK;
	if (!any)
		return;
	AUTO_FREE size_t *root = mem_calloc(t->n, sizeof(*root));
	AUTO_FREE size_t *first = mem_calloc(t->n, sizeof(*first));

	for (size_t i = 0; i < t->n; i++)
		root[i] = first[i] = i;
	for (size_t i = 0; i < t->n; i++) {
		if (t->at[i].type != ENTRY_HARDLINK)
			continue;
		root[i] = link_root(t, i);
		if (root[i] == t->n)
			report_link(t, &t->at[i], d);
		else if (i < first[root[i]])
			first[root[i]] = i;
	}
	point_to_first(t, &(struct links){root, first});
}

int tree_finish(struct tree *t, struct diags *d, struct err *err)
{
	(void)err; /* running out of memory aborts, and nothing else of the machine is needed */
	sort_entries(t);
	imply_parents(t);
	merge_duplicates(t, d);
	check_parents(t, d);
	order_hard_links(t, d);
	return 0;
}
