/* source_tar: archives of users, good and hostile. */
#include <archive.h>
#include <archive_entry.h>
#include <limits.h>
#include <locale.h>

#include "base/fs.h"
#include "base/mem.h"
#include "builder/layer/source/sources.h"
#include "tests/harness.h"
#include "tests/tar_make.h"

enum { MAX = 16 << 20 };

struct fixture {
	struct arena arena;
	struct tree tree;
	struct diags diags;
	struct err err;
	struct strbuf tar;
	char dir[4096], path[PATH_MAX];
	struct layer_tar item;
};

static void fixture_init(struct fixture *f)
{
	*f = (struct fixture){.tar = STRBUF_INIT(MAX)};
	test_tmpdir(f->dir);
	CHECK_OK(fs_join(f->path, f->dir, "in.tar", &f->err), &f->err);
	tree_init(&f->tree, &f->arena, "test", 1000);
	f->item = (struct layer_tar){.at = {"s.yaml", 5, 9, 1}, .from = f->path, .to = "/"};
}

static void fixture_done(struct fixture *f)
{
	struct err err = {0};

	CHECK_OK(fs_remove_tree(f->dir, &err), &err);
	strbuf_done(&f->tar);
	tree_done(&f->tree);
	diags_done(&f->diags);
	arena_done(&f->arena);
}

static void read_bytes(struct fixture *f, const void *bytes, size_t len)
{
	CHECK_OK(fs_write_file(f->path, bytes, len, 0644, &f->err), &f->err);
	CHECK_OK(source_tar_add(&f->tree, &f->item, &f->diags, &f->err), &f->err);
	CHECK_OK(tree_finish(&f->tree, &f->diags, &f->err), &f->err);
}

static void read_tar(struct fixture *f)
{
	read_bytes(f, strbuf_str(&f->tar), f->tar.len);
}

/* "d//|d/f = content|d/s -> x|d/h == d/f" */
static const char *text(struct fixture *f)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(MAX);

	for (size_t i = 0; i < f->tree.n; i++) {
		const struct entry *e = &f->tree.at[i];
		struct source *s;

		strbuf_addf(&sb, "%s%s", i > 0 ? "|" : "", e->path);
		if (e->type == ENTRY_DIR)
			strbuf_adds(&sb, e->implied ? "//" : "/");
		else if (e->type != ENTRY_FILE)
			strbuf_addf(&sb, " %s %s", e->type == ENTRY_SYMLINK ? "->" : "==", e->link);
		else if (e->size > 0 && e->size < 100 &&
		         tree_open_content(&f->tree, e, &s, &f->err) == 0) {
			strbuf_adds(&sb, " = ");
			CHECK_OK(stream_read_all(s, &sb, &f->err), &f->err);
			source_close(s);
		}
	}
	return arena_strdup(&f->arena, strbuf_str(&sb));
}

static void check_problem(struct fixture *f, const char *what)
{
	CHECK_INT(f->diags.n_errors, 1);
	if (f->diags.n == 0)
		return;
	CHECK_INT(f->diags.at[0].at.line, 5);
	if (strstr(f->diags.at[0].message, what) == NULL)
		CHECK_STR(f->diags.at[0].message, what);
}

static void sample(struct strbuf *tar)
{
	tar_make_add(tar, &(struct tar_make){.name = "./", .type = '5', .mode = 0700});
	tar_make_add(tar, &(struct tar_make){.name = "./app/", .type = '5', .mode = 0750, .uid = 3, .gid = 4});
	tar_make_add(tar, &(struct tar_make){.name = "./app/run",
	                                     .type = '0',
	                                     .mode = 04755,
	                                     .uid = 1,
	                                     .gid = 2,
	                                     .mtime = 999,
	                                     .content = "go",
	                                     .len = 2});
	tar_make_add(tar, &(struct tar_make){.name = "./app/link", .type = '2', .link = "/etc/../x", .mtime = 2000});
	tar_make_add(tar, &(struct tar_make){.name = "./app/hard", .type = '1', .link = "./app/run"});
	tar_make_file(tar, "/app/lib/x", "");
	tar_make_end(tar);
}

