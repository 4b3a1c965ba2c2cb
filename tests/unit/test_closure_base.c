/* Closures above a base image, and plug-ins: made-up ELF files in a made-up sysroot, a base made of a
 * table. */
#include "tests/harness.h"

#include "base/fs.h"
#include "base/text.h"
#include "builder/layer/source/closure.h"
#include "tests/base_make.h"
#include "tests/elf_make.h"

#define MULTIARCH "/usr/lib/aarch64-linux-gnu"
#define LOADER    "/lib/ld-linux-aarch64.so.1"

static char top[4096];
static const char loader_dirs[] =
    "\0/lib/aarch64-linux-gnu/\0/usr/lib/aarch64-linux-gnu/\0/lib/\0/usr/lib/\0";

static const char *under(const char *path)
{
	static char full[4][8192];
	static unsigned next;
	char *out = full[next++ % 4];

	snprintf(out, sizeof(full[0]), "%s%s", top, path);
	return out;
}

static void put(const char *path, struct elf_make m)
{
	struct err err = {0};
	char dir[8192];

	snprintf(dir, sizeof(dir), "%s", under(path));
	*strrchr(dir, '/') = '\0';
	CHECK_OK(fs_mkdirs(dir, &err), &err);
	if (m.machine == 0)
		m.machine = EM_AARCH64;
	elf_make_file(&m, under(path));
}

/* /sr: loader, C library and libz for arm64, as Debian lays them out; /job/p needs both. */
static void begin(void)
{
	test_tmpdir(top);
	put("/sr" MULTIARCH "/ld-linux-aarch64.so.1",
	    (struct elf_make){.soname = "ld-linux-aarch64.so.1",
			      .extra = loader_dirs,
			      .extra_len = sizeof(loader_dirs)});
	CHECK(symlink("usr/lib", under("/sr/lib")) == 0);
	CHECK(symlink("aarch64-linux-gnu/ld-linux-aarch64.so.1",
		      under("/sr/usr/lib/ld-linux-aarch64.so.1")) == 0);
	put("/sr" MULTIARCH "/libc.so.6",
	    (struct elf_make){.soname = "libc.so.6",
			      .needed = {"ld-linux-aarch64.so.1"},
			      .defines = {"GLIBC_2.17", "GLIBC_2.36", "GLIBC_PRIVATE"}});
	put("/sr" MULTIARCH "/libz.so.1", (struct elf_make){.soname = "libz.so.1"});
	put("/job/p", (struct elf_make){.interpreter = LOADER,
					.needed = {"libz.so.1", "libc.so.6"},
					.need_library = "libc.so.6",
					.need_version = "GLIBC_2.36"});
}

struct result {
	struct arena arena;
	struct closure closure;
	struct diags diags;
	struct strbuf text;
	struct err err;
	int status;
};

static void result_done(struct result *r)
{
	struct err err = {0};

	diags_done(&r->diags);
	arena_done(&r->arena);
	strbuf_done(&r->text);
	CHECK_OK(fs_remove_tree(top, &err), &err);
}

static void compute(struct result *r, struct layer_closure item, struct base_files *base,
		    const char *provided)
{
	struct platform arm64;
	const struct strlist list = {&provided, provided != NULL};

	item.at = (struct srcpos){"spec.yaml", 3, 5, 1};
	const struct closure_request req = {.items = &item,
					    .n_items = 1,
					    .platform = &arm64,
					    .provided = &list,
					    .sysroot = under("/sr"),
					    .base = base};

	CHECK_OK(platform_parse("linux/arm64", &arm64, &r->err), &r->err);
	r->status = closure_compute(&req, &r->arena, &r->closure, &r->diags, &r->err);
	diags_text(&r->diags, false, &r->text);
}

static const struct closure_file *find(const struct result *r, const char *image)
{
	for (size_t i = 0; i < r->closure.n; i++)
		if (strcmp(r->closure.files[i].image, image) == 0)
			return &r->closure.files[i];
	return NULL;
}

static bool says(const struct result *r, const char *text)
{
	return strstr(strbuf_str(&r->text), text) != NULL;
}

/* ---- bases ---- */

