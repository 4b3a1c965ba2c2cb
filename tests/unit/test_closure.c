/* Most tests search a made-up sysroot of made-up ELF files, so they say the same on every machine.
 */
#include "tests/harness.h"

#include "base/fs.h"
#include "base/text.h"
#include "builder/layer/source/closure.h"
#include "builder/layer/source/sources.h"
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

/* Writes an ELF file below the top, with the folders it needs. */
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

static void put_link(const char *target, const char *path)
{
	CHECK(symlink(target, under(path)) == 0);
}

/* /sr: a merged-usr Debian for arm64 with loader and C library; /job: where programs are built. */
static void begin(void)
{
	struct err err = {0};

	test_tmpdir(top);
	CHECK_OK(fs_mkdirs(under("/job"), &err), &err);
	put("/sr" MULTIARCH "/ld-linux-aarch64.so.1",
	    (struct elf_make){.soname = "ld-linux-aarch64.so.1",
			      .extra = loader_dirs,
			      .extra_len = sizeof(loader_dirs)});
	put_link("usr/lib", "/sr/lib");
	put_link("aarch64-linux-gnu/ld-linux-aarch64.so.1", "/sr/usr/lib/ld-linux-aarch64.so.1");
	put("/sr" MULTIARCH "/libc.so.6", (struct elf_make){.soname = "libc.so.6",
							    .interpreter = LOADER,
							    .needed = {"ld-linux-aarch64.so.1"}});
}

struct result {
	struct arena arena;
	struct closure closure;
	struct diags diags;
	struct strbuf text;
};

static void result_done(struct result *r)
{
	struct err err = {0};

	diags_done(&r->diags);
	arena_done(&r->arena);
	strbuf_done(&r->text);
	CHECK_OK(fs_remove_tree(top, &err), &err);
}

