/* tree_split: what goes where, and that it stays there. */
#include "builder/layer/tree/parts.h"
#include "tests/harness.h"

#include "builder/layer/pack/layer.h"

enum { FOLDERS = 40, FILES = 5, FILE_BYTES = 1000 };

static void add(struct tree *t, struct entry e)
{
	struct err err = {0};

	e.content = e.size > 0 ? CONTENT_BYTES : CONTENT_NONE;
	CHECK_OK(tree_add(t, &e, &err), &err);
}

/* FOLDERS folders of FILES files, plus a hard link from another folder and a sticky empty folder.
 */
static void make_tree(struct tree *t, struct arena *a, int64_t first_size)
{
	static char bytes[FILE_BYTES * FOLDERS];
	struct diags d = {0};
	struct err err = {0};

	tree_init(t, a, "big", 0);
	for (unsigned f = 0; f < FOLDERS; f++)
		for (unsigned i = 0; i < FILES; i++)
			add(t, (struct entry){.path = arena_printf(a, "opt/d%02u/f%u", f, i),
					      .mode = 0644,
					      .size = f + i == 0 ? first_size : FILE_BYTES,
					      .bytes = bytes});
	add(t, (struct entry){
		   .path = "zlink", .type = ENTRY_HARDLINK, .mode = 0644, .link = "opt/d07/f2"});
	add(t, (struct entry){.path = "opt", .type = ENTRY_DIR, .mode = 0711});
	add(t, (struct entry){.path = "var/tmp", .type = ENTRY_DIR, .mode = 01777});
	CHECK_OK(tree_finish(t, &d, &err), &err);
	diags_done(&d);
}

static const struct entry *find(const struct tree *t, const char *path)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->at[i].path, path) == 0)
			return &t->at[i];
	return NULL;
}

static void one_part_when_small(void)
{
	AUTO(arena) struct arena a = {0};
	struct tree t, *parts;
	struct err err = {0};
	size_t n;

	make_tree(&t, &a, FILE_BYTES);
	CHECK_OK(tree_split(&t, 1 << 20, &parts, &n, &err), &err);
	CHECK_INT(n, 1);
	CHECK_INT(parts[0].n, t.n);
	CHECK_OK(tree_split(&t, 0, &parts, &n, &err), &err);
	CHECK_INT(n, 1);
	tree_done(&t);
}

static void every_entry_is_in_one_part(void)
{
	AUTO(arena) struct arena a = {0};
	struct tree t, *parts;
	struct err err = {0};
	size_t n, seen = 0;

	make_tree(&t, &a, FILE_BYTES);
	CHECK_OK(tree_split(&t, 30000, &parts, &n, &err), &err);
	CHECK(n > 4 && n <= 8);
	for (size_t i = 0; i < t.n; i++) {
		size_t in = 0;

		for (size_t p = 0; p < n; p++)
			in += find(&parts[p], t.at[i].path) != NULL;
		CHECK(t.at[i].type == ENTRY_DIR ? in >= 1 : in == 1);
		seen += in == 1 && t.at[i].type != ENTRY_DIR;
	}
	CHECK_INT(seen, FOLDERS * FILES + 1);
	tree_done(&t);
}

static void parts_are_whole_trees(void)
{
	AUTO(arena) struct arena a = {0};
	struct tree t, *parts;
	struct err err = {0};
	size_t n;

	make_tree(&t, &a, FILE_BYTES);
	CHECK_OK(tree_split(&t, 30000, &parts, &n, &err), &err);
	for (size_t p = 0; p < n; p++) {
		for (size_t i = 0; i < parts[p].n; i++) {
			const struct entry *e = &parts[p].at[i];
			const char *slash = strrchr(e->path, '/');

			CHECK(i == 0 || strcmp(parts[p].at[i - 1].path, e->path) < 0);
			if (slash != NULL)
				CHECK(find(&parts[p],
					   arena_strndup(&a, e->path, (size_t)(slash - e->path))));
			if (e->type == ENTRY_HARDLINK)
				CHECK(find(&parts[p], e->link) != NULL);
			if (strcmp(e->path, "opt") == 0)
				CHECK_INT(e->mode, 0711);
		}
	}
	tree_done(&t);
}

/* True when both trees have the same entries of the same sizes. */
static bool same(const struct tree *a, const struct tree *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->at[i].path, b->at[i].path) != 0 || a->at[i].size != b->at[i].size)
			return false;
	return true;
}

static void one_change_moves_one_part(void)
{
	AUTO(arena) struct arena a = {0};
	struct tree t, u, *x, *y;
	struct err err = {0};
	size_t n, m, changed = 0;

	make_tree(&t, &a, FILE_BYTES);
	make_tree(&u, &a, 20 * FILE_BYTES);
	CHECK_OK(tree_split(&t, 30000, &x, &n, &err), &err);
	CHECK_OK(tree_split(&u, 30000, &y, &m, &err), &err);
	CHECK_INT(n, m);
	for (size_t p = 0; p < n && p < m; p++) {
		CHECK_STR(x[p].label, y[p].label);
		changed += !same(&x[p], &y[p]);
	}
	CHECK_INT(changed, 1);
	tree_done(&t);
	tree_done(&u);
}

static void more_parts_split_parts(void)
{
	AUTO(arena) struct arena a = {0};
	struct tree t, *x, *y;
	struct err err = {0};
	size_t n, m;

	make_tree(&t, &a, FILE_BYTES);
	CHECK_OK(tree_split(&t, 60000, &x, &n, &err), &err);
	CHECK_OK(tree_split(&t, 30000, &y, &m, &err), &err);
	CHECK(m > n);
	/* A small part lies within one large part. */
	for (size_t p = 0; p < m; p++) {
		size_t home = n;

		for (size_t i = 0; i < y[p].n; i++)
			for (size_t q = 0; q < n; q++)
				if (y[p].at[i].type == ENTRY_FILE &&
				    find(&x[q], y[p].at[i].path) != NULL) {
					CHECK(home == n || home == q);
					home = q;
				}
	}
	tree_done(&t);
}

/* The rule of docs/FORMAT.md, pinned: SHA-256("opt/d00") starts with bits that never change. */
static void the_rule_is_pinned(void)
{
	AUTO(arena) struct arena a = {0};
	struct tree t, *parts;
	struct digest d = digest_of("opt/d00", 7);
	struct err err = {0};
	size_t n;
	bool found = false;

	make_tree(&t, &a, FILE_BYTES);
	CHECK_OK(tree_split(&t, 30000, &parts, &n, &err), &err);
	for (size_t p = 0; p < n; p++)
		if (find(&parts[p], "opt/d00/f0") != NULL) {
			CHECK_STR(parts[p].label, arena_printf(&a, "big.%d", d.bytes[0] >> 5));
			found = true;
		}
	CHECK(found);
	tree_done(&t);
}

int main(void)
{
	TEST("split: a small tree is one part", one_part_when_small);
	TEST("split: every entry is in exactly one part", every_entry_is_in_one_part);
	TEST("split: parts are sorted and hold their parents and link targets",
	     parts_are_whole_trees);
	TEST("split: one changed file changes one part", one_change_moves_one_part);
	TEST("split: twice the parts halve each part", more_parts_split_parts);
	TEST("split: the part is the first bits of the folder's hash", the_rule_is_pinned);
	return test_done();
}
