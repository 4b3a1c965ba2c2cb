/* tree_share: what counts as equal on all platforms. */
#include "builder/layer/tree/parts.h"
#include "tests/harness.h"

#include <fcntl.h>

#include "base/fs.h"
#include "builder/layer/pack/layer.h"

static void add(struct tree *t, struct entry e)
{
	struct err err = {0};

	if (e.bytes != NULL)
		e.content = CONTENT_BYTES, e.size = (int64_t)strlen(e.bytes);
	CHECK_OK(tree_add(t, &e, &err), &err);
}

static void file(struct tree *t, const char *path, const char *text)
{
	add(t, (struct entry){.path = path, .mode = 0644, .bytes = text});
}

static void finish(struct tree *t)
{
	struct diags d = {0};
	struct err err = {0};

	CHECK_OK(tree_finish(t, &d, &err), &err);
	CHECK_INT(d.n_errors, 0);
	diags_done(&d);
}

/* "a b c": the paths of a tree. */
static const char *paths(const struct tree *t, struct arena *a)
{
	const char *out = "";

	for (size_t i = 0; i < t->n; i++)
		out = arena_printf(a, "%s%s%s", out, i > 0 ? " " : "", t->at[i].path);
	return out;
}

static void equal_files_move(void)
{
	AUTO(arena) struct arena a = {0};
	struct tree x, y, shared, *both[] = {&x, &y};
	struct err err = {0};

	tree_init(&x, &a, "x", 0);
	tree_init(&y, &a, "y", 0);
	file(&x, "etc/conf", "same");
	file(&y, "etc/conf", "same");
	file(&x, "usr/bin/p", "amd64");
	file(&y, "usr/bin/p", "arm64");
	file(&x, "usr/share/doc", "text");
	file(&y, "usr/share/doc", "text");
	file(&x, "usr/share/longer", "text");
	file(&y, "usr/share/longer", "text and more");
	file(&x, "xonly", "1");
	file(&y, "yonly", "1");
	finish(&x);
	finish(&y);
	CHECK_OK(tree_share(both, 2, &shared, &err), &err);
	CHECK_STR(paths(&shared, &a), "etc etc/conf usr usr/share usr/share/doc");
	CHECK_STR(paths(&x, &a), "usr usr/bin usr/bin/p usr/share usr/share/longer xonly");
	CHECK_STR(paths(&y, &a), "usr usr/bin usr/bin/p usr/share usr/share/longer yonly");
	tree_done(&x);
	tree_done(&y);
}

static void nothing_equal(void)
{
	AUTO(arena) struct arena a = {0};
	struct tree x, y, shared, *both[] = {&x, &y};
	struct err err = {0};

	tree_init(&x, &a, "x", 0);
	tree_init(&y, &a, "y", 0);
	file(&x, "a", "1");
	file(&y, "a", "2");
	add(&x, (struct entry){.path = "empty", .type = ENTRY_DIR, .mode = 0755});
	add(&y, (struct entry){.path = "empty", .type = ENTRY_DIR, .mode = 0755});
	finish(&x);
	finish(&y);
	CHECK_OK(tree_share(both, 2, &shared, &err), &err);
	CHECK_INT(shared.n, 0);
	CHECK_STR(paths(&x, &a), "a empty");
	tree_done(&x);
	tree_done(&y);
}

static void metadata_counts(void)
{
	static struct entry_xattr cap = {"user.a", "1", 1};
	static const struct {
		const char *what;
		struct entry e;
	} cases[] = {
	    {"mode", {.path = "f", .mode = 0755, .bytes = "x"}},
	    {"owner", {.path = "f", .mode = 0644, .bytes = "x", .uid = 1}},
	    {"group", {.path = "f", .mode = 0644, .bytes = "x", .gid = 1}},
	    {"time", {.path = "f", .mode = 0644, .bytes = "x", .mtime = 1}},
	    {"xattr", {.path = "f", .mode = 0644, .bytes = "x", .xattrs = &cap, .n_xattrs = 1}},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO(arena) struct arena a = {0};
		struct tree x, y, shared, *both[] = {&x, &y};
		struct err err = {0};

		tree_init(&x, &a, "x", 100);
		tree_init(&y, &a, "y", 100);
		file(&x, "f", "x");
		add(&y, cases[i].e);
		finish(&x);
		finish(&y);
		CHECK_OK(tree_share(both, 2, &shared, &err), &err);
		if (shared.n != 0)
			printf("# %s\n", cases[i].what), test_fail(__FILE__, __LINE__, "shared");
		tree_done(&x);
		tree_done(&y);
	}
}