static const char *libc_old[] = {"GLIBC_2.17", "GLIBC_2.31", "GLIBC_PRIVATE"};
static const char *libc_same[] = {"GLIBC_2.17", "GLIBC_2.36", "GLIBC_PRIVATE"};
static const char *libc_new[] = {"GLIBC_2.17", "GLIBC_2.36", "GLIBC_2.41", "GLIBC_PRIVATE"};
static const char *lib64[] = {"/lib64", "/usr/lib64"};
static const char *multiarch[] = {"/lib/aarch64-linux-gnu", MULTIARCH};
static const char *conf_d[] = {"a.conf", "b.txt"};

#define LIBC(versions)                                                                             \
	{                                                                                          \
		.machine = EM_AARCH64, .bits = 64, .dynamic = true, .soname = "libc.so.6",         \
		.defined = {(versions), sizeof(versions) / sizeof((versions)[0])}                  \
	}
static const struct elf_info old_libc = LIBC(libc_old), same_libc = LIBC(libc_same),
			     new_libc = LIBC(libc_new);
static const struct elf_info other = {.machine = EM_AARCH64, .bits = 64, .dynamic = true};
static const struct elf_info foreign = {.machine = EM_X86_64, .bits = 64, .dynamic = true};

#define DEBIAN(libc)                                                                               \
	{                                                                                          \
		{"/lib", .link = "usr/lib"}, {"/lib64", .link = "usr/lib64"},                      \
		    {"/usr/lib/ld-linux-aarch64.so.1",                                             \
		     .link = "/lib/aarch64-linux-gnu/ld-linux-aarch64.so.1"},                      \
		    {MULTIARCH "/ld-linux-aarch64.so.1", .elf = &other,                            \
		     .loader_dirs = {multiarch, 2}},                                               \
		    {MULTIARCH "/libc.so.6", .elf = &(libc)},                                      \
	}
static const struct base_row debian_old[] = DEBIAN(old_libc), debian_same[] = DEBIAN(same_libc),
			     debian_new[] = DEBIAN(new_libc);
static const struct base_row fedora[] = {
    {"/lib", .link = "usr/lib"},
    {"/lib64", .link = "usr/lib64"},
    {"/usr/lib/ld-linux-aarch64.so.1", .link = "../lib64/ld-linux-aarch64.so.1"},
    {"/usr/lib64/ld-linux-aarch64.so.1", .elf = &other, .loader_dirs = {lib64, 2}},
    {"/usr/lib64/libc.so.6", .elf = &same_libc},
};
static const struct base_row cached[] = {
    {LOADER, .elf = &other, .loader_dirs = {multiarch, 2}},
    {"/etc/ld.so.cache", .text = "a cache"},
    {"/etc/ld.so.conf", .text = "include /etc/ld.so.conf.d/*.conf\n"},
    {"/etc/ld.so.conf.d", .names = {conf_d, 2}},
    {"/etc/ld.so.conf.d/a.conf", .text = "/opt/vendor\n"},
    {"/etc/ld.so.conf.d/b.txt", .text = "/opt/not\n"},
    {"/opt/vendor/libz.so.1", .elf = &other},
    {"/opt/not/libc.so.6", .elf = &old_libc},
    {MULTIARCH "/libc.so.6", .elf = &foreign},
};

/* ---- landing ---- */

static void lands_behind_links(void)
{
	static const struct base_row rows[] = {
	    {"/lib64", .link = "usr/lib64"},	  {"/opt", .link = "/srv/../data"},
	    {"/data/app", .link = "app-2"},	  {"/round", .link = "round"},
	    {"/usr/lib64/x.so", .link = "y.so"},
	};
	static const struct {
		const char *from, *to;
	} cases[] = {{"lib64/ld.so", "usr/lib64/ld.so"},
		     {"usr/lib64/x.so", "usr/lib64/x.so"},
		     {"opt/app/lib/a.so", "data/app-2/lib/a.so"},
		     {"file", "file"},
		     {"new/folder/file", "new/folder/file"}};
	struct base_make base = BASE_MAKE(rows);
	AUTO(arena) struct arena a = {0};
	struct err err = {0};
	const char *path;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CHECK_OK(base_landing(&base.files, cases[i].from, &a, &path, &err), &err);
		CHECK_STR(path, cases[i].to);
	}
	CHECK_INT(base_landing(&base.files, "round/x", &a, &path, &err), -1);
	CHECK_INT(err.code, ERR_FORMAT);
	CHECK(strstr(err.msg, "base image 'debian:12'") != NULL);
}

