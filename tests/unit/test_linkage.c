/*
 * What programs of an image load and bind: small images of made-up ELF files for linux/amd64, each
 * with what the check must say of it.
 */
#include "tests/harness.h"

#include <sys/resource.h>

#include "base/fs.h"
#include "builder/check/check.h"
#include "builder/layer/elf/elf_cache.h"
#include "tests/elf_make.h"
#include "tests/image_make.h"

#define LIB    "usr/lib/x86_64-linux-gnu/"
#define LOADER "/lib64/ld-linux-x86-64.so.2"
#define MUSL   "/lib/ld-musl-x86_64.so.1"

static const char loader_dirs[] = "\0/lib/x86_64-linux-gnu/\0/usr/lib/x86_64-linux-gnu/\0";
static const char musl_dirs[] = "\0/lib:/usr/local/lib:/usr/lib\0";

static void put_elf(struct image_make *m, const char *path, struct elf_make elf)
{
	unsigned char bytes[ELF_MAKE_MAX];

	if (elf.machine == 0)
		elf.machine = EM_X86_64;
	tar_file(&m->layers[0].tar, path, 0755, bytes, elf_make(&elf, bytes));
}

/* A loader that defines one symbol. */
static void start_image(struct image_make *m)
{
	*m = (struct image_make){.architecture = "amd64", .n_layers = 1};
	put_elf(m, "lib64/ld-linux-x86-64.so.2",
	        (struct elf_make){.soname = "ld-linux-x86-64.so.2",
	                          .exports = {"_rtld_global"},
	                          .extra = loader_dirs,
	                          .extra_len = sizeof(loader_dirs)});
}

struct outcome {
	struct arena arena;
	struct diags diags;
	struct check_report report;
	struct err err;
	int rc;
};

static void check(struct image_make *m, const struct check_opts *opts, struct outcome *o)
{
	char dir[4096];
	struct err err = {0};
	struct layout *layout = NULL;
	struct descriptor desc;
	struct store *store;

	test_tmpdir(dir);
	CHECK_OK(layout_open(dir, LAYOUT_WRITE, &layout, &err), &err);
	desc = image_make(m, layout, &o->arena);
	desc = image_index(&desc, 1, layout);
	store = layout_store(layout);
	o->rc = check_image(store, &desc, opts, &o->arena, &o->report, &o->diags, &o->err);
	store_close(store);
	layout_close(layout);
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

/* ---- the cache ---- */

static size_t add_text(unsigned char *bytes, size_t *at, const char *text)
{
	size_t start = *at;

	memcpy(bytes + *at, text, strlen(text) + 1);
	*at += strlen(text) + 1;
	return start;
}

static void put_word(unsigned char *bytes, size_t at, size_t value)
{
	for (size_t i = 0; i < 4; i++)
		bytes[at + i] = (unsigned char)(value >> (8 * i));
}

struct cache_make {
	const char *name, *path;
	unsigned flags;
	bool variant;
};

/* The newer format with n entries at `bytes`; returns its length. */
static size_t make_cache(unsigned char *bytes, const struct cache_make *entries, size_t n)
{
	size_t texts = 48 + 24 * n;

	memcpy(bytes, "glibc-ld.so.cache1.1", 20);
	put_word(bytes, 20, n);
	bytes[28] = 2;
	for (size_t i = 0; i < n; i++) {
		size_t at = 48 + 24 * i;

		put_word(bytes, at, entries[i].flags);
		put_word(bytes, at + 4, add_text(bytes, &texts, entries[i].name));
		put_word(bytes, at + 8, add_text(bytes, &texts, entries[i].path));
		bytes[at + 20] = entries[i].variant ? 0x40 : 0;
	}
	return texts;
}

static void put_cache(struct image_make *m, const char *name, const char *path)
{
	unsigned char bytes[512] = {0};
	const struct cache_make e = {name, path, 0x303, false};

	tar_file(&m->layers[0].tar, "etc/ld.so.cache", 0644, bytes, make_cache(bytes, &e, 1));
}

static void reads_both_formats(void)
{
	const struct platform_arch *arch = platform_arch_find("amd64");
	static const struct cache_make entries[] = {{"liba.so.1", "/opt/v3/liba.so.1", 0x303, true},
	                                            {"liba.so.1", "/opt/liba.so.1", 0x303, false},
	                                            {"libb.so.1", "/lib32/libb.so.1", 3, false}};
	AUTO(arena) struct arena a = {0};
	unsigned char bytes[1024] = {0};
	size_t len = make_cache(bytes, entries, 3), end;
	struct elf_cache c = elf_cache_read(bytes, len, arch, &a);

	CHECK_INT(c.n, 2);
	CHECK_STR(elf_cache_find(&c, "liba.so.1"), "/opt/liba.so.1");
	CHECK(elf_cache_find(&c, "libb.so.1") == NULL);
	/* Behind one of the older format, whose entries then count for nothing. */
	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, "ld.so-1.7.0", 11);
	put_word(bytes, 12, 1);
	len = 32 + make_cache(bytes + 32, entries, 3);
	c = elf_cache_read(bytes, len, arch, &a);
	CHECK_STR(elf_cache_find(&c, "liba.so.1"), "/opt/liba.so.1");
	/* And the older format alone: texts are counted from the end of its entries. */
	memset(bytes + 28, 0, sizeof(bytes) - 28);
	end = 28;
	put_word(bytes, 16, 0x303);
	put_word(bytes, 20, add_text(bytes, &end, "libo.so.1") - 28);
	put_word(bytes, 24, add_text(bytes, &end, "/old/libo.so.1") - 28);
	c = elf_cache_read(bytes, end, arch, &a);
	CHECK_STR(elf_cache_find(&c, "libo.so.1"), "/old/libo.so.1");
}

