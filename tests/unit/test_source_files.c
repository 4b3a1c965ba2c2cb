/* source_files: what of a folder on disk becomes which entry. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/xattr.h>

#include "base/fs.h"
#include "builder/layer/source/sources.h"
#include "builder/layer/tree/xattr.h"
#include "tests/harness.h"

struct fixture {
	struct arena arena;
	struct tree tree;
	struct diags diags;
	struct err err;
	char dir[4096];
};

static void fixture_init(struct fixture *f)
{
	*f = (struct fixture){0};
	test_tmpdir(f->dir);
	tree_init(&f->tree, &f->arena, "test", 1000);
}

static void fixture_done(struct fixture *f)
{
	struct err err = {0};

	CHECK_OK(fs_remove_tree(f->dir, &err), &err);
	tree_done(&f->tree);
	diags_done(&f->diags);
	arena_done(&f->arena);
}

static const char *at(struct fixture *f, const char *name)
{
	return arena_printf(&f->arena, "%s/%s", f->dir, name);
}

static void file(struct fixture *f, const char *name, mode_t mode)
{
	const char *path = at(f, name);
	char *folder = arena_strdup(&f->arena, path);

	*strrchr(folder, '/') = '\0';
	CHECK_OK(fs_mkdirs(folder, &f->err), &f->err);
	CHECK_OK(fs_write_file(path, name, strlen(name), mode, &f->err), &f->err);
}

static void folder(struct fixture *f, const char *name)
{
	CHECK_OK(fs_mkdirs(at(f, name), &f->err), &f->err);
}

static void link_to(struct fixture *f, const char *target, const char *name)
{
	CHECK(symlink(target, at(f, name)) == 0);
}

static struct layer_files item(struct fixture *f, const char *from, const char *to)
{
	return (struct layer_files){.at = {"s.yaml", 5, 9, 1},
	                            .from = from != NULL ? at(f, from) : NULL,
	                            .to = to,
	                            .mode = -1,
	                            .dir_mode = -1};
}

static void add(struct fixture *f, const struct layer_files *i)
{
	CHECK_OK(source_files_add(&f->tree, i, &f->diags, &f->err), &f->err);
}

/* "etc/|etc/x|etc/y -> x|etc/z = etc/x" of the finished tree; folders end in '/', implied ones in '//'. */
static const char *text(struct fixture *f)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);

	CHECK_OK(tree_finish(&f->tree, &f->diags, &f->err), &f->err);
	for (size_t i = 0; i < f->tree.n; i++) {
		const struct entry *e = &f->tree.at[i];

		strbuf_addf(&sb, "%s%s", i > 0 ? "|" : "", e->path);
		if (e->type == ENTRY_DIR)
			strbuf_adds(&sb, e->implied ? "//" : "/");
		else if (e->type != ENTRY_FILE)
			strbuf_addf(&sb, " %s %s", e->type == ENTRY_SYMLINK ? "->" : "=", e->link);
	}
	return arena_strdup(&f->arena, strbuf_str(&sb));
}

static const struct entry *entry(struct fixture *f, const char *path)
{
	static const struct entry none = {.path = "missing"};

	for (size_t i = 0; i < f->tree.n; i++)
		if (strcmp(f->tree.at[i].path, path) == 0)
			return &f->tree.at[i];
	CHECK(!"entry exists");
	return &none;
}

static const char *problem(struct fixture *f)
{
	return f->diags.n > 0 ? f->diags.at[0].message : "none";
}

static bool says(struct fixture *f, const char *what)
{
	bool found = strstr(problem(f), what) != NULL;

	if (!found)
		printf("# problem: %s\n", problem(f));
	return found && f->diags.at[0].at.line == 5;
}