static void compute(struct result *r, const char *program, const char *provided,
		    const char *sysroot)
{
	struct platform arm64;
	struct err err = {0};
	const struct strlist list = {&provided, provided != NULL};
	const struct layer_closure path = {.at = {"spec.yaml", 3, 5, 1}, .path = program};
	struct closure_request req = {.items = &path,
				      .n_items = 1,
				      .platform = &arm64,
				      .provided = &list,
				      .sysroot = sysroot};

	CHECK_OK(platform_parse("linux/arm64", &arm64, &err), &err);
	CHECK_OK(closure_compute(&req, &r->arena, &r->closure, &r->diags, &err), &err);
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

static void packs_what_is_needed(void)
{
	struct result r = {0};
	const struct closure_file *f;

	begin();
	put("/sr" MULTIARCH "/liba.so.1.2.3",
	    (struct elf_make){.soname = "liba.so.1", .needed = {"libb.so.2", "libc.so.6"}});
	put_link("liba.so.1.2.3", "/sr" MULTIARCH "/liba.so.1");
	put("/sr" MULTIARCH "/libb.so.2", (struct elf_make){.soname = "libb.so.2"});
	put("/job/p",
	    (struct elf_make){.interpreter = LOADER, .needed = {"liba.so.1", "libc.so.6"}});
	compute(&r, under("/job/p"), NULL, under("/sr"));
	CHECK_INT(r.diags.n, 0);
	CHECK_INT(r.closure.n, 5);
	f = find(&r, "lib/ld-linux-aarch64.so.1");
	CHECK(f != NULL && f->interpreter && f->link == NULL);
	CHECK(f != NULL && text_has_suffix(f->source, MULTIARCH "/ld-linux-aarch64.so.1"));
	f = find(&r, "usr/lib/aarch64-linux-gnu/liba.so.1");
	CHECK(f != NULL && f->link != NULL && strcmp(f->link, "liba.so.1.2.3") == 0);
	CHECK(find(&r, "usr/lib/aarch64-linux-gnu/liba.so.1.2.3") != NULL);
	CHECK(find(&r, "usr/lib/aarch64-linux-gnu/libb.so.2") != NULL);
	CHECK(find(&r, "usr/lib/aarch64-linux-gnu/libc.so.6") != NULL);
	result_done(&r);
}

static void names_the_missing(void)
{
	struct result r = {0};

	begin();
	put("/sr" MULTIARCH "/liba.so.1", (struct elf_make){.needed = {"libfoo-2.0.so.3"}});
	put("/job/p",
	    (struct elf_make){.interpreter = LOADER, .needed = {"liba.so.1", "libc.so.6"}});
	compute(&r, under("/job/p"), NULL, under("/sr"));
	CHECK_INT(r.diags.n_errors, 1);
	CHECK(says(&r, "spec.yaml:3:5: error"));
	CHECK(says(&r, "'libfoo-2.0.so.3', needed by"));
	CHECK(says(&r, "/job/p -> liba.so.1, not found in"));
	CHECK(says(&r, "libfoo-2.0-3:arm64"));
	result_done(&r);
}

static void leaves_out_the_provided(void)
{
	struct result r = {0};

	begin();
	put("/job/p",
	    (struct elf_make){.interpreter = LOADER, .needed = {"libcuda.so.1", "libc.so.6"}});
	compute(&r, under("/job/p"), "libcuda.so*", under("/sr"));
	CHECK_INT(r.diags.n, 0);
	CHECK_INT(r.closure.n, 2);
	result_done(&r);
}

static void passes_over_other_machines(void)
{
	struct result r = {0};

	begin();
	put("/sr" MULTIARCH "/libx.so.1", (struct elf_make){.machine = EM_X86_64});
	put("/sr/usr/lib/libx.so.1", (struct elf_make){.soname = "libx.so.1"});
	put("/sr" MULTIARCH "/liby.so.1", (struct elf_make){.machine = EM_X86_64});
	put("/job/p",
	    (struct elf_make){.interpreter = LOADER, .needed = {"libx.so.1", "liby.so.1"}});
	compute(&r, under("/job/p"), NULL, under("/sr"));
	CHECK(find(&r, "usr/lib/libx.so.1") != NULL);
	CHECK(find(&r, "usr/lib/aarch64-linux-gnu/libx.so.1") == NULL);
	CHECK_INT(r.diags.n_errors, 1);
	CHECK(says(&r, "liby.so.1' is for another architecture"));
	result_done(&r);
}

static void refuses_a_foreign_program(void)
{
	struct result r = {0};

	begin();
	put("/job/p", (struct elf_make){.machine = EM_X86_64, .interpreter = LOADER});
	compute(&r, under("/job/p"), NULL, under("/sr"));
	CHECK_INT(r.diags.n_errors, 1);
	CHECK(says(&r, "is x86-64 (64 bit), but arm64 needs AArch64"));
	CHECK_INT(r.closure.n, 0);
	result_done(&r);
}

static void refuses_what_is_no_program(void)
{
	struct result r = {0};
	struct err err = {0};

	begin();
	CHECK_OK(fs_write_file(under("/job/p"), "#!/bin/sh\n", 10, 0755, &err), &err);
	compute(&r, under("/job/p"), NULL, under("/sr"));
	CHECK_INT(r.diags.n_errors, 1);
	CHECK(says(&r, "not an ELF file"));
	result_done(&r);
	r = (struct result){0};
	begin();
	compute(&r, under("/job/absent"), NULL, under("/sr"));
	CHECK_INT(r.diags.n_errors, 1);
	CHECK(says(&r, "No such file"));
	result_done(&r);
}

static void notes_a_static_program(void)
{
	struct result r = {0};

	begin();
	put("/job/p", (struct elf_make){.type = ET_EXEC, .is_static = true});
	compute(&r, under("/job/p"), NULL, under("/sr"));
	CHECK_INT(r.closure.n, 0);
	CHECK_INT(r.diags.n_errors, 0);
	CHECK(says(&r, "is static"));
	result_done(&r);
}

static void packs_hwcaps(void)
{
	struct result r = {0};

	begin();
	put("/sr" MULTIARCH "/libx.so.1", (struct elf_make){.soname = "libx.so.1"});
	put("/sr" MULTIARCH "/glibc-hwcaps/v9/libx.so.1.5",
	    (struct elf_make){.soname = "libx.so.1", .needed = {"libextra.so.1"}});
	put_link("libx.so.1.5", "/sr" MULTIARCH "/glibc-hwcaps/v9/libx.so.1");
	put("/sr" MULTIARCH "/libextra.so.1", (struct elf_make){.soname = "libextra.so.1"});
	put("/job/p", (struct elf_make){.interpreter = LOADER, .needed = {"libx.so.1"}});
	compute(&r, under("/job/p"), NULL, under("/sr"));
	CHECK_INT(r.diags.n, 0);
	CHECK(find(&r, "usr/lib/aarch64-linux-gnu/libx.so.1") != NULL);
	CHECK(find(&r, "usr/lib/aarch64-linux-gnu/glibc-hwcaps/v9/libx.so.1") != NULL);
	CHECK(find(&r, "usr/lib/aarch64-linux-gnu/glibc-hwcaps/v9/libx.so.1.5") != NULL);
	CHECK(find(&r, "usr/lib/aarch64-linux-gnu/libextra.so.1") != NULL);
	result_done(&r);
}

static void follows_rpath_and_runpath(void)
{
	struct result r = {0};

	begin();
	/* RPATH of the program reaches libraries of libraries, RUNPATH does not. */
	put("/sr/opt/r/liba.so.1", (struct elf_make){.needed = {"libdeep.so.1"}});
	put("/sr/opt/r/libdeep.so.1", (struct elf_make){.soname = "libdeep.so.1"});
	put("/job/rpath",
	    (struct elf_make){.interpreter = LOADER, .rpath = "/opt/r", .needed = {"liba.so.1"}});
	compute(&r, under("/job/rpath"), NULL, under("/sr"));
	CHECK_INT(r.diags.n, 0);
	CHECK(find(&r, "opt/r/liba.so.1") != NULL && find(&r, "opt/r/libdeep.so.1") != NULL);
	result_done(&r);

	r = (struct result){0};
	begin();
	put("/sr/opt/r/liba.so.1", (struct elf_make){.needed = {"libdeep.so.1"}});
	put("/sr/opt/r/libdeep.so.1", (struct elf_make){.soname = "libdeep.so.1"});
	put("/job/p", (struct elf_make){.interpreter = LOADER,
					 .runpath = "/opt/r",
					 .rpath = "/opt/r",
					 .needed = {"liba.so.1"}});
	compute(&r, under("/job/p"), NULL, under("/sr"));
	CHECK_INT(r.diags.n_errors, 1);
	CHECK(says(&r, "'libdeep.so.1', needed by"));
	result_done(&r);
}

static void expands_origin_of_libraries(void)
{
	struct result r = {0};

	begin();
	put("/sr" MULTIARCH "/liba.so.1",
	    (struct elf_make){.runpath = "$ORIGIN/private", .needed = {"libp.so.1"}});
	put("/sr" MULTIARCH "/private/libp.so.1",
	    (struct elf_make){.runpath = "${ORIGIN}", .needed = {"libq.so.1"}});
	put("/sr" MULTIARCH "/private/libq.so.1", (struct elf_make){.soname = "libq.so.1"});
	put("/job/p", (struct elf_make){.interpreter = LOADER, .needed = {"liba.so.1"}});
	compute(&r, under("/job/p"), NULL, under("/sr"));
	CHECK_INT(r.diags.n, 0);
	CHECK(find(&r, "usr/lib/aarch64-linux-gnu/private/libp.so.1") != NULL);
	CHECK(find(&r, "usr/lib/aarch64-linux-gnu/private/libq.so.1") != NULL);
	result_done(&r);
}

static void refuses_origin_of_the_program(void)
{
	struct result r = {0};

	begin();
	put("/job/lib/libmine.so.1", (struct elf_make){.soname = "libmine.so.1"});
	put("/job/bin/p", (struct elf_make){.interpreter = LOADER,
					     .runpath = "$ORIGIN/../lib",
					     .needed = {"libmine.so.1", "libc.so.6"}});
	compute(&r, under("/job/bin/p"), NULL, under("/sr"));
	CHECK_INT(r.diags.n_errors, 1);
	CHECK(says(&r, "relative to the program"));
	CHECK(says(&r, "files:"));
	CHECK(find(&r, "usr/lib/aarch64-linux-gnu/libc.so.6") != NULL);
	result_done(&r);
}

static void keeps_origin_inside_the_sysroot(void)
{
	struct result r = {0};

	begin();
	put("/sr/opt/app/lib/libmine.so.1", (struct elf_make){.soname = "libmine.so.1"});
	put("/sr/opt/app/bin/p", (struct elf_make){.interpreter = LOADER,
						   .runpath = "$ORIGIN/../lib",
						   .needed = {"libmine.so.1"}});
	compute(&r, under("/sr/opt/app/bin/p"), NULL, under("/sr"));
	CHECK_INT(r.diags.n, 0);
	CHECK(find(&r, "opt/app/lib/libmine.so.1") != NULL);
	result_done(&r);
}

static void tells_of_folders_not_searched(void)
{
	struct result r = {0};
	struct err err = {0};

	begin();
	put("/sr/usr/lib64/libx.so.1", (struct elf_make){.soname = "libx.so.1"});
	put("/sr/opt/vendor/libv.so.1", (struct elf_make){.soname = "libv.so.1"});
	CHECK_OK(fs_mkdirs(under("/sr/etc"), &err), &err);
	CHECK_OK(fs_write_file(under("/sr/etc/ld.so.conf"), "/opt/vendor\n", 12, 0644, &err), &err);
	put("/job/p",
	    (struct elf_make){.interpreter = LOADER, .needed = {"libx.so.1", "libv.so.1"}});
	compute(&r, under("/job/p"), NULL, under("/sr"));
	CHECK_INT(r.diags.n_errors, 2);
	CHECK(says(&r, "is in '/usr/lib64', which the image's loader"));
	CHECK(says(&r, "is in '/opt/vendor', which the image's loader"));
	CHECK(says(&r, "-Wl,-rpath,/opt/vendor"));
	result_done(&r);
}

static void reports_a_missing_interpreter(void)
{
	struct result r = {0};

	begin();
	put("/job/p",
	    (struct elf_make){.interpreter = "/lib/ld-other.so.9", .needed = {"libc.so.6"}});
	compute(&r, under("/job/p"), NULL, under("/sr"));
	CHECK_INT(r.diags.n_errors, 1);
	CHECK(says(&r, "interpreter '/lib/ld-other.so.9'"));
	result_done(&r);
}

static void flattens_links_that_leave_the_folder(void)
{
	struct result r = {0};
	const struct closure_file *f;

	begin();
	put("/sr" MULTIARCH "/blas/libblas.so.3", (struct elf_make){.soname = "libblas.so.3"});
	CHECK(mkdir(under("/sr/etc"), 0755) == 0);
	put_link("/usr/lib/aarch64-linux-gnu/blas/libblas.so.3", "/sr/etc/blas");
	put_link("/etc/blas", "/sr" MULTIARCH "/libblas.so.3");
	put("/job/p", (struct elf_make){.interpreter = LOADER, .needed = {"libblas.so.3"}});
	compute(&r, under("/job/p"), NULL, under("/sr"));
	f = find(&r, "usr/lib/aarch64-linux-gnu/libblas.so.3");
	CHECK(f != NULL && f->link == NULL && text_has_suffix(f->source, "/blas/libblas.so.3"));
	CHECK_INT(r.diags.n, 0);
	result_done(&r);
}

static void survives_cycles(void)
{
	struct result r = {0};

	begin();
	put("/sr" MULTIARCH "/liba.so.1",
	    (struct elf_make){.soname = "liba.so.1", .needed = {"libb.so.1"}});
	put("/sr" MULTIARCH "/libb.so.1",
	    (struct elf_make){.soname = "libb.so.1", .needed = {"liba.so.1"}});
	put("/job/p", (struct elf_make){.interpreter = LOADER, .needed = {"liba.so.1"}});
	compute(&r, under("/job/p"), NULL, under("/sr"));
	CHECK_INT(r.closure.n, 3);
	CHECK_INT(r.diags.n, 0);
	result_done(&r);
}

/* The list that ldd prints, file by file, for programs of this machine. */
static void agrees_with_ldd(void)
{
	static const char *const programs[] = {
	    "/bin/ls",           "/usr/bin/openssl", "/usr/bin/curl", "/usr/bin/tar",
	    "/bin/bash",         "/usr/bin/git",     "/usr/bin/gcc",  "/usr/bin/ld",
	    "/usr/bin/make",     "/usr/bin/python3", "/usr/bin/perl", "/usr/bin/sort",
	    "/usr/bin/find",     "/usr/bin/grep",    "/usr/bin/sed",  "/usr/bin/xz",
	    "/usr/bin/gpg",      "/usr/bin/skopeo",  "/usr/bin/gdb",  "/usr/bin/clang-14",
	    "/usr/bin/valgrind",
	};
	struct platform host = platform_host();
	unsigned compared = 0;

	for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
		AUTO(arena) struct arena a = {0};
		const struct layer_closure path = {.path = programs[i]};
		struct closure_request req = {
		    .items = &path, .n_items = 1, .platform = &host};
		struct closure c;
		struct diags d = {0};
		struct err err = {0};
		char command[256], line[4096];
		int in[2];
		FILE *out;

		if (access(programs[i], X_OK) != 0 || pipe(in) != 0)
			continue;
		CHECK_OK(closure_compute(&req, &a, &c, &d, &err), &err);
		snprintf(command, sizeof(command), "%s", programs[i]);
		if (fork() == 0) {
			dup2(in[1], 1);
			close(2);
			execlp("ldd", "ldd", command, (char *)NULL);
			_exit(1);
		}
		close(in[1]);
		out = fdopen(in[0], "r");
		while (out != NULL && fgets(line, sizeof(line), out) != NULL) {
			const char *arrow = strstr(line, " => /");
			char *resolved;
			bool found = false;

			if (arrow == NULL)
				continue;
			line[strcspn(line, "(") - 1] = '\0';
			resolved = realpath(arrow + 4, NULL);
			for (size_t k = 0; k < c.n && resolved != NULL; k++)
				found |= c.files[k].source != NULL &&
					 strcmp(c.files[k].source, resolved) == 0;
			if (!found)
				test_fail(__FILE__, __LINE__, arrow);
			free(resolved);
			compared++;
		}
		if (out != NULL)
			fclose(out);
		diags_done(&d);
	}
	if (compared == 0)
		SKIP("no ldd here");
}