static void survives_hostile_caches(void)
{
	const struct platform_arch *arch = platform_arch_find("amd64");
	static const struct cache_make e = {"liba.so.1", "/opt/liba.so.1", 0x303, false};
	unsigned char bytes[512] = {0};
	size_t len = make_cache(bytes, &e, 1);

	for (size_t n = 0; n <= len; n++)
		for (size_t at = 0; at < 72; at += 4) {
			AUTO(arena) struct arena a = {0};
			AUTO_FREE unsigned char *copy = malloc(n + 1);

			memcpy(copy, bytes, n);
			if (at + 4 <= n)
				put_word(copy, at, 0xfffffff0u);
			struct elf_cache c = elf_cache_read(copy, n, arch, &a);

			CHECK(c.n <= 1);
		}
}

/* ---- what must be said ---- */

static void silent_second(struct image_make *m)
{
	put_elf(m, LIB "libfoo.so.1",
	        (struct elf_make){.soname = "libfoo.so.1", .needed = {"libbar.so.1"}});
	put_elf(m, "opt/first/libbar.so.1", (struct elf_make){.soname = "libbar.so.1"});
	put_elf(m, "usr/bin/a",
	        (struct elf_make){
			.interpreter = LOADER, .rpath = "/opt/first", .needed = {"libfoo.so.1"}});
	put_elf(m, "usr/bin/b",
	        (struct elf_make){.interpreter = LOADER, .needed = {"libfoo.so.1"}});
}

static void named_by_the_first(struct image_make *m)
{
	put_elf(m, LIB "libfoo.so.1",
	        (struct elf_make){.soname = "libfoo.so.1", .needed = {"libbar.so.1"}});
	put_elf(m, "opt/first/libbar.so.1", (struct elf_make){.soname = "libbar.so.1"});
	put_elf(m, "usr/bin/a",
	        (struct elf_make){.interpreter = LOADER,
	                          .runpath = "/opt/first",
	                          .needed = {"libbar.so.1", "libfoo.so.1"}});
	put_elf(m, "usr/bin/b",
	        (struct elf_make){.interpreter = LOADER, .needed = {"libfoo.so.1"}});
}

static void not_inherited(struct image_make *m)
{
	put_elf(m, "opt/lib/libfoo.so.1",
	        (struct elf_make){.soname = "libfoo.so.1", .needed = {"libbar.so.1"}});
	put_elf(m, "opt/lib/libbar.so.1", (struct elf_make){.soname = "libbar.so.1"});
	put_elf(m, "usr/bin/a",
	        (struct elf_make){
			.interpreter = LOADER, .runpath = "/opt/lib", .needed = {"libfoo.so.1"}});
}