static void plain_lands_behind_links(void)
{
	struct base_make base = BASE_MAKE(debian_same);
	struct result r = {0};

	begin();
	compute(&r, (struct layer_closure){.path = under("/job/p")}, &base.files, NULL);
	CHECK_INT(r.status, 0);
	CHECK_INT(r.diags.n, 0);
	CHECK_INT(r.closure.n, 3);
	CHECK(find(&r, "usr/lib/ld-linux-aarch64.so.1") != NULL);
	CHECK(find(&r, "usr/lib/aarch64-linux-gnu/libc.so.6") != NULL);
	result_done(&r);
}

static void warns_of_an_older_library(void)
{
	struct base_make base = BASE_MAKE(debian_new);
	struct result r = {0};

	begin();
	compute(&r, (struct layer_closure){.path = under("/job/p")}, &base.files, NULL);
	CHECK_INT(r.status, 0);
	CHECK_INT(r.diags.n, 1);
	CHECK_INT(r.diags.n_errors, 0);
	CHECK(says(&r, "packed libc.so.6 replaces a newer one of the base 'debian:12', which has "
		       "GLIBC_2.41"));
	result_done(&r);
}

static void warns_of_a_second_c_library(void)
{
	struct base_make base = BASE_MAKE(fedora);
	struct result r = {0};

	begin();
	compute(&r, (struct layer_closure){.path = under("/job/p")}, &base.files, NULL);
	CHECK_INT(r.diags.n, 1);
	CHECK_INT(r.diags.n_errors, 0);
	CHECK(says(&r, "has another at '/usr/lib64/libc.so.6': the loader may take the wrong one"));
	result_done(&r);
}

/* ---- on the base ---- */

static void takes_from_the_base(void)
{
	struct base_make base = BASE_MAKE(debian_same);
	struct result r = {0};

	begin();
	compute(&r, (struct layer_closure){.path = under("/job/p"), .on = CLOSURE_ON_BASE},
		&base.files, NULL);
	CHECK_INT(r.status, 0);
	CHECK_INT(r.diags.n, 0);
	CHECK_INT(r.closure.n, 1);
	CHECK(find(&r, "usr/lib/aarch64-linux-gnu/libz.so.1") != NULL);
	result_done(&r);
}

static void packs_where_the_bases_loader_looks(void)
{
	struct base_make base = BASE_MAKE(fedora);
	struct result r = {0};

	begin();
	compute(&r, (struct layer_closure){.path = under("/job/p"), .on = CLOSURE_ON_BASE},
		&base.files, NULL);
	CHECK_INT(r.diags.n, 0);
	CHECK_INT(r.closure.n, 1);
	CHECK(find(&r, "usr/lib64/libz.so.1") != NULL);
	result_done(&r);
}

static void reads_the_bases_configuration(void)
{
	struct base_make base = BASE_MAKE(cached);
	struct result r = {0};

	begin();
	compute(&r, (struct layer_closure){.path = under("/job/p"), .on = CLOSURE_ON_BASE},
		&base.files, NULL);
	CHECK_INT(r.diags.n, 0);
	/* libz is in a folder of the cache; the C library is for another machine, so it is packed. */
	CHECK_INT(r.closure.n, 1);
	CHECK(find(&r, "usr/lib/aarch64-linux-gnu/libc.so.6") != NULL);
	result_done(&r);
}

static void names_what_the_base_lacks(void)
{
	struct base_make base = BASE_MAKE(debian_old);
	struct result r = {0};

	begin();
	compute(&r, (struct layer_closure){.path = under("/job/p"), .on = CLOSURE_ON_BASE},
		&base.files, NULL);
	CHECK_INT(r.status, 0);
	CHECK_INT(r.diags.n_errors, 1);
	CHECK(says(&r, "spec.yaml:3:5: error"));
	CHECK(says(&r, "/job/p needs GLIBC_2.36 of libc.so.6; the base 'debian:12' has GLIBC_2.31 "
		       "at most"));
	CHECK(says(&r, "use a newer base"));
	result_done(&r);
}