static void fills_a_tree(void)
{
	AUTO(arena) struct arena a = {0};
	struct tree t;
	struct platform arm64;
	struct err err = {0};
	struct diags d = {0};
	struct layer_closure path;
	struct layer_spec layer = {.closure = &path, .n_closure = 1};
	bool loader = false;

	begin();
	put("/job/p", (struct elf_make){.interpreter = LOADER, .needed = {"libc.so.6"}});
	path = (struct layer_closure){.path = under("/job/p")};
	layer.sysroot = under("/sr");
	CHECK_OK(platform_parse("linux/arm64", &arm64, &err), &err);
	tree_init(&t, &a, "runtime", 0);
	CHECK_OK(source_closure_add(&t, &layer, &arm64, NULL, &d, &err), &err);
	CHECK_OK(tree_finish(&t, &d, &err), &err);
	CHECK_INT(d.n, 0);
	for (size_t i = 0; i < t.n; i++) {
		CHECK_INT(t.at[i].mtime, 0);
		if (strcmp(t.at[i].path, "lib/ld-linux-aarch64.so.1") != 0)
			continue;
		loader = true;
		CHECK_INT(t.at[i].mode, 0755);
		CHECK_INT(t.at[i].size, ELF_MAKE_MAX);
	}
	CHECK(loader);
	tree_done(&t);
	diags_done(&d);
	CHECK_OK(fs_remove_tree(top, &err), &err);
}