/* Its own RUNPATH, though it leads nowhere, puts the RPATH of the program out of force. */
static void runpath_replaces(struct image_make *m)
{
	put_elf(m, "opt/lib/libfoo.so.1",
	        (struct elf_make){.soname = "libfoo.so.1",
	                          .runpath = "/opt/none",
	                          .needed = {"libbar.so.1"}});
	put_elf(m, "opt/lib/libbar.so.1", (struct elf_make){.soname = "libbar.so.1"});
	put_elf(m, "usr/bin/a",
	        (struct elf_make){
			.interpreter = LOADER, .rpath = "/opt/lib", .needed = {"libfoo.so.1"}});
}

static void inherited(struct image_make *m)
{
	put_elf(m, "opt/lib/libfoo.so.1",
	        (struct elf_make){.soname = "libfoo.so.1", .needed = {"libbar.so.1"}});
	put_elf(m, "opt/lib/libbar.so.1", (struct elf_make){.soname = "libbar.so.1"});
	put_elf(m, "usr/bin/a",
	        (struct elf_make){
			.interpreter = LOADER, .rpath = "/opt/lib", .needed = {"libfoo.so.1"}});
}

static void musl_inherits(struct image_make *m)
{
	put_elf(m, "lib/ld-musl-x86_64.so.1",
	        (struct elf_make){.soname = "libc.musl-x86_64.so.1",
	                          .extra = musl_dirs,
	                          .extra_len = sizeof(musl_dirs)});
	put_elf(m, "opt/lib/libfoo.so.1",
	        (struct elf_make){.soname = "libfoo.so.1", .needed = {"libbar.so.1"}});
	put_elf(m, "opt/lib/libbar.so.1", (struct elf_make){.soname = "libbar.so.1"});
	put_elf(m, "usr/bin/a",
	        (struct elf_make){.interpreter = MUSL,
	                          .runpath = "/opt/lib",
	                          .needed = {"libfoo.so.1", "libc.musl-x86_64.so.1"}});
}

/* The file takes the place of musl's folders. */
static void musl_path_file(struct image_make *m)
{
	musl_inherits(m);
	put_elf(m, "usr/lib/libu.so.1", (struct elf_make){.soname = "libu.so.1"});
	put_elf(m, "usr/bin/b", (struct elf_make){.interpreter = MUSL, .needed = {"libu.so.1"}});
	tar_text(&m->layers[0].tar, "etc/ld-musl-x86_64.path", "/lib\n/opt/lib\n");
}

static void cached(struct image_make *m)
{
	put_elf(m, "opt/lib/libfoo.so.1", (struct elf_make){.soname = "libfoo.so.1"});
	put_elf(m, "usr/bin/a",
	        (struct elf_make){.interpreter = LOADER, .needed = {"libfoo.so.1"}});
	put_cache(m, "libfoo.so.1", "/opt/lib/libfoo.so.1");
}

static void not_cached(struct image_make *m)
{
	put_elf(m, "opt/lib/libfoo.so.1", (struct elf_make){.soname = "libfoo.so.1"});
	put_elf(m, "usr/bin/a",
	        (struct elf_make){.interpreter = LOADER, .needed = {"libfoo.so.1"}});
	tar_text(&m->layers[0].tar, "etc/ld.so.conf", "/opt/lib\n");
	put_cache(m, "libother.so.1", "/opt/lib/libother.so.1");
}

static void stale_cache(struct image_make *m)
{
	put_elf(m, "usr/bin/a",
	        (struct elf_make){.interpreter = LOADER, .needed = {"libfoo.so.1"}});
	put_cache(m, "libfoo.so.1", "/opt/lib/libfoo.so.1");
}

static void stale_but_there(struct image_make *m)
{
	stale_cache(m);
	put_elf(m, LIB "libfoo.so.1", (struct elf_make){.soname = "libfoo.so.1"});
}

