/* tree: paths, order, implied parents, duplicates, hard links, content. */
#include <fcntl.h>

#include "base/fs.h"
#include "builder/layer/tree/tree.h"
#include "tests/harness.h"

struct fixture {
	struct arena arena;
	struct tree tree;
	struct diags diags;
	struct err err;
};

static void fixture_init(struct fixture *f)
{
	*f = (struct fixture){0};
	tree_init(&f->tree, &f->arena, "test", 100);
}

static void fixture_done(struct fixture *f)
{
	tree_done(&f->tree);
	diags_done(&f->diags);
	arena_done(&f->arena);
}

static int add(struct fixture *f, enum entry_type type, const char *path, const char *link)
{
	const struct entry e = {.path = path,
	                        .type = type,
	                        .link = link,
	                        .mode = type == ENTRY_DIR ? 0755 : 0644,
	                        .content = CONTENT_BYTES,
	                        .bytes = "abc",
	                        .size = 3,
	                        .at = {"s.yaml", 7, 3, 1}};

	f->err = (struct err){0};
	return tree_add(&f->tree, &e, &f->err);
}

/* "dir a|file a/b|link c -> a/b" of the whole tree. */
static const char *text(struct fixture *f)
{
	static const char *const kinds[] = {"file", "dir", "symlink", "link"};
	struct strbuf sb = STRBUF_INIT(1 << 20);

	for (size_t i = 0; i < f->tree.n; i++) {
		const struct entry *e = &f->tree.at[i];

		strbuf_addf(&sb, "%s%s %s", i > 0 ? "|" : "", kinds[e->type], e->path);
		if (e->type == ENTRY_SYMLINK || e->type == ENTRY_HARDLINK)
			strbuf_addf(&sb, " -> %s", e->link);
	}
	const char *copy = arena_strdup(&f->arena, strbuf_str(&sb));

	strbuf_done(&sb);
	return copy;
}

static void finish(struct fixture *f)
{
	CHECK_OK(tree_finish(&f->tree, &f->diags, &f->err), &f->err);
}

static void paths_are_cleaned(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	CHECK(add(&f, ENTRY_FILE, "//usr/./bin//x", NULL) == 0);
	CHECK(add(&f, ENTRY_DIR, "/", NULL) == 0);
	CHECK(add(&f, ENTRY_DIR, "./", NULL) == 0);
	finish(&f);
	CHECK_STR(text(&f), "dir usr|dir usr/bin|file usr/bin/x");
}

static void bad_paths_are_refused(void)
{
	static const struct {
		const char *path, *why;
	} rows[] = {
		{"a/../b", "has a '..' segment"},
		{"..", "has a '..' segment"},
		{"a/.wh.b", "has a segment that starts with '.wh.'"},
		{".wh..wh..opq", "has a segment that starts with '.wh.'"},
		{"/", "names no file"},
	};
	AUTO(fixture) struct fixture f;
	char longest[5000];

	fixture_init(&f);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CHECK(add(&f, ENTRY_FILE, rows[i].path, NULL) != 0);
		CHECK_INT(f.err.code, ERR_FORMAT);
		CHECK_INT(f.err.at.line, 7);
		CHECK(strstr(f.err.msg, rows[i].why) != NULL);
	}
	memset(longest, 'a', sizeof(longest));
	longest[300] = '\0';
	CHECK(add(&f, ENTRY_FILE, longest, NULL) != 0);
	for (size_t i = 0; i < sizeof(longest); i++)
		longest[i] = i % 2 == 0 ? 'a' : '/';
	longest[4097] = '\0';
	CHECK(add(&f, ENTRY_FILE, longest, NULL) != 0);
	longest[4096] = '\0';
	CHECK(add(&f, ENTRY_FILE, longest, NULL) == 0);
	CHECK(add(&f, ENTRY_SYMLINK, "l", "") != 0);
	CHECK(add(&f, ENTRY_SYMLINK, "l", NULL) != 0);
	CHECK_INT(f.tree.n, 1);
}