static void where_things_land(void)
{
	static const struct {
		const char *from, *to, *want;
	} rows[] = {
		{"d/a.txt", "/usr/x", "usr//|usr/x"},
		{"d/a.txt", "/usr/", "usr//|usr/a.txt"},
		{"d/a.txt", "/", "a.txt"},
		{"d", "/etc", "etc//|etc/a.txt|etc/b.so|etc/sub/|etc/sub/c.so"},
		{"d/", "/etc/app/", "etc//|etc/app//|etc/app/a.txt|etc/app/b.so|etc/app/sub/|etc/app/sub/c.so"},
		{"d", "/", "a.txt|b.so|sub/|sub/c.so"},
		{"d/*.so", "/lib", "lib//|lib/b.so"},
		{"d/**/*.so", "/lib/", "lib//|lib/b.so|lib/c.so"},
		{"d/*", "/x", "x//|x/a.txt|x/b.so|x/sub/|x/sub/c.so"},
		{"d/*/", "/x", "x//|x/sub/|x/sub/c.so"},
		{"*/sub/c.[a-z]o", "/x", "x//|x/c.so"},
		{"d/s?b", "/x", "x//|x/sub/|x/sub/c.so"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(fixture) struct fixture f;

		fixture_init(&f);
		file(&f, "d/a.txt", 0644);
		file(&f, "d/b.so", 0644);
		file(&f, "d/sub/c.so", 0644);
		struct layer_files it = item(&f, rows[i].from, rows[i].to);

		add(&f, &it);
		CHECK_STR(text(&f), rows[i].want);
		CHECK_INT(f.diags.n, 0);
	}
}

static void modes_and_owners(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	file(&f, "d/run", 0744);
	file(&f, "d/odd", 0640);
	file(&f, "d/suid", 0644);
	CHECK(chmod(at(&f, "d/suid"), 06755) == 0);
	folder(&f, "d/sub");
	CHECK(chmod(at(&f, "d/sub"), 01700) == 0);
	struct layer_files it = item(&f, "d", "/a");

	add(&f, &it);
	it.to = "/b";
	it.mode = 04750;
	it.dir_mode = 0700;
	it.owner = (struct layer_owner){65532, 7};
	add(&f, &it);
	text(&f);
	CHECK_INT(entry(&f, "a/run")->mode, 0755);
	CHECK_INT(entry(&f, "a/odd")->mode, 0644);
	CHECK_INT(entry(&f, "a/suid")->mode, 0755);
	CHECK_INT(entry(&f, "a/sub")->mode, 0755);
	CHECK_INT(entry(&f, "a/run")->uid, 0);
	CHECK_INT(entry(&f, "b/odd")->mode, 04750);
	CHECK_INT(entry(&f, "b/sub")->mode, 0700);
	CHECK_INT(entry(&f, "b")->mode, 0700);
	CHECK_INT(entry(&f, "b")->uid, 65532);
	CHECK_INT(entry(&f, "b/odd")->gid, 7);
}

static void times_are_clamped(void)
{
	AUTO(fixture) struct fixture f;
	const struct timespec old[2] = {{500, 7}, {500, 7}};

	fixture_init(&f);
	file(&f, "d/new", 0644);
	file(&f, "d/old", 0644);
	CHECK(utimensat(AT_FDCWD, at(&f, "d/old"), old, 0) == 0);
	struct layer_files it = item(&f, "d", "/");

	add(&f, &it);
	text(&f);
	CHECK_INT(entry(&f, "new")->mtime, 1000);
	CHECK_INT(entry(&f, "old")->mtime, 500);
	CHECK_INT(entry(&f, "old")->stamp.mtime_ns, INT64_C(500000000007));
	CHECK(entry(&f, "old")->stamp.ino != 0);
	CHECK_INT(entry(&f, "old")->content, CONTENT_PATH);
	CHECK_STR(entry(&f, "old")->source, at(&f, "d/old"));
}

static void include_and_exclude(void)
{
	static const struct {
		const char *include, *exclude, *want;
	} rows[] = {
		{NULL, "*.o", "a.c|keep/|keep/b.c|skip/|skip/d.c|skip/deep/|skip/deep/e.c"},
		{NULL, "skip", "a.c|a.o|keep/|keep/b.c|keep/c.o"},
		{NULL, "/skip/", "a.c|a.o|keep/|keep/b.c|keep/c.o"},
		{NULL, "a.c/", "a.c|a.o|keep/|keep/b.c|keep/c.o|skip/|skip/d.c|skip/deep/|skip/deep/e.c"},
		{"*.o", NULL, "a.o|keep//|keep/c.o"},
		{"skip/deep", NULL, "skip//|skip/deep/|skip/deep/e.c"},
		{"keep", "c.o", "keep/|keep/b.c"},
		{"/*.c", NULL, "a.c"},
		{"**/e.c", "skip", ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(fixture) struct fixture f;

		fixture_init(&f);
		file(&f, "d/a.c", 0644);
		file(&f, "d/a.o", 0644);
		file(&f, "d/keep/b.c", 0644);
		file(&f, "d/keep/c.o", 0644);
		file(&f, "d/skip/d.c", 0644);
		file(&f, "d/skip/deep/e.c", 0644);
		struct layer_files it = item(&f, "d", "/");
		const char *include[] = {rows[i].include}, *exclude[] = {rows[i].exclude};

		it.include = (struct strlist){include, rows[i].include != NULL};
		it.exclude = (struct strlist){exclude, rows[i].exclude != NULL};
		add(&f, &it);
		CHECK_STR(text(&f), rows[i].want);
		CHECK_INT(f.diags.n_errors, rows[i].want[0] == '\0');
	}
}

static void an_excluded_folder_is_not_entered(void)
{
	AUTO(fixture) struct fixture f;
	const char *exclude[] = {"bad"};

	fixture_init(&f);
	folder(&f, "d/bad");
	CHECK(mkfifo(at(&f, "d/bad/fifo"), 0644) == 0);
	struct layer_files it = item(&f, "d", "/");

	it.exclude = (struct strlist){exclude, 1};
	add(&f, &it);
	CHECK_INT(f.diags.n, 0);
}

static void symbolic_links_are_kept(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	file(&f, "d/x", 0644);
	link_to(&f, "/nowhere/at/all", "d/abs");
	link_to(&f, "../../..", "d/up");
	link_to(&f, "d", "l");
	struct layer_files it = item(&f, "d", "/o");

	add(&f, &it);
	it = item(&f, "l", "/p");
	add(&f, &it);
	it = item(&f, "l/", "/q");
	add(&f, &it);
	CHECK_STR(text(&f), "o//|o/abs -> /nowhere/at/all|o/up -> ../../..|o/x|p -> d|"
	                    "q//|q/abs -> /nowhere/at/all|q/up -> ../../..|q/x");
	CHECK_INT(entry(&f, "o/abs")->mode, 0777);
	CHECK_INT(f.diags.n, 0);
}

static void symbolic_links_are_followed_inside(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	file(&f, "d/real/x", 0755);
	link_to(&f, "real", "d/dir");
	link_to(&f, "dir/x", "d/file");
	struct layer_files it = item(&f, "d", "/");

	it.follow = true;
	add(&f, &it);
	CHECK_STR(text(&f), "dir/|dir/x|file|real/|real/x");
	CHECK_INT(entry(&f, "file")->mode, 0755);
	CHECK_INT(entry(&f, "file")->size, 8);
	CHECK_INT(f.diags.n, 0);
}

static void links_that_leave_the_source_are_problems(void)
{
	static const struct {
		const char *target, *why;
	} rows[] = {
		{"../secret", "leaves the source"}, {"/etc/passwd", "leaves the source"},
		{"..", "leaves the source"},        {"none", "leads nowhere"},
		{"loop", "leads nowhere"},          {".", "leads back to a folder above it"},
		{"../d2/x", "leaves the source"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(fixture) struct fixture f;

		fixture_init(&f);
		file(&f, "secret", 0644);
		file(&f, "d2/x", 0644);
		folder(&f, "d");
		link_to(&f, rows[i].target, "d/loop");
		struct layer_files it = item(&f, "d", "/");

		it.follow = true;
		add(&f, &it);
		CHECK(says(&f, rows[i].why));
	}
}

static void hard_links_stay_hard_links(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	file(&f, "d/m", 0644);
	CHECK(link(at(&f, "d/m"), at(&f, "d/z")) == 0);
	folder(&f, "d/n");
	CHECK(link(at(&f, "d/m"), at(&f, "d/n/a")) == 0);
	struct layer_files it = item(&f, "d", "/");

	add(&f, &it);
	CHECK_STR(text(&f), "m|n/|n/a = m|z = m");
	/* Another item makes copies of its own. */
	it.to = "/b";
	add(&f, &it);
	CHECK_STR(text(&f), "b//|b/m|b/n/|b/n/a = b/m|b/z = b/m|m|n/|n/a = m|z = m");
	CHECK_INT(f.diags.n, 0);
}

static void many_hard_links(void)
{
	AUTO(fixture) struct fixture f;
	char name[64], other[64];

	fixture_init(&f);
	folder(&f, "d");
	for (int i = 0; i < 600; i++) {
		snprintf(name, sizeof(name), "d/%04d", i);
		snprintf(other, sizeof(other), "d/x%04d", i);
		CHECK(close(open(at(&f, name), O_CREAT | O_WRONLY, 0644)) == 0);
		CHECK(link(at(&f, name), at(&f, other)) == 0);
	}
	struct layer_files it = item(&f, "d", "/");

	add(&f, &it);
	text(&f);
	CHECK_INT(f.tree.n, 1200);
	CHECK_STR(entry(&f, "x0599")->link, "0599");
	CHECK_STR(entry(&f, "x0000")->link, "0000");
}

static void what_cannot_be_shipped(void)
{
	AUTO(fixture) struct fixture f;
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	fixture_init(&f);
	file(&f, "d/.wh.x", 0644);
	CHECK(mkfifo(at(&f, "d/pipe"), 0644) == 0);
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", at(&f, "d/socket"));
	CHECK(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	struct layer_files it = item(&f, "d", "/");

	add(&f, &it);
	CHECK_STR(text(&f), "");
	CHECK_INT(f.diags.n_errors, 2);
	CHECK(says(&f, "starts with '.wh.'"));
	CHECK(strstr(f.diags.at[1].message, "is a fifo") != NULL);
}

static void missing_sources_are_problems(void)
{
	static const struct {
		const char *from, *to, *why;
	} rows[] = {
		{"none", "/x", "does not exist"},  {"none/x", "/x", "does not exist"},
		{"none*", "/x", "nothing matches"}, {"none/*", "/x", "cannot be read"},
		{"f/", "/x", "cannot be read"},     {"f/x", "/x", "does not exist"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(fixture) struct fixture f;

		fixture_init(&f);
		file(&f, "f", 0644);
		struct layer_files it = item(&f, rows[i].from, rows[i].to);

		add(&f, &it);
		if (strcmp(rows[i].from, "f/") == 0)
			CHECK_INT(f.diags.n_errors, 1);
		else
			CHECK(says(&f, rows[i].why));
	}
}

static void unreadable_files_are_problems(void)
{
	AUTO(fixture) struct fixture f;
	bool root = geteuid() == 0;

	fixture_init(&f);
	file(&f, "d/secret", 0600);
	file(&f, "d/sub/x", 0644);
	CHECK(chmod(at(&f, "d/secret"), 0) == 0);
	CHECK(chmod(at(&f, "d/sub"), 0) == 0);
	CHECK(chmod(f.dir, 0755) == 0);
	struct layer_files it = item(&f, "d", "/");

	if (root && seteuid(65534) != 0)
		SKIP("cannot become another user");
	add(&f, &it);
	if (root)
		CHECK(seteuid(0) == 0);
	CHECK(chmod(at(&f, "d/sub"), 0755) == 0);
	CHECK_INT(f.diags.n_errors, 2);
	CHECK(says(&f, "secret': permission denied"));
	CHECK(f.diags.n == 2 && strstr(f.diags.at[1].message, "sub': permission denied") != NULL);
}

static void many_problems_are_cut_short(void)
{
	AUTO(fixture) struct fixture f;
	char name[64];

	fixture_init(&f);
	folder(&f, "d");
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "d/%03d", i);
		CHECK(mkfifo(at(&f, name), 0644) == 0);
	}
	struct layer_files it = item(&f, "d", "/");

	add(&f, &it);
	CHECK_INT(f.diags.n_errors, 20);
	CHECK_INT(f.diags.n, 21);
	/* In the order of names, not of the file system. */
	CHECK(strstr(f.diags.at[0].message, "/000' is a fifo") != NULL);
	CHECK(strstr(f.diags.at[19].message, "/019' is a fifo") != NULL);
}

static void names_are_bytes(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	file(&f, "d/caf\xe9", 0644);
	file(&f, "d/a\nb", 0644);
	struct layer_files it = item(&f, "d", "/");

	add(&f, &it);
	CHECK_STR(text(&f), "a\nb|caf\xe9");
	CHECK_INT(f.diags.n, 0);
}

static void links_and_folders_without_source(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	struct layer_files it = item(&f, NULL, "/usr/bin/sh");

	it.symlink = "../lib/busybox";
	it.owner = (struct layer_owner){1, 2};
	add(&f, &it);
	it = item(&f, NULL, NULL);
	it.directory = "/var/empty/";
	it.mode = 0700;
	add(&f, &it);
	CHECK_STR(text(&f), "usr//|usr/bin//|usr/bin/sh -> ../lib/busybox|var//|var/empty/");
	CHECK_INT(entry(&f, "usr/bin/sh")->gid, 2);
	CHECK_INT(entry(&f, "var/empty")->mode, 0700);
	it = item(&f, NULL, "/usr/bin/");
	it.symlink = "x";
	add(&f, &it);
	CHECK(says(&f, "names a folder"));
}

static void an_empty_folder_is_asked_for(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	folder(&f, "d");
	struct layer_files it = item(&f, "d", "/data");

	add(&f, &it);
	CHECK_STR(text(&f), "data/");
}

static void wanted_xattrs_are_kept(void)
{
	AUTO(fixture) struct fixture f;
	const char *globs[] = {"user.keep*"};

	fixture_init(&f);
	file(&f, "d/x", 0644);
	if (setxattr(at(&f, "d/x"), "user.keep2", "b", 1, 0) != 0)
		SKIP("no user attributes here");
	CHECK(setxattr(at(&f, "d/x"), "user.keep1", "a\0", 2, 0) == 0);
	CHECK(setxattr(at(&f, "d/x"), "user.other", "c", 1, 0) == 0);
	struct layer_files it = item(&f, "d", "/");

	add(&f, &it);
	text(&f);
	CHECK_INT(entry(&f, "x")->n_xattrs, 0);
	it.to = "/b";
	it.xattrs = (struct strlist){globs, 1};
	add(&f, &it);
	text(&f);
	const struct entry *e = entry(&f, "b/x");

	CHECK_INT(e->n_xattrs, 2);
	if (e->n_xattrs == 2) {
		CHECK_STR(e->xattrs[0].name, "user.keep1");
		CHECK_INT(e->xattrs[0].len, 2);
		CHECK_STR(e->xattrs[1].name, "user.keep2");
	}
}

static void capabilities_have_one_form(void)
{
	static const unsigned char v3[24] = {1, 0, 0, 3, 0, 4, 0, 0, [20] = 0xe8, 3};
	static const unsigned char v2[20] = {1, 0, 0, 2, 0, 4, 0, 0};
	struct arena a = {0};
	struct entry e = {.path = "x"};
	struct err err = {0};

	CHECK_OK(xattr_add(&e, &a, "user.z", "1", 1, &err), &err);
	CHECK_OK(xattr_add(&e, &a, "security.capability", v3, sizeof(v3), &err), &err);
	CHECK_OK(xattr_add(&e, &a, "user.z", "2", 1, &err), &err);
	CHECK_INT(e.n_xattrs, 2);
	CHECK_STR(e.xattrs[0].name, "security.capability");
	CHECK(e.xattrs[0].len == sizeof(v2) && memcmp(e.xattrs[0].value, v2, sizeof(v2)) == 0);
	CHECK(memcmp(e.xattrs[1].value, "2", 1) == 0);
	CHECK(xattr_add(&e, &a, "security.capability", v3, 20, &err) != 0);
	CHECK(xattr_add(&e, &a, "security.capability", v2, 19, &err) != 0);
	CHECK(xattr_add(&e, &a, "security.capability", "", 0, &err) != 0);
	CHECK(xattr_add(&e, &a, "user.a=b", "", 0, &err) != 0);
	CHECK_INT(e.n_xattrs, 2);
	arena_done(&a);
}

int main(void)
{
	TEST("files: where files, folders and globs land", where_things_land);
	TEST("files: modes are normalised, owners set", modes_and_owners);
	TEST("files: times are clamped, identity is kept", times_are_clamped);
	TEST("files: include and exclude", include_and_exclude);
	TEST("files: an excluded folder is not entered", an_excluded_folder_is_not_entered);
	TEST("files: symbolic links are kept as they are", symbolic_links_are_kept);
	TEST("files: symbolic links are followed inside the source", symbolic_links_are_followed_inside);
	TEST("files: followed links that leave, loop or dangle are problems",
	     links_that_leave_the_source_are_problems);
	TEST("files: hard links stay hard links within an item", hard_links_stay_hard_links);
	TEST("files: many hard links", many_hard_links);
	TEST("files: whiteouts and fifos are problems, sockets are skipped", what_cannot_be_shipped);
	TEST("files: missing sources are problems", missing_sources_are_problems);
	TEST("files: unreadable files and folders are problems", unreadable_files_are_problems);
	TEST("files: many problems are cut short", many_problems_are_cut_short);
	TEST("files: names are bytes", names_are_bytes);
	TEST("files: links and empty folders without a source", links_and_folders_without_source);
	TEST("files: an empty folder is asked for", an_empty_folder_is_asked_for);
	TEST("files: only wanted attributes are kept, sorted", wanted_xattrs_are_kept);
	TEST("files: capabilities have one form", capabilities_have_one_form);
	return test_done();
}
