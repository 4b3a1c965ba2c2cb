/*
 * Files that are equal on all platforms, taken out into a tree of their own. Trees are sorted, so
 * paths are met by walking all of them together; bytes are only read when paths, metadata and sizes
 * are equal and the files are not the same one on disk.
 */
#include <string.h>

#include "base/mem.h"
#include "builder/layer/tree/parts.h"

enum { COMPARE_BYTES = 128 << 10 };

struct share {
	struct tree *const *trees;
	size_t n;
	size_t *at;    /* cursor in each tree */
	bool **linked; /* per tree and entry: some hard link names it */
	bool **taken;  /* per tree and entry: it goes */
	unsigned char *buf[2];
	struct tree out;
};

static void share_done(struct share *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->linked[i]);
		free(s->taken[i]);
	}
	free(s->linked);
	free(s->taken);
	free(s->at);
	free(s->buf[0]);
	free(s->buf[1]);
}

static void share_init(struct share *s, struct tree *const *trees, size_t n)
{
	*s = (struct share){.trees = trees, .n = n};
	s->at = mem_calloc(n, sizeof(*s->at));
	s->linked = mem_calloc(n, sizeof(*s->linked));
	s->taken = mem_calloc(n, sizeof(*s->taken));
	s->buf[0] = mem_calloc(1, COMPARE_BYTES);
	s->buf[1] = mem_calloc(1, COMPARE_BYTES);
	for (size_t i = 0; i < n; i++) {
		const struct tree *t = trees[i];

		s->linked[i] = mem_calloc(t->n, sizeof(bool));
		s->taken[i] = mem_calloc(t->n, sizeof(bool));
		for (size_t k = 0; k < t->n; k++) {
			size_t file = t->at[k].type == ENTRY_HARDLINK
			                      ? tree_find(t, t->at[k].link, strlen(t->at[k].link))
			                      : t->n;

			if (file < t->n)
				s->linked[i][file] = true;
		}
	}
}

/* ---- equality ---- */

static bool same_file(const struct entry *a, const struct entry *b)
{
	return a->type == b->type && a->mtime == b->mtime && a->size == b->size &&
	       entry_same_metadata(a, b);
}

/* The same bytes without reading any. */
static bool same_source(const struct entry *a, const struct entry *b)
{
	const struct entry_stamp *x = &a->stamp, *y = &b->stamp;

	if (a->size == 0)
		return true;
	if (a->content != CONTENT_PATH || b->content != CONTENT_PATH)
		return a->content == CONTENT_BYTES && b->content == CONTENT_BYTES &&
		       memcmp(a->bytes, b->bytes, (size_t)a->size) == 0;
	if (strcmp(a->source, b->source) == 0)
		return true;
	return x->ino != 0 && x->dev == y->dev && x->ino == y->ino && x->mtime_ns == y->mtime_ns;
}

/* Fills buf unless the source ends. */
static int read_full(struct source *src, unsigned char *buf, size_t *ret_n, struct err *err)
{
	size_t n = 0, got = 1;

	while (n < COMPARE_BYTES && got > 0) {
		if (source_read(src, buf + n, COMPARE_BYTES - n, &got, err) != 0)
			return -1;
		n += got;
	}
	*ret_n = n;
	return 0;
}

static int compare_sources(struct share *s, struct source *a, struct source *b, bool *ret_same,
                           struct err *err)
{
	size_t n_a, n_b;

	do {
		if (read_full(a, s->buf[0], &n_a, err) != 0 ||
		    read_full(b, s->buf[1], &n_b, err) != 0)
			return -1;
		*ret_same = n_a == n_b && memcmp(s->buf[0], s->buf[1], n_a) == 0;
	} while (*ret_same && n_a > 0);
	return 0;
}

/* Compares the bytes of entry `a` of trees[0] and `b` of trees[i]. */
static int same_bytes(struct share *s, size_t i, const struct entry *a, const struct entry *b,
                      bool *ret_same, struct err *err)
{
	struct source *x, *y;
	int rc;

	if (tree_open_content(s->trees[0], a, &x, err) != 0)
		return -1;
	if (tree_open_content(s->trees[i], b, &y, err) != 0) {
		source_close(x);
		return -1;
	}
	rc = compare_sources(s, x, y, ret_same, err);
	source_close(x);
	source_close(y);
	return rc;
}