static void order_is_of_bytes(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	add(&f, ENTRY_FILE, "b/\xc3\xa9", NULL);
	add(&f, ENTRY_FILE, "b/z", NULL);
	add(&f, ENTRY_FILE, "a/x/y", NULL);
	add(&f, ENTRY_FILE, "a-b", NULL);
	add(&f, ENTRY_FILE, "B", NULL);
	finish(&f);
	CHECK_STR(text(&f), "file B|dir a|file a-b|dir a/x|file a/x/y|dir b|file b/z|file b/\xc3\xa9");
	CHECK(f.tree.at[1].implied && f.tree.at[1].mode == 0755 && f.tree.at[1].mtime == 100);
}

static void an_asked_folder_wins_over_an_implied_one(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	CHECK(tree_add(&f.tree, &(struct entry){.path = "a", .type = ENTRY_DIR, .implied = true, .mode = 0755},
	               &f.err) == 0);
	CHECK(tree_add(&f.tree, &(struct entry){.path = "a", .type = ENTRY_DIR, .mode = 01777}, &f.err) == 0);
	add(&f, ENTRY_FILE, "a/b", NULL);
	finish(&f);
	CHECK_STR(text(&f), "dir a|file a/b");
	CHECK_INT(f.tree.at[0].mode, 01777);
	CHECK(!f.tree.at[0].implied);
	CHECK_INT(f.diags.n, 0);
}

static void folders_that_disagree_are_a_problem(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	add(&f, ENTRY_DIR, "a", NULL);
	add(&f, ENTRY_DIR, "a", NULL);
	finish(&f);
	CHECK_INT(f.diags.n, 0);
	CHECK(tree_add(&f.tree, &(struct entry){.path = "a", .type = ENTRY_DIR, .mode = 0700}, &f.err) == 0);
	finish(&f);
	CHECK_INT(f.diags.n_errors, 1);
	CHECK(strstr(f.diags.at[0].message, "0755 0:0 (s.yaml:7:3) and 0700 0:0") != NULL);
}

static void two_files_of_one_path_are_a_problem_naming_both(void)
{
	AUTO(fixture) struct fixture f;
	struct entry one = {.path = "x", .content = CONTENT_PATH, .source = "one", .size = 3};
	struct entry two = {.path = "x", .content = CONTENT_PATH, .source = "two", .size = 3};

	fixture_init(&f);
	one.at = (struct srcpos){"s.yaml", 2, 5, 1};
	two.at = (struct srcpos){"s.yaml", 4, 5, 1};
	CHECK(tree_add(&f.tree, &one, &f.err) == 0 && tree_add(&f.tree, &one, &f.err) == 0);
	finish(&f);
	CHECK_INT(f.diags.n, 0);
	CHECK_INT(f.tree.n, 1);
	CHECK(tree_add(&f.tree, &two, &f.err) == 0);
	finish(&f);
	CHECK_INT(f.diags.n_errors, 1);
	CHECK_INT(f.diags.at[0].at.line, 4);
	CHECK_STR(f.diags.at[0].message, "layer 'test': '/x' comes from two sources: a file ('one', s.yaml:2:5) "
	                                 "and a file ('two', s.yaml:4:5)");
}

static void the_same_inode_twice_is_one_file(void)
{
	AUTO(fixture) struct fixture f;
	struct entry e = {.path = "x", .content = CONTENT_PATH, .source = "one", .size = 3, .stamp = {1, 2, 3, 4}};

	fixture_init(&f);
	CHECK(tree_add(&f.tree, &e, &f.err) == 0);
	e.source = "./one";
	CHECK(tree_add(&f.tree, &e, &f.err) == 0);
	finish(&f);
	CHECK_INT(f.diags.n + f.tree.n, 1);
	e.mode = 04755;
	CHECK(tree_add(&f.tree, &e, &f.err) == 0);
	finish(&f);
	CHECK_INT(f.diags.n_errors, 1);
}