static void broken_first(struct image_make *m)
{
	put_elf(m, LIB "libfoo.so.1", (struct elf_make){.soname = "libfoo.so.1"});
	tar_text(&m->layers[0].tar, "opt/lib/libfoo.so.1", "INPUT(libfoo.so.2)\n");
	put_elf(m, "usr/bin/a",
	        (struct elf_make){
			.interpreter = LOADER, .runpath = "/opt/lib", .needed = {"libfoo.so.1"}});
}

static void foreign_first(struct image_make *m)
{
	put_elf(m, LIB "libfoo.so.1", (struct elf_make){.soname = "libfoo.so.1"});
	put_elf(m, "opt/lib/libfoo.so.1",
	        (struct elf_make){.soname = "libfoo.so.1", .machine = EM_386, .is32 = true});
	put_elf(m, "usr/bin/a",
	        (struct elf_make){
			.interpreter = LOADER, .runpath = "/opt/lib", .needed = {"libfoo.so.1"}});
}

static void no_default_folders(struct image_make *m)
{
	put_elf(m, LIB "libfoo.so.1", (struct elf_make){.soname = "libfoo.so.1"});
	put_elf(m, "usr/bin/a",
	        (struct elf_make){.interpreter = LOADER,
	                          .flags_1 = DF_1_NODEFLIB,
	                          .needed = {"libfoo.so.1"}});
	put_cache(m, "libfoo.so.1", "/" LIB "libfoo.so.1");
}

static void two_names(struct image_make *m)
{
	put_elf(m, LIB "libfoo.so.1.2",
	        (struct elf_make){.soname = "libfoo.so.1", .needed = {"libabsent.so"}});
	tar_symlink(&m->layers[0].tar, LIB "libfoo.so.1", "libfoo.so.1.2");
	tar_symlink(&m->layers[0].tar, LIB "libfoo.so", "libfoo.so.1.2");
	put_elf(m, "usr/bin/a",
	        (struct elf_make){.interpreter = LOADER, .needed = {"libfoo.so", "libfoo.so.1"}});
}

static void program_with(struct image_make *m, struct elf_make library, struct elf_make program)
{
	library.soname = "libv.so.1";
	put_elf(m, LIB "libv.so.1", library);
	program.interpreter = LOADER;
	program.needed[0] = "libv.so.1";
	put_elf(m, "usr/bin/a", program);
}

static void bound(struct image_make *m)
{
	program_with(m, (struct elf_make){.exports = {"v1", "v2"}},
	             (struct elf_make){.undefined = {"v2", "_rtld_global"}});
}

static void unbound(struct image_make *m)
{
	program_with(m, (struct elf_make){.exports = {"v1"}},
	             (struct elf_make){.undefined = {"v1", "v2"}});
}

static void unbound_lazy(struct image_make *m)
{
	program_with(m, (struct elf_make){.exports = {"v1"}},
	             (struct elf_make){.undefined = {"v2"}, .lazy = true});
}

static void unbound_lazy_library(struct image_make *m)
{
	program_with(m, (struct elf_make){.undefined = {"v2"}, .lazy = true}, (struct elf_make){0});
}

static void unbound_now(struct image_make *m)
{
	program_with(m, (struct elf_make){.exports = {"v1"}},
	             (struct elf_make){.undefined = {"v2"}, .lazy = true, .flags = DF_BIND_NOW});
}

static void unbound_now_env(struct image_make *m)
{
	unbound_lazy(m);
	m->config = "\"Env\":[\"LD_BIND_NOW=1\"]";
}

static void bound_by_preload(struct image_make *m)
{
	unbound(m);
	put_elf(m, "opt/libp.so", (struct elf_make){.exports = {"v2"}});
	m->config = "\"Env\":[\"LD_PRELOAD=/opt/libp.so\"]";
}

static void copied(struct image_make *m)
{
	program_with(m, (struct elf_make){.exports = {"data"}},
	             (struct elf_make){.exports = {"data"}, .copied = true});
}

static void copied_from_nowhere(struct image_make *m)
{
	program_with(m, (struct elf_make){.exports = {"other"}},
	             (struct elf_make){.exports = {"data"}, .copied = true});
}

static void versioned(struct image_make *m)
{
	program_with(m, (struct elf_make){.exports = {"f"}, .defines = {"V_1"}},
	             (struct elf_make){.undefined = {"f"},
	                               .need_versioned = true,
	                               .need_library = "libv.so.1",
	                               .need_version = "V_1"});
}