static void needs_a_base_with_a_loader(void)
{
	static const struct base_row rows[] = {{"/lib", .link = "usr/lib"}};
	struct base_make base = BASE_MAKE(rows);
	struct result r = {0};

	begin();
	compute(&r, (struct layer_closure){.path = under("/job/p"), .on = CLOSURE_ON_BASE},
		&base.files, NULL);
	CHECK_INT(r.diags.n_errors, 1);
	CHECK(says(&r, "is started by '" LOADER "', which the base 'debian:12' does not have"));
	result_done(&r);

	r = (struct result){0};
	begin();
	compute(&r, (struct layer_closure){.path = under("/job/p"), .on = CLOSURE_ON_BASE}, NULL,
		NULL);
	CHECK_INT(r.diags.n_errors, 1);
	CHECK(says(&r, "the image has no base to stand on"));
	result_done(&r);
}

static void fails_with_the_base(void)
{
	struct base_make base = BASE_MAKE(debian_same);
	struct result r = {0};

	begin();
	base.broken = ERR_NETWORK;
	compute(&r, (struct layer_closure){.path = under("/job/p"), .on = CLOSURE_ON_BASE},
		&base.files, NULL);
	CHECK_INT(r.status, -1);
	CHECK_INT(r.err.code, ERR_NETWORK);
	result_done(&r);
}

static void leaves_out_a_provided_loader(void)
{
	struct result r = {0};

	begin();
	compute(&r, (struct layer_closure){.path = under("/job/p")}, NULL, "ld-linux-*");
	CHECK_INT(r.diags.n, 0);
	CHECK_INT(r.closure.n, 2);
	CHECK(find(&r, "lib/ld-linux-aarch64.so.1") == NULL);
	result_done(&r);
}

/* ---- globs and plug-ins ---- */

static void packs_plugins(void)
{
	struct layer_path plugin = {.at = {"spec.yaml", 9, 3, 1}, .path = "/lib/mods/**/p?.so"};
	struct result r = {0};

	begin();
	put("/sr/usr/lib/mods/deep/p1.so", (struct elf_make){.needed = {"libextra.so.1"}});
	put("/sr/usr/lib/mods/p2.so.5", (struct elf_make){.soname = "p2"});
	CHECK(symlink("p2.so.5", under("/sr/usr/lib/mods/p2.so")) == 0);
	put("/sr/usr/lib/mods/q3.so", (struct elf_make){.soname = "q3"});
	put("/sr" MULTIARCH "/libextra.so.1", (struct elf_make){.soname = "libextra.so.1"});
	compute(&r, (struct layer_closure){.path = under("/job/p"), .plugins = &plugin, .n_plugins = 1},
		NULL, NULL);
	CHECK_INT(r.diags.n, 0);
	CHECK(find(&r, "lib/mods/deep/p1.so") != NULL);
	CHECK(find(&r, "usr/lib/aarch64-linux-gnu/libextra.so.1") != NULL);
	CHECK(find(&r, "lib/mods/p2.so") != NULL && find(&r, "lib/mods/p2.so")->link != NULL);
	CHECK(find(&r, "lib/mods/p2.so.5") != NULL);
	CHECK(find(&r, "lib/mods/q3.so") == NULL);
	result_done(&r);
}