static void a_file_where_a_folder_is_needed_is_a_problem(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	add(&f, ENTRY_SYMLINK, "lib", "usr/lib");
	add(&f, ENTRY_FILE, "lib-x", NULL);
	add(&f, ENTRY_FILE, "lib/a/b", NULL);
	add(&f, ENTRY_FILE, "lib/c", NULL);
	add(&f, ENTRY_FILE, "lib0", NULL);
	finish(&f);
	CHECK_STR(text(&f), "symlink lib -> usr/lib|file lib-x|file lib0");
	CHECK_INT(f.diags.n, 1);
	CHECK(strstr(f.diags.at[0].message, "needs a folder where '/lib' (s.yaml:7:3) is a symbolic link") != NULL);
	CHECK_STR(f.diags.at[0].hint, "write the path that the link '/lib' -> 'usr/lib' leads to");
}

static void hard_links_point_to_the_first_name(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	add(&f, ENTRY_FILE, "m", NULL);
	f.tree.at[0].mode = 0751;
	f.tree.at[0].mtime = 9;
	add(&f, ENTRY_HARDLINK, "b", "/z");
	add(&f, ENTRY_HARDLINK, "z", "m");
	finish(&f);
	CHECK_STR(text(&f), "file b|link m -> b|link z -> b");
	CHECK_INT(f.diags.n, 0);
	for (size_t i = 0; i < 3; i++) {
		CHECK_INT(f.tree.at[i].mode, 0751);
		CHECK_INT(f.tree.at[i].mtime, 9);
		CHECK_INT(f.tree.at[i].size, i == 0 ? 3 : 0);
		CHECK((f.tree.at[i].bytes != NULL) == (i == 0));
	}
}

static void hard_links_to_nothing_are_problems(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	add(&f, ENTRY_HARDLINK, "a", "b");
	add(&f, ENTRY_HARDLINK, "b", "a");
	add(&f, ENTRY_HARDLINK, "c", "none");
	add(&f, ENTRY_HARDLINK, "d", "dir");
	add(&f, ENTRY_DIR, "dir", NULL);
	finish(&f);
	CHECK_STR(text(&f), "dir dir");
	CHECK_INT(f.diags.n_errors, 4);
}

static void read_all(struct fixture *f, const struct entry *e, struct strbuf *sb)
{
	struct source *s = NULL;

	CHECK_OK(tree_open_content(&f->tree, e, &s, &f->err), &f->err);
	if (s != NULL)
		CHECK_OK(stream_read_all(s, sb, &f->err), &f->err);
	source_close(s);
}

static void spooled_content_comes_back(void)
{
	AUTO(fixture) struct fixture f;
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);
	struct source *one = source_from_bytes("hello", 5), *two = source_from_bytes("\0\0\0\0", 4);
	int64_t a, b;

	fixture_init(&f);
	CHECK_OK(tree_spool(&f.tree, one, 5, &a, &f.err), &f.err);
	CHECK_OK(tree_spool(&f.tree, two, 4, &b, &f.err), &f.err);
	read_all(&f, &(struct entry){.path = "x", .content = CONTENT_SPOOL, .size = 4, .offset = b}, &sb);
	CHECK(sb.len == 4 && memcmp(sb.ptr, "\0\0\0\0", 4) == 0);
	strbuf_reset(&sb);
	read_all(&f, &(struct entry){.path = "x", .content = CONTENT_SPOOL, .size = 5, .offset = a}, &sb);
	CHECK_STR(strbuf_str(&sb), "hello");
	strbuf_reset(&sb);
	read_all(&f, &(struct entry){.path = "x", .content = CONTENT_NONE}, &sb);
	CHECK_INT(sb.len, 0);
	source_close(one);
	source_close(two);
}

static void spooling_verifies_the_size(void)
{
	AUTO(fixture) struct fixture f;
	static const int64_t sizes[] = {4, 6};

	fixture_init(&f);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct source *s = source_from_bytes("hello", 5);
		int64_t offset;

		f.err = (struct err){0};
		CHECK(tree_spool(&f.tree, s, sizes[i], &offset, &f.err) != 0);
		CHECK_INT(f.err.code, ERR_FORMAT);
		source_close(s);
	}
}