int main(void)
{
	TEST("closure: interpreter, libraries and their links are packed", packs_what_is_needed);
	TEST("closure: a missing library is named with the chain that needs it", names_the_missing);
	TEST("closure: what the node provides is left out", leaves_out_the_provided);
	TEST("closure: files of another machine are passed over", passes_over_other_machines);
	TEST("closure: a program of another machine is a problem", refuses_a_foreign_program);
	TEST("closure: scripts and missing programs are problems", refuses_what_is_no_program);
	TEST("closure: a static program needs nothing", notes_a_static_program);
	TEST("closure: hwcaps variants are packed with what they need", packs_hwcaps);
	TEST("closure: RPATH is inherited, RUNPATH is not and hides RPATH",
	     follows_rpath_and_runpath);
	TEST("closure: $ORIGIN of a library is its folder", expands_origin_of_libraries);
	TEST("closure: libraries beside a program outside the sysroot are a problem",
	     refuses_origin_of_the_program);
	TEST("closure: libraries beside a program inside the sysroot keep their place",
	     keeps_origin_inside_the_sysroot);
	TEST("closure: a folder that the image's loader does not search is a problem",
	     tells_of_folders_not_searched);
	TEST("closure: a missing interpreter is a problem", reports_a_missing_interpreter);
	TEST("closure: a link out of its folder becomes the file",
	     flattens_links_that_leave_the_folder);
	TEST("closure: libraries that need each other are packed once", survives_cycles);
	TEST("closure: the same files as ldd says for programs of this machine", agrees_with_ldd);
	TEST("closure: the files become entries with fixed modes and times", fills_a_tree);
	return test_done();
}