/* The version is there, the symbol has another. */
static void other_version(struct image_make *m)
{
	program_with(m, (struct elf_make){.exports = {"f"}, .defines = {"V_1", "V_2"}},
	             (struct elf_make){.undefined = {"f"},
	                               .need_versioned = true,
	                               .need_library = "libv.so.1",
	                               .need_version = "V_2"});
}

/* A library without versions serves who asks for one. */
static void no_versions(struct image_make *m)
{
	program_with(m, (struct elf_make){.exports = {"f"}},
	             (struct elf_make){.undefined = {"f"},
	                               .need_versioned = true,
	                               .need_library = "libv.so.1",
	                               .need_version = "V_1"});
}

static void missing_version(struct image_make *m)
{
	program_with(m, (struct elf_make){.exports = {"f"}, .defines = {"V_1"}},
	             (struct elf_make){.undefined = {"f"},
	                               .need_versioned = true,
	                               .need_library = "libv.so.1",
	                               .need_version = "V_3"});
}

static void in_a_library(struct image_make *m)
{
	program_with(m, (struct elf_make){.undefined = {"gone"}}, (struct elf_make){0});
}

/* The first program defines what the library takes from its host, the second does not. */
static void only_for_the_second(struct image_make *m)
{
	program_with(m, (struct elf_make){.undefined = {"host"}},
	             (struct elf_make){.exports = {"host"}});
	put_elf(m, "usr/bin/b", (struct elf_make){.interpreter = LOADER, .needed = {"libv.so.1"}});
}

static void plugin(struct image_make *m)
{
	put_elf(m, "usr/lib/app/plugin.so", (struct elf_make){.undefined = {"host_function"}});
}

static void provided_beside(struct image_make *m)
{
	program_with(m, (struct elf_make){.exports = {"v1"}},
	             (struct elf_make){.undefined = {"cuInit"}, .needed = {NULL, "libcuda.so.1"}});
}

static void filtered(struct image_make *m)
{
	unbound(m);
	put_elf(m, "usr/bin/c",
	        (struct elf_make){.interpreter = LOADER,
	                          .needed = {"libabsent.so.1"},
	                          .undefined = {"of_absent"}});
}