static void a_file_that_changes_its_size_is_a_conflict(void)
{
	AUTO(fixture) struct fixture f;
	char dir[4096], path[PATH_MAX];
	static const int64_t sizes[] = {4, 6};
	struct source *s = NULL;

	fixture_init(&f);
	test_tmpdir(dir);
	CHECK_OK(fs_join(path, dir, "x", &f.err), &f.err);
	CHECK_OK(fs_write_file(path, "hello", 5, 0644, &f.err), &f.err);
	struct entry e = {.path = "x", .content = CONTENT_PATH, .source = path};

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		e.size = sizes[i];
		f.err = (struct err){0};
		CHECK(tree_open_content(&f.tree, &e, &s, &f.err) != 0);
		CHECK_INT(f.err.code, ERR_CONFLICT);
	}
	e.size = 5;
	/* Changed after it was opened: grown, then cut. */
	for (int grow = 1; grow >= 0; grow--) {
		AUTO(strbuf) struct strbuf sb = STRBUF_INIT(100);

		CHECK(truncate(path, 5) == 0);
		f.err = (struct err){0};
		CHECK_OK(tree_open_content(&f.tree, &e, &s, &f.err), &f.err);
		CHECK(truncate(path, grow ? 6 : 3) == 0);
		CHECK(stream_read_all(s, &sb, &f.err) != 0);
		CHECK_INT(f.err.code, ERR_CONFLICT);
		source_close(s);
	}
	CHECK_OK(fs_remove_tree(dir, &f.err), &f.err);
	f.err = (struct err){0};
	CHECK(tree_open_content(&f.tree, &e, &s, &f.err) != 0);
	CHECK_INT(f.err.code, ERR_CONFLICT);
}

static void a_large_tree_is_sorted(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	for (unsigned i = 0; i < 50000; i++) {
		unsigned k = i * 7919 % 50000;

		add(&f, ENTRY_FILE, arena_printf(&f.arena, "d%u/e%u/f%u", k % 100, k / 100 % 50, k), NULL);
	}
	finish(&f);
	for (size_t i = 1; i < f.tree.n; i++)
		if (strcmp(f.tree.at[i - 1].path, f.tree.at[i].path) >= 0)
			CHECK(!"in order");
	CHECK_INT(f.tree.n, 50000 + 100 + 100 * 50);
	CHECK_INT(tree_bytes(&f.tree), 150000);
}

int main(void)
{
	TEST("tree: paths are cleaned, the root is no entry", paths_are_cleaned);
	TEST("tree: bad paths are refused with position", bad_paths_are_refused);
	TEST("tree: entries are sorted by bytes, missing parents are made", order_is_of_bytes);
	TEST("tree: an asked-for folder wins over an implied one", an_asked_folder_wins_over_an_implied_one);
	TEST("tree: folders that disagree are a problem", folders_that_disagree_are_a_problem);
	TEST("tree: two files of one path are a problem naming both",
	     two_files_of_one_path_are_a_problem_naming_both);
	TEST("tree: the same inode twice is one file", the_same_inode_twice_is_one_file);
	TEST("tree: a file where a folder is needed is a problem", a_file_where_a_folder_is_needed_is_a_problem);
	TEST("tree: hard links point to the first name in order", hard_links_point_to_the_first_name);
	TEST("tree: hard links to nothing, folders and each other are problems",
	     hard_links_to_nothing_are_problems);
	TEST("tree: spooled content comes back", spooled_content_comes_back);
	TEST("tree: spooling verifies the size", spooling_verifies_the_size);
	TEST("tree: a file that changes its size is a conflict", a_file_that_changes_its_size_is_a_conflict);
	TEST("tree: a large tree is sorted", a_large_tree_is_sorted);
	return test_done();
}