/* True in *ret_same when the entries under all cursors are one file that may be shared. */
static int all_equal(struct share *s, bool *ret_same, struct err *err)
{
	const struct entry *first = &s->trees[0]->at[s->at[0]];

	*ret_same = first->type == ENTRY_FILE && !s->linked[0][s->at[0]];
	for (size_t i = 1; i < s->n && *ret_same; i++) {
		const struct entry *e = &s->trees[i]->at[s->at[i]];

		*ret_same = same_file(first, e) && !s->linked[i][s->at[i]];
		if (*ret_same && !same_source(first, e) &&
		    same_bytes(s, i, first, e, ret_same, err) != 0)
			return -1;
	}
	return 0;
}

/* Every folder above `path` has the same metadata in all trees, so that the layers' order is
 * nothing. */
static bool same_folders(const struct share *s, const char *path)
{
	for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		const struct tree *first = s->trees[0];
		size_t len = (size_t)(slash - path), at = tree_find(first, path, len);

		for (size_t i = 1; i < s->n; i++) {
			size_t other = tree_find(s->trees[i], path, len);

			if (at == first->n || other == s->trees[i]->n ||
			    !same_file(&first->at[at], &s->trees[i]->at[other]))
				return false;
		}
	}
	return true;
}

/* ---- the walk ---- */

/*
 * Moves the cursors to the next path that all trees have; false at the end of any. A cursor behind
 * the greatest path moves up until none is.
 */
static bool next_common(struct share *s)
{
	for (size_t i = 0, agree = 0; agree < s->n; i = (i + 1) % s->n) {
		size_t before = (i + s->n - 1) % s->n;
		const char *path;
		int order;

		if (s->at[i] >= s->trees[i]->n || s->at[before] >= s->trees[before]->n)
			return false;
		path = s->trees[before]->at[s->at[before]].path;
		while ((order = strcmp(s->trees[i]->at[s->at[i]].path, path)) < 0)
			if (++s->at[i] == s->trees[i]->n)
				return false;
		agree = order == 0 ? agree + 1 : 1;
	}
	return true;
}

static void take_common(struct share *s)
{
	for (size_t i = 0; i < s->n; i++)
		s->taken[i][s->at[i]] = true;
}

static int find_equal(struct share *s, struct err *err)
{
	while (next_common(s)) {
		const struct entry *e = &s->trees[0]->at[s->at[0]];
		bool same = false;

		if (e->type == ENTRY_FILE && same_folders(s, e->path) &&
		    all_equal(s, &same, err) != 0)
			return err_wrap(err, "compare '%s' between platforms", e->path);
		if (same)
			take_common(s);
		for (size_t i = 0; i < s->n; i++)
			s->at[i]++;
	}
	return 0;
}

/* ---- taking out ---- */

/* Copies the kept entries into `out` (which may be t's own array); returns how many. */
static size_t copy_kept(const struct tree *t, const bool *keep, struct entry *out)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (keep[i])
			out[n++] = t->at[i];
	return n;
}

/* The shared files of trees[0], with their folders, as a new tree. */
static struct tree shared_tree(struct share *s)
{
	const struct tree *t = s->trees[0];
	AUTO_FREE bool *keep = mem_calloc(t->n, sizeof(*keep));
	struct tree out = *t;

	for (size_t i = 0; i < t->n; i++) {
		if (!s->taken[0][i])
			continue;
		keep[i] = true;
		tree_mark_parents(t, t->at[i].path, keep);
	}
	out.at = arena_calloc(t->arena, t->n, sizeof(*out.at));
	out.n = copy_kept(t, keep, out.at);
	out.cap = t->n;
	out.label = "shared";
	return out;
}

/* Removes what was taken, and implied folders that held nothing else. */
static void remove_taken(struct tree *t, const bool *taken)
{
	AUTO_FREE bool *keep = mem_calloc(t->n, sizeof(*keep));

	for (size_t i = 0; i < t->n; i++) {
		const struct entry *e = &t->at[i];

		if (taken[i] || (e->type == ENTRY_DIR && e->implied))
			continue;
		keep[i] = true;
		tree_mark_parents(t, t->at[i].path, keep);
	}
	t->n = copy_kept(t, keep, t->at);
}

int tree_share(struct tree *const *trees, size_t n, struct tree *ret_shared, struct err *err)
{
	AUTO(share) struct share s;

	if (n < 2)
		BUG("tree_share of %zu trees", n);
	share_init(&s, trees, n);
	if (find_equal(&s, err) != 0)
		return -1;
	*ret_shared = shared_tree(&s);
	if (ret_shared->n == 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		remove_taken(trees[i], s.taken[i]);
	return 0;
}