static const struct outcome_wanted {
	const char *what;
	void (*make)(struct image_make *m);
	const char *rule; /* NULL: nothing at all is said */
	bool warning;
	const char *message;
} wanted[] = {
	{"RPATH of the first program alone", silent_second, "elf-needed", false,
         "libfoo.so.1: needs 'libbar.so.1', which the loader does not find when it is loaded for "
         "/usr/bin/b"},
	{"loaded by the first program alone", named_by_the_first, "elf-needed", false,
         "libfoo.so.1: needs 'libbar.so.1', which the loader does not find when it is loaded for "
         "/usr/bin/b"},
	{"RUNPATH is the object's own", not_inherited, "elf-needed", false,
         "libfoo.so.1: needs 'libbar.so.1'"},
	{"RUNPATH puts RPATH out of force", runpath_replaces, "elf-needed", false,
         "libfoo.so.1: needs 'libbar.so.1'"},
	{"RPATH is inherited", inherited, NULL, false, NULL},
	{"musl inherits RUNPATH", musl_inherits, NULL, false, NULL},
	{"musl's path file replaces its folders", musl_path_file, "elf-needed", false,
         "/usr/bin/b: needs 'libu.so.1'"},
	{"the cache is believed", cached, NULL, false, NULL},
	{"ld.so.conf is not", not_cached, "elf-needed", false, "/usr/bin/a: needs 'libfoo.so.1'"},
	{"a stale cache", stale_cache, "elf-needed", false, "/usr/bin/a: needs 'libfoo.so.1'"},
	{"a stale cache, found by default", stale_but_there, NULL, false, NULL},
	{"a broken file stops the search", broken_first, "elf-needed", false,
         "/usr/bin/a: needs 'libfoo.so.1', for which the loader takes /opt/lib/libfoo.so.1: not an "
         "ELF file"},
	{"one for another machine does not", foreign_first, NULL, false, NULL},
	{"no default folders, not by the cache either", no_default_folders, "elf-needed", false,
         "/usr/bin/a: needs 'libfoo.so.1'"},
	{"one file by two names", two_names, "elf-needed", false, "needs 'libabsent.so'"},
	{"all symbols there", bound, NULL, false, NULL},
	{"a symbol is not", unbound, "elf-symbol", false, "/usr/bin/a: needs the symbol 'v2'"},
	{"a function bound when called", unbound_lazy, "elf-symbol", false,
         "/usr/bin/a: calls the symbol 'v2'"},
	{"a library's function bound when called", unbound_lazy_library, "elf-symbol", true,
         "libv.so.1: calls the symbol 'v2'"},
	{"a function bound at start", unbound_now, "elf-symbol", false,
         "/usr/bin/a: needs the symbol 'v2'"},
	{"bound at start by LD_BIND_NOW", unbound_now_env, "elf-symbol", false,
         "/usr/bin/a: needs the symbol 'v2'"},
	{"preloaded libraries count", bound_by_preload, NULL, false, NULL},
	{"copied data", copied, NULL, false, NULL},
	{"copied data that is nowhere", copied_from_nowhere, "elf-symbol", false,
         "/usr/bin/a: needs the symbol 'data'"},
	{"the right version", versioned, NULL, false, NULL},
	{"a symbol of another version", other_version, "elf-symbol", false,
         "needs the symbol 'f' in version V_2 of libv.so.1"},
	{"a library without versions", no_versions, NULL, false, NULL},
	{"a version that is not there", missing_version, "glibc-version", false,
         "needs version V_3 of libv.so.1"},
	{"a library's symbol", in_a_library, "elf-symbol", false,
         "libv.so.1: needs the symbol 'gone', which nothing that is loaded for /usr/bin/a defines"},
	{"defined by the first program alone", only_for_the_second, "elf-symbol", false,
         "libv.so.1: needs the symbol 'host', which nothing that is loaded for /usr/bin/b defines"},
	{"a plug-in's host may define", plugin, NULL, false, NULL},
	{"what the node provides may define", provided_beside, NULL, false, NULL},
};

static void show(const struct outcome *o)
{
	for (size_t i = 0; i < o->diags.n; i++)
		printf("# %s: %s\n", o->diags.at[i].rule, o->diags.at[i].message);
}

static bool as_wanted(const struct outcome_wanted *w, const struct outcome *o)
{
	if (w->rule == NULL)
		return o->diags.n == 0 && o->rc == 0;
	return o->diags.n == 1 && strcmp(o->diags.at[0].rule, w->rule) == 0 &&
	       strstr(o->diags.at[0].message, w->message) != NULL &&
	       (w->warning ? o->rc == 0 : o->rc == -1);
}

static void says_exactly_this(void)
{
	static const char *const provided[] = {"libcuda.so*"};

	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		struct image_make m;
		struct outcome o = {0};
		const struct check_opts opts = {.provided = {(const char **)provided, 1},
		                                .program_elsewhere = true};

		start_image(&m);
		wanted[i].make(&m);
		check(&m, &opts, &o);
		if (!as_wanted(&wanted[i], &o)) {
			test_fail(__FILE__, __LINE__, wanted[i].what);
			show(&o);
		}
		diags_done(&o.diags);
		arena_done(&o.arena);
	}
}

/* Where a library is missing, its symbols are not another problem; other programs' are. */
static void a_missing_library_silences_its_program_alone(void)
{
	struct image_make m;
	struct outcome o = {0};

	start_image(&m);
	filtered(&m);
	check(&m, &(struct check_opts){.program_elsewhere = true}, &o);
	CHECK_INT(o.diags.n, 2);
	if (o.diags.n == 2) {
		CHECK_STR(o.diags.at[0].rule, "elf-symbol");
		CHECK_STR(o.diags.at[1].rule, "elf-needed");
	}
	diags_done(&o.diags);
	arena_done(&o.arena);
}