static void members_become_entries(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	sample(&f.tar);
	read_tar(&f);
	CHECK_STR(text(&f), "app/|app/hard = go|app/lib//|app/lib/x|app/link -> /etc/../x|app/run == app/hard");
	CHECK_INT(f.tree.at[0].mode, 0750);
	CHECK_INT(f.tree.at[0].uid, 3);
	CHECK_INT(f.tree.at[1].mode, 04755);
	CHECK_INT(f.tree.at[1].gid, 2);
	CHECK_INT(f.tree.at[1].mtime, 999);
	CHECK_INT(f.tree.at[4].mtime, 1000);
	CHECK_INT(f.tree.at[4].mode, 0777);
	CHECK_INT(f.diags.n, 0);
}

static void to_strip_include_exclude(void)
{
	static const struct {
		const char *to, *include, *exclude;
		int64_t strip;
		const char *want;
	} rows[] = {
		{"/opt/", NULL, NULL, 0, "opt//|opt/a/|opt/a/b/|opt/a/b/c = 1|opt/a/d.txt = 2|opt/e = 3"},
		{"/", NULL, NULL, 1, "b/|b/c = 1|d.txt = 2"},
		{"/x", NULL, NULL, 2, "x//|x/c = 1"},
		{"/", "*.txt", NULL, 0, "a//|a/d.txt = 2"},
		{"/", "a/b", NULL, 1, "b/|b/c = 1"},
		{"/", NULL, "b", 0, "a/|a/d.txt = 2|e = 3"},
		{"/", "/e", NULL, 0, "e = 3"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(fixture) struct fixture f;
		const char *include[] = {rows[i].include}, *exclude[] = {rows[i].exclude};

		fixture_init(&f);
		tar_make_add(&f.tar, &(struct tar_make){.name = "a/", .type = '5', .mode = 0755});
		tar_make_add(&f.tar, &(struct tar_make){.name = "a/b/", .type = '5', .mode = 0755});
		tar_make_file(&f.tar, "a/b/c", "1");
		tar_make_file(&f.tar, "a/d.txt", "2");
		tar_make_file(&f.tar, "e", "3");
		tar_make_end(&f.tar);
		f.item.to = rows[i].to;
		f.item.strip = rows[i].strip;
		f.item.include = (struct strlist){include, rows[i].include != NULL};
		f.item.exclude = (struct strlist){exclude, rows[i].exclude != NULL};
		read_tar(&f);
		CHECK_STR(text(&f), rows[i].want);
		CHECK_INT(f.diags.n, 0);
	}
}

static void compress_as(const struct strbuf *tar, int (*filter)(struct archive *), struct strbuf *out)
{
	struct archive *a = archive_write_new();
	struct archive_entry *e = archive_entry_new();
	size_t cap = tar->len + (1 << 20), used = 0;
	AUTO_FREE char *buf = mem_zalloc(cap);

	CHECK(archive_write_set_format_raw(a) == ARCHIVE_OK && filter(a) == ARCHIVE_OK);
	archive_write_set_bytes_in_last_block(a, 1);
	CHECK(archive_write_open_memory(a, buf, cap, &used) == ARCHIVE_OK);
	archive_entry_set_filetype(e, S_IFREG);
	CHECK(archive_write_header(a, e) == ARCHIVE_OK);
	CHECK(archive_write_data(a, tar->ptr, tar->len) == (la_ssize_t)tar->len);
	CHECK(archive_write_close(a) == ARCHIVE_OK);
	archive_entry_free(e);
	archive_write_free(a);
	strbuf_add(out, buf, used);
}

static void every_compression_is_read_and_every_cut_noticed(void)
{
	static const struct {
		const char *name;
		int (*filter)(struct archive *);
	} rows[] = {
		{"gzip", archive_write_add_filter_gzip},   {"bzip2", archive_write_add_filter_bzip2},
		{"xz", archive_write_add_filter_xz},       {"zstd", archive_write_add_filter_zstd},
		{"lz4", archive_write_add_filter_lz4},     {"lzma", archive_write_add_filter_lzma},
		{"lzip", archive_write_add_filter_lzip},   {"compress", archive_write_add_filter_compress},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(fixture) struct fixture f;
		AUTO(strbuf) struct strbuf packed = STRBUF_INIT(MAX);
		char noise[3000];

		fixture_init(&f);
		for (size_t k = 0; k < sizeof(noise); k++)
			noise[k] = (char)(k * k * 31 >> 5);
		tar_make_file(&f.tar, "x", "1");
		tar_make_add(&f.tar, &(struct tar_make){.name = "y", .type = '0', .content = noise, .len = sizeof(noise)});
		tar_make_end(&f.tar);
		compress_as(&f.tar, rows[i].filter, &packed);
		CHECK(packed.len < f.tar.len);
		read_bytes(&f, packed.ptr, packed.len);
		CHECK_STR(text(&f), "x = 1|y");
		CHECK_INT(f.diags.n, 0);
		f.tree.n = 0;
		read_bytes(&f, packed.ptr, packed.len / 2);
		if (f.diags.n_errors != 1)
			printf("# not noticed: %s\n", rows[i].name);
		CHECK_INT(f.diags.n_errors, 1);
		CHECK_INT(f.tree.n, 0);
	}
}

static void hostile_members_are_problems(void)
{
	static const struct {
		struct tar_make m;
		const char *why;
	} rows[] = {
		{{.name = "../x", .type = '0'}, "has a '..' segment"},
		{{.name = "a/../../x", .type = '0'}, "has a '..' segment"},
		{{.name = "/../x", .type = '5'}, "has a '..' segment"},
		{{.name = "h", .type = '1', .link = "../x"}, "hard link that leaves the archive"},
		{{.name = "h", .type = '1', .link = "none"}, "which is not a file of the layer"},
		{{.name = "h", .type = '1', .link = "h"}, "which is not a file of the layer"},
		{{.name = "dev/null", .type = '3'}, "is a device node"},
		{{.name = "dev/sda", .type = '4'}, "is a device node"},
		{{.name = "p", .type = '6'}, "is a fifo"},
		{{.name = "p", .type = 'Z'}, "of an unknown type"},
		{{.name = "a/.wh.b", .type = '0'}, "starts with '.wh.'"},
		{{.name = "s", .type = '2', .link = ""}, "without a target"},
		{{.name = "s", .type = '0', .claim = 68719476737}, "more than 64 GiB"},
		{{.name = "", .type = '0'}, NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(fixture) struct fixture f;

		fixture_init(&f);
		unsigned char h[512];

		tar_make_header(&rows[i].m, h);
		if (rows[i].m.claim > 0) /* more than octal digits hold */
			memcpy(h + 124, "\x80\0\0\0\0\0\0\x10\0\0\0\x01", 12);
		tar_make_sum(h);
		strbuf_add(&f.tar, h, sizeof(h));
		tar_make_end(&f.tar);
		read_tar(&f);
		CHECK_INT(f.tree.n, 0);
		if (rows[i].why != NULL)
			check_problem(&f, rows[i].why);
	}
}

static void excluded_members_are_not_judged(void)
{
	AUTO(fixture) struct fixture f;
	const char *exclude[] = {"dev"};

	fixture_init(&f);
	tar_make_add(&f.tar, &(struct tar_make){.name = "dev/null", .type = '3'});
	tar_make_file(&f.tar, "x", "1");
	tar_make_end(&f.tar);
	f.item.exclude = (struct strlist){exclude, 1};
	read_tar(&f);
	CHECK_STR(text(&f), "x = 1");
	CHECK_INT(f.diags.n, 0);
}

static void the_last_member_of_a_path_counts(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	tar_make_file(&f.tar, "x", "old");
	tar_make_add(&f.tar, &(struct tar_make){.name = "h", .type = '1', .link = "x"});
	tar_make_file(&f.tar, "y", "one");
	tar_make_add(&f.tar, &(struct tar_make){.name = "y", .type = '2', .link = "x"});
	tar_make_file(&f.tar, "x", "new");
	tar_make_add(&f.tar, &(struct tar_make){.name = "i", .type = '1', .link = "x"});
	tar_make_end(&f.tar);
	read_tar(&f);
	CHECK_STR(text(&f), "h = old|i = new|x == i|y -> x");
	CHECK_INT(f.diags.n, 0);
}

static void wanted_xattrs_are_kept(void)
{
	AUTO(fixture) struct fixture f;
	const char *globs[] = {"security.*"};
	static const char cap[20] = {0, 0, 0, 2, 0, 4};

	fixture_init(&f);
	tar_make_pax(&f.tar, "SCHILY.xattr.user.x", "1", 1);
	tar_make_file(&f.tar, "a", "1");
	tar_make_pax(&f.tar, "SCHILY.xattr.security.capability", cap, sizeof(cap));
	tar_make_file(&f.tar, "b", "1");
	tar_make_end(&f.tar);
	f.item.xattrs = (struct strlist){globs, 1};
	read_tar(&f);
	CHECK_STR(text(&f), "a = 1|b = 1");
	CHECK_INT(f.tree.at[0].n_xattrs, 0);
	CHECK_INT(f.tree.at[1].n_xattrs, 1);
	strbuf_reset(&f.tar);
	tar_make_pax(&f.tar, "SCHILY.xattr.security.capability", cap, 5);
	tar_make_file(&f.tar, "c", "1");
	tar_make_end(&f.tar);
	read_tar(&f);
	check_problem(&f, "is not a file capability");
}

static void names_are_bytes_in_any_locale(void)
{
	AUTO(fixture) struct fixture f;

	setlocale(LC_ALL, "C");
	fixture_init(&f);
	tar_make_file(&f.tar, "caf\xe9", "1");
	tar_make_pax(&f.tar, "path", "gr\xc3\xbc\xc3\x9f", 6);
	tar_make_file(&f.tar, "x", "2");
	tar_make_pax(&f.tar, "path", "z\xff", 2);
	tar_make_file(&f.tar, "x", "3");
	tar_make_end(&f.tar);
	read_tar(&f);
	CHECK_STR(text(&f), "caf\xe9 = 1|gr\xc3\xbc\xc3\x9f = 2|z\xff = 3");
	CHECK_INT(f.diags.n, 0);
}

static void what_is_no_archive_is_a_problem(void)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *why;
	} rows[] = {
		{"", 0, "the archive is empty"},
		{"short", 5, "ends in the middle"},
		{"\x1f\x8b", 2, "ends in the middle"},
		{"BZh9garbage garbage garbage", 27, ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(fixture) struct fixture f;

		fixture_init(&f);
		read_bytes(&f, rows[i].bytes, rows[i].len);
		check_problem(&f, rows[i].why);
	}
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	for (int i = 0; i < 100; i++)
		strbuf_adds(&f.tar, "This is a text and no archive at all.\n");
	read_tar(&f);
	check_problem(&f, "checksum is wrong");
}

static void missing_archives_are_problems(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	CHECK_OK(source_tar_add(&f.tree, &f.item, &f.diags, &f.err), &f.err);
	check_problem(&f, "cannot be read: No such file");
	CHECK(f.diags.at[0].hint != NULL);
	f.item.from = f.dir;
	CHECK_OK(source_tar_add(&f.tree, &f.item, &f.diags, &f.err), &f.err);
	CHECK(strstr(f.diags.at[1].message, "is not a regular file") != NULL);
}

static void cut_archives_are_problems(void)
{
	AUTO(fixture) struct fixture f;

	fixture_init(&f);
	sample(&f.tar);
	read_bytes(&f, f.tar.ptr, 512 * 3 + 100);
	check_problem(&f, "ends in the middle");
	CHECK_INT(f.tree.n, 0);
	read_bytes(&f, f.tar.ptr, 512 * 4);
	CHECK_INT(f.diags.n, 2);
	CHECK_INT(f.diags.at[1].severity, DIAG_WARNING);
	CHECK_STR(text(&f), "app/|app/run = go");
}

static void nothing_included_is_a_problem(void)
{
	AUTO(fixture) struct fixture f;
	const char *include[] = {"nothing"};

	fixture_init(&f);
	sample(&f.tar);
	f.item.include = (struct strlist){include, 1};
	read_tar(&f);
	check_problem(&f, "no member of the archive is included");
}

int main(void)
{
	TEST("tar source: members become entries", members_become_entries);
	TEST("tar source: to, strip, include, exclude", to_strip_include_exclude);
	TEST("tar source: every compression is read, every cut noticed",
	     every_compression_is_read_and_every_cut_noticed);
	TEST("tar source: hostile members are problems", hostile_members_are_problems);
	TEST("tar source: excluded members are not judged", excluded_members_are_not_judged);
	TEST("tar source: the last member of a path counts", the_last_member_of_a_path_counts);
	TEST("tar source: only wanted attributes are kept", wanted_xattrs_are_kept);
	TEST("tar source: names are bytes in any locale", names_are_bytes_in_any_locale);
	TEST("tar source: what is no archive is a problem", what_is_no_archive_is_a_problem);
	TEST("tar source: missing archives are problems", missing_archives_are_problems);
	TEST("tar source: cut archives are problems", cut_archives_are_problems);
	TEST("tar source: nothing included is a problem", nothing_included_is_a_problem);
	return test_done();
}
