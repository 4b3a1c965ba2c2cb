/* source_deb and source_layer: Debian packages, made by hand, and the order of sources. */
#include <archive.h>
#include <archive_entry.h>
#include <limits.h>

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
	char dir[4096], path[PATH_MAX];
	struct layer_path item;
	struct platform platform;
};

static void fixture_init(struct fixture *f)
{
	*f = (struct fixture){0};
	test_tmpdir(f->dir);
	CHECK_OK(fs_join(f->path, f->dir, "x.deb", &f->err), &f->err);
	tree_init(&f->tree, &f->arena, "test", 1000);
	f->item = (struct layer_path){.at = {"s.yaml", 5, 9, 1}, .path = f->path};
	CHECK_OK(platform_parse("linux/amd64", &f->platform, &f->err), &f->err);
}

static void fixture_done(struct fixture *f)
{
	struct err err = {0};

	CHECK_OK(fs_remove_tree(f->dir, &err), &err);
	tree_done(&f->tree);
	diags_done(&f->diags);
	arena_done(&f->arena);
}

static void xz(const struct strbuf *tar, struct strbuf *out)
{
	struct archive *a = archive_write_new();
	struct archive_entry *e = archive_entry_new();
	size_t cap = tar->len + 4096, used = 0;
	AUTO_FREE char *buf = mem_zalloc(cap);

	CHECK(archive_write_set_format_raw(a) == ARCHIVE_OK && archive_write_add_filter_xz(a) == ARCHIVE_OK);
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

static void ar_add(struct strbuf *ar, const char *name, const void *bytes, size_t len)
{
	strbuf_addf(ar, "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", name, 0, 0, 0, "100644", len);
	strbuf_add(ar, bytes, len);
	if (len % 2 == 1)
		strbuf_addc(ar, '\n');
}

static void control_tar(struct strbuf *out, const char *control)
{
	AUTO(strbuf) struct strbuf tar = STRBUF_INIT(MAX);

	tar_make_add(&tar, &(struct tar_make){.name = "./", .type = '5', .mode = 0755});
	tar_make_file(&tar, "./md5sums", "x");
	tar_make_file(&tar, "./control", control);
	tar_make_end(&tar);
	xz(&tar, out);
}

static void data_tar(struct strbuf *out)
{
	AUTO(strbuf) struct strbuf tar = STRBUF_INIT(MAX);

	tar_make_add(&tar, &(struct tar_make){.name = "./", .type = '5', .mode = 0755});
	tar_make_add(&tar, &(struct tar_make){.name = "./lib/", .type = '5', .mode = 0755});
	tar_make_file(&tar, "./lib/libx.so.1.0", "elf");
	tar_make_add(&tar, &(struct tar_make){.name = "./lib/libx.so.1", .type = '2', .link = "libx.so.1.0"});
	tar_make_end(&tar);
	xz(&tar, out);
}

#define CONTROL(arch) "Package: libx\nMulti-Arch: same\nVersion: 1:2.0-1\nArchitecture: " arch "\nDescription: x\n y\n"

static void make_deb(struct strbuf *deb, const char *control)
{
	AUTO(strbuf) struct strbuf a = STRBUF_INIT(MAX), b = STRBUF_INIT(MAX);

	control_tar(&a, control);
	data_tar(&b);
	strbuf_adds(deb, "!<arch>\n");
	ar_add(deb, "debian-binary", "2.0\n", 4);
	ar_add(deb, "_ignored", "odd", 3);
	ar_add(deb, "control.tar.xz", a.ptr, a.len);
	ar_add(deb, "data.tar.xz/", b.ptr, b.len);
}

static void read_bytes(struct fixture *f, const void *bytes, size_t len)
{
	f->diags.n = f->diags.n_errors = f->tree.n = 0;
	CHECK_OK(fs_write_file(f->path, bytes, len, 0644, &f->err), &f->err);
	CHECK_OK(source_deb_add(&f->tree, &f->item, &f->platform, &f->diags, &f->err), &f->err);
	CHECK_OK(tree_finish(&f->tree, &f->diags, &f->err), &f->err);
}

static const char *text(struct fixture *f)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(MAX);

	for (size_t i = 0; i < f->tree.n; i++)
		strbuf_addf(&sb, "%s%s", i > 0 ? "|" : "", f->tree.at[i].path);
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

static void a_package_lands_at_the_root(void)
{
	static const char *const controls[] = {CONTROL("amd64"), CONTROL("all"),
	                                       "PACKAGE:a\nversion:\t1\narchitecture:amd64 \r\n"};

	for (size_t i = 0; i < ARRAY_LEN(controls); i++) {
		AUTO(fixture) struct fixture f;
		AUTO(strbuf) struct strbuf deb = STRBUF_INIT(MAX);

		fixture_init(&f);
		make_deb(&deb, controls[i]);
		read_bytes(&f, deb.ptr, deb.len);
		CHECK_STR(text(&f), "lib|lib/libx.so.1|lib/libx.so.1.0");
		CHECK_INT(f.diags.n, 0);
	}
}

static void entries_know_their_package(void)
{
	AUTO(fixture) struct fixture f;
	AUTO(strbuf) struct strbuf deb = STRBUF_INIT(MAX);
	const struct entry_package *package;

	fixture_init(&f);
	make_deb(&deb, "Package: libx\nVersion: 1:2\nArchitecture: all\nSource: x (1:1)\n");
	read_bytes(&f, deb.ptr, deb.len);
	CHECK(f.tree.n > 0);
	for (size_t i = 0; i < f.tree.n; i++) {
		package = f.tree.at[i].package;
		CHECK((package == NULL) == f.tree.at[i].implied);
		if (package == NULL)
			continue;
		CHECK_STR(package->name, "libx");
		CHECK_STR(package->version, "1:2");
		CHECK_STR(package->source, "x (1:1)");
		CHECK(package->maintainer == NULL);
		CHECK_STR(package->file, f.path);
	}
}

static void architectures_are_compared(void)
{
	static const struct {
		const char *platform, *control;
		bool fits;
	} rows[] = {
		{"linux/arm64", CONTROL("arm64"), true},    {"linux/arm64", CONTROL("amd64"), false},
		{"linux/arm/v7", CONTROL("armhf"), true},   {"linux/386", CONTROL("i386"), true},
		{"linux/ppc64le", CONTROL("ppc64el"), true}, {"linux/amd64", CONTROL("arm64"), false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(fixture) struct fixture f;
		AUTO(strbuf) struct strbuf deb = STRBUF_INIT(MAX);

		fixture_init(&f);
		CHECK_OK(platform_parse(rows[i].platform, &f.platform, &f.err), &f.err);
		make_deb(&deb, rows[i].control);
		read_bytes(&f, deb.ptr, deb.len);
		CHECK_INT(f.diags.n_errors, !rows[i].fits);
		if (!rows[i].fits)
			check_problem(&f, "package libx 1:2.0-1 is for a");
	}
}

static void damaged_packages_are_problems(void)
{
	AUTO(fixture) struct fixture f;
	AUTO(strbuf) struct strbuf deb = STRBUF_INIT(MAX);

	fixture_init(&f);
	make_deb(&deb, CONTROL("amd64"));
	for (size_t cut = 0; cut < deb.len - 40; cut += 19) {
		read_bytes(&f, deb.ptr, cut);
		CHECK_INT(f.diags.n_errors, 1);
		CHECK_INT(f.tree.n, 0);
	}
	read_bytes(&f, "no package", 10);
	check_problem(&f, "not a Debian package: it is not an ar archive");
}

static void odd_packages_are_problems(void)
{
	AUTO(fixture) struct fixture f;
	AUTO(strbuf) struct strbuf control = STRBUF_INIT(MAX), data = STRBUF_INIT(MAX);
	const struct {
		const char *names[3];
		const char *version;
		const char *why;
	} rows[] = {
		{{"control.tar.xz", "data.tar.xz"}, "2.0\n", "first part is not debian-binary"},
		{{"debian-binary", "control.tar.xz", "data.tar.xz"}, "3.0\n", "package format 3.0"},
		{{"debian-binary", "data.tar.xz"}, "2.0\n", "has no control.tar"},
		{{"debian-binary", "control.tar.xz"}, "2.0\n", "has no data.tar"},
	};

	fixture_init(&f);
	control_tar(&control, CONTROL("amd64"));
	data_tar(&data);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO(strbuf) struct strbuf deb = STRBUF_INIT(MAX);

		strbuf_adds(&deb, "!<arch>\n");
		for (size_t k = 0; k < 3 && rows[i].names[k] != NULL; k++) {
			const struct strbuf *part = rows[i].names[k][0] == 'c' ? &control : &data;
			bool version = strcmp(rows[i].names[k], "debian-binary") == 0;

			ar_add(&deb, rows[i].names[k], version ? rows[i].version : part->ptr,
			       version ? 4 : part->len);
		}
		read_bytes(&f, deb.ptr, deb.len);
		check_problem(&f, rows[i].why);
	}
	AUTO(strbuf) struct strbuf deb = STRBUF_INIT(MAX);

	make_deb(&deb, "Package: x\nVersion: 1\n\nArchitecture: amd64\n");
	read_bytes(&f, deb.ptr, deb.len);
	check_problem(&f, "lacks Package, Version or Architecture");
}

static void a_layer_joins_its_sources(void)
{
	AUTO(fixture) struct fixture f;
	AUTO(strbuf) struct strbuf deb = STRBUF_INIT(MAX), tar = STRBUF_INIT(MAX);
	char tar_path[PATH_MAX];

	fixture_init(&f);
	make_deb(&deb, CONTROL("amd64"));
	tar_make_file(&tar, "usr/t", "1");
	tar_make_end(&tar);
	CHECK_OK(fs_join(tar_path, f.dir, "x.tar", &f.err), &f.err);
	CHECK_OK(fs_write_file(tar_path, tar.ptr, tar.len, 0644, &f.err), &f.err);
	CHECK_OK(fs_write_file(f.path, deb.ptr, deb.len, 0644, &f.err), &f.err);
	struct layer_files files[] = {{.from = tar_path, .to = "/etc/", .mode = -1, .dir_mode = -1}};
	struct layer_tar tars[] = {{.from = tar_path, .to = "/"}};
	const struct layer_spec layer = {.name = "l",
	                                 .files = files,
	                                 .n_files = 1,
	                                 .tars = tars,
	                                 .n_tars = 1,
	                                 .debs = &f.item,
	                                 .n_debs = 1};

	CHECK_OK(source_layer(&f.tree, &layer, &f.platform, NULL, &f.diags, &f.err), &f.err);
	CHECK_STR(text(&f), "etc|etc/x.tar|lib|lib/libx.so.1|lib/libx.so.1.0|usr|usr/t");
	CHECK_INT(f.diags.n, 0);
}

int main(void)
{
	TEST("deb: every entry knows the package that brought it", entries_know_their_package);
	TEST("deb source: a package lands at the root", a_package_lands_at_the_root);
	TEST("deb source: architectures are compared by Debian's names", architectures_are_compared);
	TEST("deb source: every cut is a problem", damaged_packages_are_problems);
	TEST("deb source: odd packages are problems", odd_packages_are_problems);
	TEST("sources: a layer joins its sources", a_layer_joins_its_sources);
	return test_done();
}