static void folders_must_agree(void)
{
	AUTO(arena) struct arena a = {0};
	struct tree x, y, shared, *both[] = {&x, &y};
	struct err err = {0};

	tree_init(&x, &a, "x", 0);
	tree_init(&y, &a, "y", 0);
	file(&x, "srv/d/f", "x");
	file(&y, "srv/d/f", "x");
	add(&x, (struct entry){.path = "srv", .type = ENTRY_DIR, .mode = 0700});
	add(&y, (struct entry){.path = "srv", .type = ENTRY_DIR, .mode = 0755});
	finish(&x);
	finish(&y);
	CHECK_OK(tree_share(both, 2, &shared, &err), &err);
	CHECK_INT(shared.n, 0);
	tree_done(&x);
	tree_done(&y);
}

static void hard_linked_files_stay(void)
{
	AUTO(arena) struct arena a = {0};
	struct tree x, y, shared, *both[] = {&x, &y};
	struct err err = {0};

	tree_init(&x, &a, "x", 0);
	tree_init(&y, &a, "y", 0);
	for (size_t i = 0; i < 2; i++) {
		file(both[i], "a", "x");
		file(both[i], "c", "x");
	}
	add(&y, (struct entry){.path = "b", .type = ENTRY_HARDLINK, .mode = 0644, .link = "a"});
	finish(&x);
	finish(&y);
	CHECK_OK(tree_share(both, 2, &shared, &err), &err);
	CHECK_STR(paths(&shared, &a), "c");
	CHECK_STR(paths(&x, &a), "a");
	CHECK_STR(paths(&y, &a), "a b");
	tree_done(&x);
	tree_done(&y);
}

static void three_platforms(void)
{
	AUTO(arena) struct arena a = {0};
	struct tree x, y, z, shared, *all[] = {&x, &y, &z};
	struct err err = {0};

	for (size_t i = 0; i < 3; i++) {
		tree_init(all[i], &a, "t", 0);
		file(all[i], "everywhere", "1");
		file(all[i], arena_printf(&a, "b%zu", i), "1");
		if (i != 1)
			file(all[i], "two", "1");
		finish(all[i]);
	}
	CHECK_OK(tree_share(all, 3, &shared, &err), &err);
	CHECK_STR(paths(&shared, &a), "everywhere");
	CHECK_STR(paths(&x, &a), "b0 two");
	CHECK_STR(paths(&y, &a), "b1");
	for (size_t i = 0; i < 3; i++)
		tree_done(all[i]);
}

/* Two files on disk of equal size: their bytes decide. */
static void bytes_on_disk_decide(void)
{
	AUTO(arena) struct arena a = {0};
	struct tree x, y, shared, *both[] = {&x, &y};
	char dir[4096];
	struct err err = {0};

	test_tmpdir(dir);
	tree_init(&x, &a, "x", 0);
	tree_init(&y, &a, "y", 0);
	for (size_t i = 0; i < 4; i++) {
		const char *path = arena_printf(&a, "%s/%zu", dir, i);
		struct entry e = {.path = i < 2 ? "same" : "other",
				  .mode = 0644,
				  .size = 4,
				  .content = CONTENT_PATH,
				  .source = path};

		CHECK_OK(fs_write_file(path, i == 3 ? "TEXT" : "text", 4, 0644, &err), &err);
		add(both[i % 2], e);
	}
	finish(&x);
	finish(&y);
	CHECK_OK(tree_share(both, 2, &shared, &err), &err);
	CHECK_STR(paths(&shared, &a), "same");
	tree_done(&x);
	tree_done(&y);
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

int main(void)
{
	TEST("share: equal files move with their folders", equal_files_move);
	TEST("share: nothing equal, nothing shared", nothing_equal);
	TEST("share: every piece of metadata counts", metadata_counts);
	TEST("share: a file below differing folders stays", folders_must_agree);
	TEST("share: files of hard-link groups stay", hard_linked_files_stay);
	TEST("share: three platforms", three_platforms);
	TEST("share: bytes on disk decide", bytes_on_disk_decide);
	return test_done();
}