static void compares_with_the_fleets_processors(void)
{
	static const struct {
		unsigned bits, level;
		size_t n;
	} table[] = {{0xf, 3, 1}, {0xf, 4, 0}, {0x7, 3, 0}, {0x8, 1, 1}, {0xf, 0, 0}, {0, 1, 0}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		struct image_make m;
		struct outcome o = {0};
		const struct check_opts opts = {.isa_level = table[i].level,
		                                .program_elsewhere = true,
		                                .isa_instance = "g5.xlarge"};

		start_image(&m);
		put_elf(&m, "usr/bin/a",
		        (struct elf_make){.interpreter = LOADER, .isa = table[i].bits});
		check(&m, &opts, &o);
		CHECK_INT(o.rc, 0);
		CHECK_INT(o.diags.n, table[i].n);
		if (o.diags.n == 1)
			CHECK(strstr(o.diags.at[0].message,
			             "x86-64-v4, and the fleet's g5.xlarge has") != NULL);
		diags_done(&o.diags);
		arena_done(&o.arena);
	}
}

/* ---- bounded work ---- */

/* Each of n files needs others and looks for them in 256 folders that are there. */
static void make_dense(struct image_make *m, unsigned n)
{
	char rpath[4096] = "";
	size_t len = 0;

	for (unsigned i = 0; i < 256; i++) {
		char dir[16];

		len += (size_t)snprintf(rpath + len, sizeof(rpath) - len, "%s/d/%02x",
		                        i > 0 ? ":" : "", i);
		snprintf(dir, sizeof(dir), "d/%02x", i);
		tar_dir(&m->layers[0].tar, dir, 0755);
	}
	for (unsigned i = 0; i < n; i++) {
		static const char *const absent[] = {"libx0.so", "libx1.so", "libx2.so", "libx3.so",
		                                     "libx4.so"};
		char path[32], next[32];
		struct elf_make e = {.interpreter = LOADER, .rpath = rpath};

		for (size_t k = 0; k < ARRAY_LEN(absent); k++)
			e.needed[k] = absent[k];
		snprintf(path, sizeof(path), "d/ff/p%u", i);
		snprintf(next, sizeof(next), "p%u", (i + 1) % n);
		e.needed[5] = next;
		e.extra = "";
		put_elf(m, path, e);
	}
}

static size_t count(const struct outcome *o, const char *text)
{
	size_t n = 0;

	for (size_t i = 0; i < o->diags.n; i++)
		n += strstr(o->diags.at[i].message, text) != NULL;
	return n;
}

/* Beyond what the test held before. */
static long grown_kib(long before)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return use.ru_maxrss - before;
}

static void expands_each_path_once(void)
{
	struct image_make m;
	struct outcome o = {0};
	const long before = grown_kib(0);

	start_image(&m);
	make_dense(&m, 80);
	check(&m, &(struct check_opts){.threads = 1, .program_elsewhere = true}, &o);
	CHECK(o.rc == -1 && o.err.code == ERR_CHECK);
	CHECK(grown_kib(before) < 64 << 10);
	diags_done(&o.diags);
	arena_done(&o.arena);
}

static void ends_when_the_work_is_used_up(void)
{
	struct image_make m;
	struct outcome o = {0};

	start_image(&m);
	make_dense(&m, 200);
	check(&m, &(struct check_opts){.threads = 1, .program_elsewhere = true}, &o);
	CHECK(o.rc == -1 && o.err.code == ERR_CHECK);
	CHECK_INT(count(&o, "the linkage of this image is too large to check"), 1);
	diags_done(&o.diags);
	arena_done(&o.arena);
}

int main(void)
{
	TEST("elf_cache: both formats are read, and what is for another machine passed over",
	     reads_both_formats);
	TEST("elf_cache: counts and offsets that lead outside find nothing",
	     survives_hostile_caches);
	TEST("linkage: each image is judged as its loader would", says_exactly_this);
	TEST("linkage: a missing library silences the symbols of its program alone",
	     a_missing_library_silences_its_program_alone);
	TEST("linkage: a level above the fleet's processors is said",
	     compares_with_the_fleets_processors);
	TEST("linkage: 80 files that look into 256 folders each take little memory",
	     expands_each_path_once);
	TEST("linkage: work has an end, and what is left out is said",
	     ends_when_the_work_is_used_up);
	return test_done();
}