static void a_plugins_problem_has_its_place(void)
{
	struct layer_path plugins[] = {
	    {.at = {"spec.yaml", 9, 3, 1}, .path = "/usr/lib/none/*.so"},
	    {.at = {"spec.yaml", 10, 3, 1}, .path = "/usr/lib/mods/wrong.so"},
	    {.at = {"spec.yaml", 11, 3, 1}, .path = "/usr/lib/mods/text.so"},
	    {.at = {"spec.yaml", 12, 3, 1}, .path = "/usr/lib/mods/needy.so"},
	    {.at = {"spec.yaml", 13, 3, 1}, .path = "/usr/lib/mods/out.so"},
	};
	struct result r = {0};
	struct err err = {0};

	begin();
	put("/sr/usr/lib/mods/wrong.so", (struct elf_make){.machine = EM_X86_64});
	put("/sr/usr/lib/mods/needy.so", (struct elf_make){.needed = {"libgone.so.1"}});
	put("/job/out.so", (struct elf_make){.soname = "out"});
	CHECK(symlink(under("/job/out.so"), under("/sr/usr/lib/mods/out.so")) == 0);
	CHECK_OK(fs_write_file(under("/sr/usr/lib/mods/text.so"), "text\n", 5, 0644, &err), &err);
	compute(&r,
		(struct layer_closure){
		    .path = under("/job/p"), .plugins = plugins, .n_plugins = ARRAY_LEN(plugins)},
		NULL, NULL);
	CHECK_INT(r.diags.n_errors, 5);
	CHECK(says(&r, "spec.yaml:9:3: error: closure: no plug-in matches"));
	CHECK(says(&r, "spec.yaml:10:3: error: closure: plug-in '/usr/lib/mods/wrong.so' is x86-64"));
	CHECK(says(&r, "spec.yaml:11:3: error: closure: plug-in '/usr/lib/mods/text.so'"));
	CHECK(says(&r, "spec.yaml:12:3: error: closure: 'libgone.so.1', needed by"));
	CHECK(says(&r, "/job/p -> /usr/lib/mods/needy.so, not found in"));
	CHECK(says(&r, "spec.yaml:13:3: error: closure: no plug-in matches"));
	result_done(&r);
}

static void globs_of_programs(void)
{
	struct result r = {0};

	begin();
	put("/job/deep/q", (struct elf_make){.interpreter = LOADER, .needed = {"libgone.so.2"}});
	compute(&r, (struct layer_closure){.path = under("/job/*")}, NULL, NULL);
	CHECK_INT(r.diags.n, 0);
	CHECK_INT(r.closure.n, 3);
	result_done(&r);

	r = (struct result){0};
	begin();
	compute(&r, (struct layer_closure){.path = under("/job/x*")}, NULL, NULL);
	CHECK_INT(r.diags.n_errors, 1);
	CHECK(says(&r, "spec.yaml:3:5: error: closure: no program matches"));
	result_done(&r);

	r = (struct result){0};
	begin();
	put("/job/x[1]", (struct elf_make){.interpreter = LOADER, .needed = {"libz.so.1"}});
	compute(&r, (struct layer_closure){.path = under("/job/x[1]")}, NULL, NULL);
	CHECK_INT(r.diags.n, 0);
	CHECK_INT(r.closure.n, 2);
	result_done(&r);
}

int main(void)
{
	TEST("base files: a file lands behind the base's links, dangling ones too",
	     lands_behind_links);
	TEST("closure: above a base it lands where the links lead", plain_lands_behind_links);
	TEST("closure: a packed library older than the base's is a warning",
	     warns_of_an_older_library);
	TEST("closure: a second C library beside the base's is a warning",
	     warns_of_a_second_c_library);
	TEST("closure: on the base, what it brings is not packed", takes_from_the_base);
	TEST("closure: on the base, the rest is packed where its loader looks",
	     packs_where_the_bases_loader_looks);
	TEST("closure: the folders of the base's ld.so.conf count when it has a cache",
	     reads_the_bases_configuration);
	TEST("closure: a version that the base lacks is an error about the base",
	     names_what_the_base_lacks);
	TEST("closure: 'on: base' needs a base that has the loader", needs_a_base_with_a_loader);
	TEST("closure: a base that cannot be read ends the search", fails_with_the_base);
	TEST("closure: a loader that the node provides is left out", leaves_out_a_provided_loader);
	TEST("closure: plug-ins keep their path and bring what they need", packs_plugins);
	TEST("closure: a plug-in's problem is said at its own place",
	     a_plugins_problem_has_its_place);
	TEST("closure: a path may be a glob of programs", globs_of_programs);
	return test_done();
}
