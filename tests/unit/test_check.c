/*
 * A good image of made-up ELF files, and one fault a rule. Every rule is seen to fire, to be silent
 * on the good image, and to be turned off by its name.
 */
#include "tests/harness.h"

#include "base/fs.h"
#include "base/text.h"
#include "builder/check/check.h"
#include "builder/check/images.h"
#include "builder/check/rules.h"
#include "tests/elf_make.h"
#include "tests/image_make.h"

#define LIB    "usr/lib/aarch64-linux-gnu/"
#define LOADER "/lib/ld-linux-aarch64.so.1"

static const char loader_dirs[] =
	"\0/lib/aarch64-linux-gnu/\0/usr/lib/aarch64-linux-gnu/\0/lib/\0/usr/lib/\0";
static const char fake_secret[] = "AKIA"
				  "ABCDEFGHIJKLMNOP wJalrXUtnFEMIaK7MDENGabPxRfiCYzzzzzKEYaa\n";

static void put_elf(struct image_make *m, size_t layer, const char *path, struct elf_make elf)
{
	unsigned char bytes[ELF_MAKE_MAX];

	if (elf.machine == 0)
		elf.machine = EM_AARCH64;
	tar_file(&m->layers[layer].tar, path, 0755, bytes, elf_make(&elf, bytes));
	if (m->n_layers <= layer)
		m->n_layers = layer + 1;
}

/* An ld.so.cache of one entry, in the newer format. */
static void put_cache(struct image_make *m, const char *name, const char *path, unsigned flags)
{
	unsigned char bytes[512] = "glibc-ld.so.cache1.1";
	struct elf_make little = {0};
	struct elf_out o = {.bytes = bytes, .m = &little, .strings = 0, .strings_len = 128};

	elf_put(&o, 20, 1, 4);
	elf_put(&o, 28, 2, 1);
	elf_put(&o, 48, flags, 4);
	elf_put(&o, 52, elf_string(&o, name), 4);
	elf_put(&o, 56, elf_string(&o, path), 4);
	tar_file(&m->layers[1].tar, "etc/ld.so.cache", 0644, bytes, sizeof(bytes));
}

/* Layer 1: C library and loader; layer 2: the program. */
static void good_image(struct image_make *m)
{
	*m = (struct image_make){.architecture = "arm64",
	                         .config = "\"Entrypoint\":[\"/usr/bin/p\"]"};
	m->layers[0].name = "runtime";
	m->layers[1].name = "program";
	put_elf(m, 0, "lib/ld-linux-aarch64.so.1",
	        (struct elf_make){.soname = "ld-linux-aarch64.so.1",
	                          .extra = loader_dirs,
	                          .extra_len = sizeof(loader_dirs)});
	put_elf(m, 0, LIB "libc.so.6",
	        (struct elf_make){.soname = "libc.so.6",
	                          .interpreter = LOADER,
	                          .needed = {"ld-linux-aarch64.so.1"},
	                          .defines = {"GLIBC_2.17", "GLIBC_2.36"}});
	put_elf(m, 1, "usr/bin/p",
	        (struct elf_make){.interpreter = LOADER,
	                          .needed = {"libc.so.6"},
	                          .need_library = "libc.so.6",
	                          .need_version = "GLIBC_2.36"});
	tar_dir(&m->layers[1].tar, "tmp", 01777);
}

struct outcome {
	struct arena arena;
	struct diags diags;
	struct check_report report;
	struct err err;
	int rc;
};

static void outcome_done(struct outcome *o)
{
	diags_done(&o->diags);
	arena_done(&o->arena);
}

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

static unsigned count(const struct outcome *o, const char *rule)
{
	unsigned n = 0;

	for (size_t i = 0; i < o->diags.n; i++)
		n += o->diags.at[i].rule != NULL && strcmp(o->diags.at[i].rule, rule) == 0;
	return n;
}

static bool says(const struct outcome *o, const char *text)
{
	for (size_t i = 0; i < o->diags.n; i++)
		if (strstr(o->diags.at[i].message, text) != NULL)
			return true;
	return false;
}

static void show(const struct outcome *o)
{
	for (size_t i = 0; i < o->diags.n; i++)
		printf("# %s: %s\n", o->diags.at[i].rule, o->diags.at[i].message);
	if (o->rc != 0)
		printf("# %s\n", o->err.msg);
}

/* --- one fault a rule --------------------------------------------------------------------------
 */

static void bad_digest(struct image_make *m)
{
	m->layers[1].corrupt = true;
}
static void bad_media(struct image_make *m)
{
	m->layers[1].media_type = "application/x-cpio";
}
static void bad_config_media(struct image_make *m)
{
	m->config_media_type = "application/json";
}
static void bad_diff_id(struct image_make *m)
{
	m->layers[1].wrong_diff_id = true;
}
static void bad_history(struct image_make *m)
{
	m->extra_history = 1;
}
static void bad_platform(struct image_make *m)
{
	m->config_architecture = "amd64";
}

static void bad_layer_count(struct image_make *m)
{
	for (; m->n_layers < 128; m->n_layers++)
		tar_text(&m->layers[m->n_layers].tar, "etc/same", "x");
}

static void bad_duplicate(struct image_make *m)
{
	tar_text(&m->layers[1].tar, "etc/x", "1");
	tar_text(&m->layers[1].tar, "etc/x", "2");
}

static void bad_whiteout(struct image_make *m)
{
	tar_text(&m->layers[1].tar, "etc/.wh.", "");
}

static void bad_hard_link(struct image_make *m)
{
	tar_hardlink(&m->layers[1].tar, "etc/x", "etc/absent");
}

static void bad_shadow(struct image_make *m)
{
	tar_symlink(&m->layers[0].tar, "sbin", "usr/bin");
	tar_dir(&m->layers[0].tar, "usr/bin", 0755);
	tar_dir(&m->layers[1].tar, "sbin", 0755);
}

static void bad_secret(struct image_make *m)
{
	tar_text(&m->layers[0].tar, "etc/creds", fake_secret);
}

static void hidden_secret(struct image_make *m)
{
	tar_text(&m->layers[0].tar, "root/.netrc", "machine x login y password z\n");
	tar_text(&m->layers[1].tar, "root/.wh..netrc", "");
}

static void bad_setuid(struct image_make *m)
{
	tar_file(&m->layers[1].tar, "bin/su", 04755, "x", 1);
}
static void bad_writable(struct image_make *m)
{
	tar_dir(&m->layers[1].tar, "srv", 0777);
}
static void bad_writable_file(struct image_make *m)
{
	tar_file(&m->layers[1].tar, "f", 0666, "x", 1);
}
static void bad_entrypoint(struct image_make *m)
{
	m->config = "\"Entrypoint\":[\"/usr/bin/q\"]";
}

static void bad_entrypoint_mode(struct image_make *m)
{
	tar_text(&m->layers[1].tar, "usr/bin/script", "#!/bin/sh\n");
	m->config = "\"Cmd\":[\"/usr/bin/script\"]";
}

static void bad_script(struct image_make *m)
{
	tar_file(&m->layers[1].tar, "start", 0755, "#!/bin/bash\n", 12);
	m->config = "\"Entrypoint\":[\"/start\"]";
}

static void bad_one_text(struct image_make *m)
{
	m->config = "\"Entrypoint\":[\"/usr/bin/p --port 80\"]";
}

static void bad_no_entrypoint(struct image_make *m)
{
	m->config = NULL;
}

static void bad_command(struct image_make *m)
{
	tar_file(&m->layers[1].tar, "usr/bin/helper", 0755, "#!/usr/bin/perl\n", 16);
}

static void bad_user(struct image_make *m)
{
	tar_text(&m->layers[1].tar, "etc/passwd", "app:x:1000:1000::/:\n");
	m->config = "\"Entrypoint\":[\"/usr/bin/p\"],\"User\":\"apq\"";
}

static void bad_group(struct image_make *m)
{
	m->config = "\"Entrypoint\":[\"/usr/bin/p\"],\"User\":\"1000:staff\"";
}

static void bad_rights(struct image_make *m)
{
	tar_dir(&m->layers[1].tar, "usr/bin", 0700);
	m->config = "\"Entrypoint\":[\"/usr/bin/p\"],\"User\":\"1000\"";
}

static void bad_library_rights(struct image_make *m)
{
	tar_dir(&m->layers[1].tar, "usr/lib", 0700);
	m->config = "\"Entrypoint\":[\"/usr/bin/p\"],\"User\":\"1000\"";
}

static void bad_workdir(struct image_make *m)
{
	m->config = "\"Entrypoint\":[\"/usr/bin/p\"],\"WorkingDir\":\"/usr/bin/p\"";
}

static void bad_search_path(struct image_make *m)
{
	m->config = "\"Entrypoint\":[\"/usr/bin/p\"],\"Env\":[\"PATH=/usr/bin:$PATH\"]";
}

static void bad_vcs(struct image_make *m)
{
	tar_text(&m->layers[1].tar, "srv/.git/HEAD", "ref: refs/heads/main\n");
}

static void bad_core(struct image_make *m)
{
	unsigned char bytes[ELF_MAKE_MAX];
	const struct elf_make elf = {.machine = EM_AARCH64};
	size_t len = elf_make(&elf, bytes);

	bytes[16] = ET_CORE;
	tar_file(&m->layers[1].tar, "core", 0600, bytes, len);
}

static void bad_link(struct image_make *m)
{
	tar_symlink(&m->layers[1].tar, "srv/current", "v2");
}

static void bad_machine(struct image_make *m)
{
	put_elf(m, 1, "usr/bin/foreign", (struct elf_make){.machine = EM_X86_64});
}

static void bad_interpreter(struct image_make *m)
{
	put_elf(m, 1, "usr/bin/q", (struct elf_make){.interpreter = "/lib/ld-absent.so.1"});
}

static void bad_needed(struct image_make *m)
{
	put_elf(m, 1, "usr/bin/q",
	        (struct elf_make){.interpreter = LOADER, .needed = {"libabsent.so.1"}});
}

static void bad_needed_deep(struct image_make *m)
{
	put_elf(m, 0, LIB "liba.so.1",
	        (struct elf_make){.soname = "liba.so.1", .needed = {"libabsent.so.1"}});
	put_elf(m, 1, "usr/bin/q",
	        (struct elf_make){.interpreter = LOADER, .needed = {"liba.so.1"}});
}

static void bad_glibc(struct image_make *m)
{
	put_elf(m, 1, "usr/bin/q",
	        (struct elf_make){.interpreter = LOADER,
	                          .needed = {"libc.so.6"},
	                          .need_library = "libc.so.6",
	                          .need_version = "GLIBC_2.38"});
}

static void bad_symbol(struct image_make *m)
{
	put_elf(m, 1, "usr/bin/q",
		(struct elf_make){.interpreter = LOADER,
				  .needed = {"libc.so.6"},
				  .undefined = {"absent_symbol"}});
}

static void bad_preload(struct image_make *m)
{
	m->config = "\"Entrypoint\":[\"/usr/bin/p\"],\"Env\":[\"LD_PRELOAD=libabsent.so\"]";
}

static void bad_preload_file(struct image_make *m)
{
	tar_text(&m->layers[1].tar, "etc/ld.so.preload", "/opt/absent.so # old\n");
}

static void bad_textrel(struct image_make *m)
{
	put_elf(m, 1, "usr/bin/q", (struct elf_make){.interpreter = LOADER, .textrel = true});
}

static void bad_exec_stack(struct image_make *m)
{
	put_elf(m, 1, "usr/bin/q", (struct elf_make){.interpreter = LOADER, .exec_stack = true});
}

static void bad_rpath(struct image_make *m)
{
	put_elf(m, 1, "usr/bin/q",
		(struct elf_make){.interpreter = LOADER, .runpath = "/home/me/build/lib"});
}

static void relative_rpath(struct image_make *m)
{
	put_elf(m, 1, "usr/bin/q",
		(struct elf_make){.interpreter = LOADER, .rpath = "$ORIGIN/../lib::/usr/lib"});
}

static const struct fault {
	const char *rule;
	void (*make)(struct image_make *m);
	bool warning;
	const char *message;
} faults[] = {
	{"digest", bad_digest, false, "layer 2 'program'"},
	{"media-type", bad_media, false, "application/x-cpio"},
	{"media-type", bad_config_media, false, "application/json"},
	{"layer-count", bad_layer_count, false, "128 layers"},
	{"diff-id", bad_diff_id, false, "layer 2 'program': the configuration says diff ID"},
	{"history", bad_history, false, "the history has 3 entries"},
	{"platform", bad_platform, false, "is for linux/amd64"},
	{"duplicate-path", bad_duplicate, false, "layer 2 'program': /etc/x: is in this layer more"},
	{"whiteout", bad_whiteout, false, "/etc/.wh.: is a malformed whiteout"},
	{"hard-link", bad_hard_link, false, "/etc/x: is a hard link to 'etc/absent'"},
	{"shadowed-symlink", bad_shadow, false, "/sbin: is a folder here"},
	{"secret", bad_secret, false, "layer 1 'runtime': /etc/creds: holds an AWS secret access key"},
	{"secret", hidden_secret, false, "/root/.netrc: holds a .netrc file"},
	{"setuid", bad_setuid, true, "/bin/su: is setuid (mode 4755"},
	{"world-writable", bad_writable, true, "/srv: folder is writable"},
	{"world-writable", bad_writable_file, true, "/f: file is writable"},
	{"entrypoint", bad_entrypoint, false, "'/usr/bin/q', is not in the image"},
	{"entrypoint", bad_entrypoint_mode, false,
     "/usr/bin/script: the program to start is not executable"},
	{"entrypoint", bad_script, false,
     "/start: the program to start is a script whose interpreter '/bin/bash' is not in the "
     "image"},
	{"entrypoint", bad_one_text, false, "is written as one text with spaces, '/usr/bin/p ...'"},
	{"no-entrypoint", bad_no_entrypoint, true, "neither an entrypoint nor a command"},
	{"script-interpreter", bad_command, true, "/usr/bin/helper: is a script whose interpreter"},
	{"user", bad_user, false, "the user 'apq' is not in /etc/passwd"},
	{"user", bad_group, false,
     "the group 'staff' is not in the image, which has no /etc/group"},
	{"user-rights", bad_rights, false, "/usr/bin: the image's user '1000' may not search it"},
	{"user-rights", bad_library_rights, false,
     "/usr/lib: the image's user '1000' may not search"},
	{"workdir", bad_workdir, false, "/usr/bin/p: the working folder is not a folder"},
	{"search-path", bad_search_path, true, "PATH: '$PATH' is not expanded"},
	{"vcs-folder", bad_vcs, true, "/srv/.git: holds a repository's history"},
	{"core-dump", bad_core, true, "/core: is a core dump"},
	{"dangling-link", bad_link, true, "/srv/current: is a symbolic link to 'v2'"},
	{"elf-machine", bad_machine, false,
     "/usr/bin/foreign: is for x86-64 (64 bit), the platform needs AArch64"},
	{"elf-interpreter", bad_interpreter, false,
     "/usr/bin/q: its interpreter '/lib/ld-absent.so.1'"},
	{"elf-needed", bad_needed, false, "/usr/bin/q: needs 'libabsent.so.1'"},
	{"elf-needed", bad_needed_deep, false,
     "liba.so.1: needs 'libabsent.so.1', which the loader does not find when it is loaded for "
     "/usr/bin/q"},
	{"glibc-version", bad_glibc, false, "/usr/bin/q: needs version GLIBC_2.38 of libc.so.6"},
	{"elf-symbol", bad_symbol, false, "/usr/bin/q: needs the symbol 'absent_symbol'"},
	{"ld-preload", bad_preload, true, "'libabsent.so' is to be loaded into every program"},
	{"ld-preload", bad_preload_file, true, "'/opt/absent.so' is to be loaded into every program"},
	{"elf-textrel", bad_textrel, true, "/usr/bin/q: has text relocations"},
	{"elf-exec-stack", bad_exec_stack, true, "/usr/bin/q: asks for an executable stack"},
	{"elf-rpath", bad_rpath, true, "in '/home/me/build/lib', which is not in the image"},
	{"elf-rpath", relative_rpath, true, "in '', which is empty"},
};

static void passes_a_good_image(void)
{
	struct image_make m;
	struct check_opts opts = {.size_budget = 10 << 20};
	struct outcome o = {0};

	good_image(&m);
	check(&m, &opts, &o);
	CHECK_INT(o.rc, 0);
	CHECK_INT(o.diags.n, 0);
	show(&o);
	CHECK_INT(o.report.n_platforms, 1);
	CHECK_INT(o.report.n_blobs, 5);
	if (o.report.n_platforms == 1) {
		CHECK_INT(o.report.platforms[0].n_layers, 2);
		CHECK_INT(o.report.platforms[0].n_files, 9);
		CHECK_INT(o.report.platforms[0].content_bytes, 3 * ELF_MAKE_MAX);
	}
	outcome_done(&o);
}

static void every_fault_is_refused(void)
{
	for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
		struct image_make m;
		struct check_opts opts = {0};
		struct outcome o = {0};
		unsigned n;

		good_image(&m);
		faults[i].make(&m);
		check(&m, &opts, &o);
		n = count(&o, faults[i].rule);
		if (n == 0 || !says(&o, faults[i].message) || !says(&o, "linux/arm64: ")) {
			test_fail(__FILE__, __LINE__, faults[i].rule);
			printf("# wanted: %s\n", faults[i].message);
			show(&o);
		}
		if (faults[i].warning)
			CHECK_INT(o.rc, 0);
		else
			CHECK(o.rc == -1 && o.err.code == ERR_CHECK);
		outcome_done(&o);
	}
}

static void every_rule_can_be_turned_off(void)
{
	for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
		struct image_make m;
		const char *name = faults[i].rule;
		struct check_opts opts = {.off = {&name, 1}};
		struct outcome o = {0};

		good_image(&m);
		faults[i].make(&m);
		check(&m, &opts, &o);
		CHECK_INT(count(&o, name), 0);
		outcome_done(&o);
	}
}

static void every_rule_has_a_fault(void)
{
	for (size_t id = 0; id < RULES; id++) {
		/* The others have tests of their own: here, in test_linkage.c and test_data.c. */
		bool found = id == RULE_SIZE_BUDGET || id == RULE_ELF_ISA ||
			     id == RULE_LINKAGE_SIZE ||
			     (id >= RULE_ELF_DLOPEN && id <= RULE_PROGRAM_DATA);

		for (size_t i = 0; i < ARRAY_LEN(faults); i++)
			found |= strcmp(faults[i].rule, rules[id].name) == 0;
		if (!found)
			test_fail(__FILE__, __LINE__, rules[id].name);
		CHECK(rules[id].summary != NULL && rules[id].name != NULL);
	}
}

/* So that `off:` can be checked without reading an image. */
static void names_agree_with_the_spec(void)
{
	CHECK_INT(check_rule_count, RULES);
	for (size_t id = 0; id < RULES && id < check_rule_count; id++)
		CHECK_STR(check_rule_names[id], rules[id].name);
}

static void keeps_to_the_budget(void)
{
	struct image_make m;
	const char *off = "size-budget";
	struct check_opts opts = {.size_budget = 1000},
			  lax = {.size_budget = 1000, .off = {&off, 1}};
	struct outcome o = {0}, p = {0};

	good_image(&m);
	check(&m, &opts, &o);
	CHECK(o.rc == -1 && count(&o, "size-budget") == 1);
	good_image(&m);
	check(&m, &lax, &p);
	CHECK_INT(p.rc, 0);
	outcome_done(&o);
	outcome_done(&p);
}

static void believes_the_provided(void)
{
	struct image_make m;
	const char *provided = "libabsent.so*";
	struct check_opts opts = {.provided = {&provided, 1}};
	struct outcome o = {0};

	good_image(&m);
	bad_needed(&m);
	check(&m, &opts, &o);
	CHECK_INT(o.rc, 0);
	CHECK_INT(o.diags.n, 0);
	outcome_done(&o);
}

static void looks_where_the_loader_looks(void)
{
	struct image_make m;
	struct check_opts opts = {0};
	struct outcome o = {0};

	good_image(&m);
	m.config = "\"Entrypoint\":[\"/usr/bin/p\"],\"Env\":[\"LD_LIBRARY_PATH=/env/lib\"]";
	put_elf(&m, 1, "opt/app/lib/libo.so.1", (struct elf_make){.soname = "libo.so.1"});
	put_elf(&m, 1, "env/lib/libe.so.1", (struct elf_make){.soname = "libe.so.1"});
	put_elf(&m, 1, "opt/conf/libc1.so.1", (struct elf_make){.soname = "libc1.so.1"});
	put_elf(&m, 1, "usr/lib/r/libr.so.1.0", (struct elf_make){.soname = "libr.so.1"});
	tar_symlink(&m.layers[1].tar, "usr/lib/r/libr.so.1", "libr.so.1.0");
	tar_symlink(&m.layers[1].tar, "opt/link", "/usr/lib/r");
	put_cache(&m, "libc1.so.1", "/opt/conf/libc1.so.1", 0x0a03);
	put_elf(&m, 1, "opt/app/bin/q",
	        (struct elf_make){.interpreter = LOADER,
	                          .runpath = "$ORIGIN/../lib:/opt/link",
	                          .needed = {"libo.so.1", "libe.so.1", "libc1.so.1", "libr.so.1",
	                                     "libc.so.6"}});
	check(&m, &opts, &o);
	CHECK_INT(o.rc, 0);
	CHECK_INT(o.diags.n, 0);
	show(&o);
	outcome_done(&o);
}

/* /usr/lib64 is searched by other systems' loaders, but this image's is Debian's. */
static void knows_the_images_own_loader(void)
{
	struct image_make m;
	struct check_opts opts = {0};
	struct outcome o = {0};

	good_image(&m);
	put_elf(&m, 1, "usr/lib64/libx.so.1", (struct elf_make){.soname = "libx.so.1"});
	put_elf(&m, 1, "usr/bin/q",
	        (struct elf_make){.interpreter = LOADER, .needed = {"libx.so.1"}});
	check(&m, &opts, &o);
	CHECK(o.rc == -1 && count(&o, "elf-needed") == 1);
	outcome_done(&o);
}

static void only_warns_of_plugins(void)
{
	struct image_make m;
	struct check_opts opts = {0};
	struct outcome o = {0};

	good_image(&m);
	put_elf(&m, 1, "usr/lib/plugin.so", (struct elf_make){.needed = {"libhost.so.1"}});
	check(&m, &opts, &o);
	CHECK_INT(o.rc, 0);
	CHECK_INT(count(&o, "elf-needed"), 1);
	outcome_done(&o);
}

static void applies_whiteouts(void)
{
	struct image_make m;
	struct check_opts opts = {0};
	struct outcome o = {0};

	good_image(&m);
	bad_machine(&m); /* in layer 2, hidden by layer 3 */
	tar_file(&m.layers[1].tar, "srv/a", 0666, "x", 1);
	tar_text(&m.layers[2].tar, "usr/bin/.wh.foreign", "");
	tar_text(&m.layers[2].tar, "srv/new", "kept");
	tar_text(&m.layers[2].tar, "srv/.wh..wh..opq", "");
	m.n_layers = 3;
	check(&m, &opts, &o);
	CHECK_INT(o.rc, 0);
	CHECK_INT(o.diags.n, 0);
	show(&o);
	outcome_done(&o);
}

static void follows_links_between_layers(void)
{
	struct image_make m;
	struct check_opts opts = {0};
	struct outcome o = {0};

	good_image(&m);
	m.config = "\"Entrypoint\":[\"q\"]";
	tar_symlink(&m.layers[0].tar, "bin", "usr/bin");
	/* lands in usr/bin through the link, without replacing it */
	put_elf(&m, 1, "bin/q", (struct elf_make){.interpreter = LOADER, .needed = {"libc.so.6"}});
	check(&m, &opts, &o);
	CHECK_INT(o.rc, 0);
	CHECK_INT(o.diags.n, 0);
	show(&o);
	outcome_done(&o);
}

static void stops_repeating_itself(void)
{
	struct image_make m;
	struct check_opts opts = {0};
	struct outcome o = {0};

	good_image(&m);
	for (int i = 0; i < 50; i++) {
		char path[32];

		snprintf(path, sizeof(path), "bin/s%d", i);
		tar_file(&m.layers[1].tar, path, 04755, "x", 1);
	}
	check(&m, &opts, &o);
	CHECK_INT(count(&o, "setuid"), RULE_REPORTS_MAX + 1);
	CHECK(says(&o, "30 more of setuid"));
	outcome_done(&o);
}

static void survives_cut_layers(void)
{
	for (size_t cut = 100; cut < 9000; cut += 777) {
		struct image_make m;
		struct check_opts opts = {0};
		struct outcome o = {0};

		good_image(&m);
		m.layers[1].tar.len = cut;
		check(&m, &opts, &o);
		CHECK(o.rc == 0 || o.err.code == ERR_CHECK);
		outcome_done(&o);
	}
}

/* --- secrets -----------------------------------------------------------------------------------
 */

static void never_shows_the_secret(void)
{
	struct image_make m;
	struct check_opts opts = {0};
	struct outcome o = {0};

	good_image(&m);
	bad_secret(&m);
	check(&m, &opts, &o);
	CHECK(says(&o, "at byte 0"));
	CHECK(!says(&o, "AKIA") && !says(&o, "wJal"));
	outcome_done(&o);
}

static const struct {
	const char *config, *message; /* NULL: nothing is found */
	bool warning;
} config_secrets[] = {
	{"\"Env\":[\"T=gh"
         "p_q7Yx1Lw9Zr3Tn5Vb8Mc2Kd6Fg0Hj4PsAeRuI\"]",
         "env:T: holds a GitHub token", false},
	{"\"Env\":[\"DB_PASSWORD=hunter2\"]", "env:DB_PASSWORD: is named like a secret", true},
	{"\"Env\":[\"DB_PASSWORD=\",\"PATH=/bin\",\"X_FILE=/run/secrets/x\"]", NULL, false},
	{"\"Env\":[\"URL=amqp://me:hunter2@mq\"]", "env:URL: holds a URL with a password", true},
	{"\"Labels\":{\"deploy.token\":\"hunter2\"}", "label:deploy.token: is named like", true},
	{"\"Cmd\":[\"--password=hunter2\"]", "cmd:1: assigns a value", true},
	{"\"Cmd\":[\"--password\",\"hunter2\"]", "cmd:2: is named like a secret", true},
	{"\"Cmd\":[\"--password-file\",\"/x\"]", NULL, false},
	{"\"Healthcheck\":{\"Test\":[\"CMD\",\"curl --oauth2-bearer TOKEN=hunter2\"]}",
         "config:Test: assigns a value", true},
};

static void finds_secrets_of_the_configuration(void)
{
	for (size_t i = 0; i < ARRAY_LEN(config_secrets); i++) {
		struct image_make m;
		struct check_opts opts = {0};
		struct outcome o = {0};
		char config[512];

		good_image(&m);
		snprintf(config, sizeof(config), "%s%s", config_secrets[i].config,
		         strstr(config_secrets[i].config, "\"Cmd\"") != NULL
		                 ? ",\"Entrypoint\":[\"/usr/bin/p\"]"
		                 : "");
		m.config = config;
		check(&m, &opts, &o);
		CHECK_INT(count(&o, "secret"), config_secrets[i].message != NULL);
		CHECK(config_secrets[i].message == NULL || says(&o, config_secrets[i].message));
		CHECK_INT(o.diags.n_errors > 0,
		          config_secrets[i].message != NULL && !config_secrets[i].warning);
		CHECK(!says(&o, "hunter2") && !says(&o, "q7Yx"));
		if (count(&o, "secret") != (config_secrets[i].message != NULL))
			show(&o);
		outcome_done(&o);
	}
}

static const struct {
	const char *rule, *path, *digest;
	unsigned findings, unused;
} allowances[] = {
	{"secret", "/etc/creds", NULL, 0, 0},
	{"secret", "etc/*", NULL, 0, 0},
	{"secret", "/etc/other", NULL, 1, 1},
	{"setuid", "/etc/creds", NULL, 1, 1},
	{"secret", "/etc/creds", "right", 0, 0},
	{"secret", "/etc/creds",
         "sha256:0000000000000000000000000000000000000000000000000000000000000000", 1, 1},
};

static void allows_by_rule_path_and_digest(void)
{
	const struct digest digest = digest_of(fake_secret, strlen(fake_secret));

	for (size_t i = 0; i < ARRAY_LEN(allowances); i++) {
		char text[DIGEST_TEXT_MAX];
		struct check_allowance allow = {.rule = allowances[i].rule,
		                                .path = allowances[i].path,
		                                .digest = allowances[i].digest};
		struct check_opts opts = {.allow = &allow, .n_allow = 1};
		struct image_make m;
		struct outcome o = {0};

		if (allow.digest != NULL && strcmp(allow.digest, "right") == 0)
			allow.digest = digest_text(&digest, text);
		good_image(&m);
		bad_secret(&m);
		check(&m, &opts, &o);
		CHECK_INT(o.diags.n_errors, allowances[i].findings);
		CHECK_INT(o.diags.n - o.diags.n_errors, allowances[i].unused);
		CHECK(o.rc != 0 || o.report.n_allowed == 1);
		CHECK_INT(says(&o, "has no finding at"), allowances[i].unused);
		outcome_done(&o);
	}
}

/* What the hint says to write is what allows the finding. */
static void hints_at_the_digest(void)
{
	const struct digest digest = digest_of(fake_secret, strlen(fake_secret));
	char text[DIGEST_TEXT_MAX];
	struct image_make m;
	struct check_opts opts = {0};
	struct outcome o = {0};

	good_image(&m);
	bad_secret(&m);
	check(&m, &opts, &o);
	CHECK(o.diags.n == 1 && strstr(o.diags.at[0].hint, digest_text(&digest, text)) != NULL);
	outcome_done(&o);
}

/* --- several platforms -------------------------------------------------------------------------
 */

static void tells_platforms_apart(void)
{
	struct arena a = {0};
	struct diags d = {0};
	struct image_make m;
	struct check_opts opts = {0};
	struct check_report report;
	struct err err = {0};
	struct layout *layout = NULL;
	struct descriptor descs[2], index;
	struct platform amd64 = {"linux", "amd64", ""};
	struct store *store;
	char dir[4096];

	test_tmpdir(dir);
	CHECK_OK(layout_open(dir, LAYOUT_WRITE, &layout, &err), &err);
	good_image(&m);
	descs[0] = image_make(&m, layout, &a);
	good_image(&m); /* arm64's files as amd64's image */
	m.architecture = "amd64";
	descs[1] = image_make(&m, layout, &a);
	index = image_index(descs, 2, layout);
	store = layout_store(layout);
	CHECK(check_image(store, &index, &opts, &a, &report, &d, &err) == -1);
	for (size_t i = 0; i < d.n; i++)
		CHECK(text_has_prefix(d.at[i].message, "linux/amd64: "));
	CHECK(d.n_errors >= 3);
	opts.only = &descs[0].platform;
	diags_done(&d);
	CHECK_OK(check_image(store, &index, &opts, &a, &report, &d, &err), &err);
	CHECK_INT(report.n_platforms, 1);
	opts.only = &amd64;
	err = (struct err){0};
	CHECK(check_image(store, &index, &opts, &a, &report, &d, &err) == -1 &&
	      err.code == ERR_CHECK);
	store_close(store);
	layout_close(layout);
	diags_done(&d);
	arena_done(&a);
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

/* Every image of an index in an index is read, however it is wrapped; faults do not hide there. */
static void descends_into_indexes(void)
{
	struct arena a = {0};
	struct diags d = {0};
	struct image_make m;
	struct check_opts opts = {0};
	struct check_report report = {0};
	struct err err = {0};
	struct layout *layout = NULL;
	struct descriptor descs[2], index, both[2];
	struct platform arm64 = {"linux", "arm64", ""}, s390x = {"linux", "s390x", ""};
	struct store *store;
	char dir[4096];

	test_tmpdir(dir);
	CHECK_OK(layout_open(dir, LAYOUT_WRITE, &layout, &err), &err);
	store = layout_store(layout);
	good_image(&m);
	descs[0] = image_make(&m, layout, &a);
	index = image_index(descs, 1, layout);
	/* The same index twice is one. */
	both[0] = both[1] = index;
	index = image_index(both, 2, layout);
	CHECK_OK(check_image(store, &index, &opts, &a, &report, &d, &err), &err);
	CHECK_INT(report.n_platforms, 1);
	opts.only = &arm64;
	CHECK_OK(check_image(store, &index, &opts, &a, &report, &d, &err), &err);
	CHECK_INT(report.n_platforms, 1);
	opts.only = &s390x;
	CHECK(check_image(store, &index, &opts, &a, &report, &d, &err) == -1 &&
	      err.code == ERR_NOT_FOUND);
	opts.only = NULL;
	good_image(&m);
	tar_text(&m.layers[1].tar, "etc/key", fake_secret);
	descs[1] = image_make(&m, layout, &a);
	both[0] = index;
	both[1] = image_index(&descs[1], 1, layout);
	index = image_index(both, 2, layout);
	err = (struct err){0};
	CHECK(check_image(store, &index, &opts, &a, &report, &d, &err) == -1 &&
	      err.code == ERR_CHECK);
	CHECK_INT(d.n_errors, 1);
	store_close(store);
	layout_close(layout);
	diags_done(&d);
	arena_done(&a);
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

/* The error code for `index`, whose images are not even good. */
static enum err_code refusal(struct layout *layout, const struct descriptor *index)
{
	struct arena a = {0};
	struct diags d = {0};
	struct check_opts opts = {0};
	struct check_report report = {0};
	struct err err = {0};
	struct store *store = layout_store(layout);
	int rc = check_image(store, index, &opts, &a, &report, &d, &err);

	store_close(store);
	diags_done(&d);
	arena_done(&a);
	return rc == 0 ? ERR_NONE : err.code;
}

/* A signature or chart as an OCI artifact; `more` are members of its manifest. */
static struct descriptor artifact(struct layout *layout, const char *more, const char *config)
{
	char text[512], digest[DIGEST_TEXT_MAX];
	struct descriptor empty, manifest = {0};
	struct err err = {0};

	CHECK_OK(layout_put(layout, config, "{}", 2, &empty, &err), &err);
	int n = snprintf(text, sizeof(text),
	                 "{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_MANIFEST "\",%s\"config\":{\"mediaType\":\"%s\","
	                 "\"digest\":\"%s\",\"size\":2},\"layers\":[]}",
	                 more, config, digest_text(&empty.digest, digest));

	CHECK_OK(layout_put(layout, MEDIA_MANIFEST, text, (size_t)n, &manifest, &err), &err);
	return manifest;
}

static void passes_over_artifacts(void)
{
	struct arena a = {0};
	struct diags d = {0};
	struct image_make m;
	struct check_opts opts = {0};
	struct check_report report = {0};
	struct err err = {0};
	struct layout *layout = NULL;
	struct descriptor entries[5], index;
	char dir[4096];

	test_tmpdir(dir);
	CHECK_OK(layout_open(dir, LAYOUT_WRITE, &layout, &err), &err);
	struct store *store = layout_store(layout);

	good_image(&m);
	entries[0] = artifact(layout, "", "application/vnd.oci.empty.v1+json");
	entries[0].artifact_type = "application/vnd.helm"; /* the index says it */
	entries[1] = artifact(layout, "\"artifactType\":\"application/x\",", "application/vnd.oci.empty.v1+json");
	entries[2] = artifact(layout, "", "application/vnd.cncf.helm.config.v1+json");
	entries[3] = image_make(&m, layout, &a);
	entries[4] = artifact(layout, "", "application/vnd.in-toto+json");
	entries[4].platform = (struct platform){"unknown", "unknown", ""};
	index = image_index(entries, 5, layout);
	CHECK_OK(check_image(store, &index, &opts, &a, &report, &d, &err), &err);
	CHECK_INT(report.n_platforms, 1);
	CHECK_INT(d.n, 0);
	/* Artifacts alone are no image; what claims a platform is an image, and a wrong one. */
	index = image_index(entries, 3, layout);
	CHECK_INT(refusal(layout, &index), ERR_CHECK);
	entries[2].platform = entries[3].platform;
	index = image_index(&entries[2], 2, layout);
	CHECK(check_image(store, &index, &opts, &a, &report, &d, &err) != 0);
	CHECK(d.n_errors > 0);
	store_close(store);
	layout_close(layout);
	diags_done(&d);
	arena_done(&a);
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

static void words_for_what_is_passed_over(void)
{
	static const struct {
		struct images_skipped skipped;
		const char *want;
	} table[] = {{{0}, ""},
	             {{.n_attestations = 1}, "1 attestation"},
	             {{.n_artifacts = 2, .type = "x/y"}, "2 artifacts (x/y)"},
	             {{.n_attestations = 2, .n_artifacts = 1, .type = "x/y"}, "2 attestations and 1 artifact (x/y)"}};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		AUTO(strbuf) struct strbuf sb = STRBUF_INIT(0);

		images_describe_skipped(&table[i].skipped, &sb);
		CHECK_STR(strbuf_str(&sb), table[i].want);
	}
}

static void bounds_the_indexes(void)
{
	struct arena a = {0};
	struct image_make m;
	struct err err = {0};
	struct layout *layout = NULL;
	struct descriptor image, index, many[IMAGES_INDEXES_MAX];
	char dir[4096];

	test_tmpdir(dir);
	CHECK_OK(layout_open(dir, LAYOUT_WRITE, &layout, &err), &err);
	good_image(&m);
	image = image_make(&m, layout, &a);
	index = image_index(NULL, 0, layout);
	CHECK_INT(refusal(layout, &index), ERR_CHECK);
	index = image_index(&index, 1, layout);
	CHECK_INT(refusal(layout, &index), ERR_CHECK);
	/* Attestations alone are no image. */
	struct descriptor unknown = image;

	unknown.platform = (struct platform){"unknown", "unknown", ""};
	index = image_index(&unknown, 1, layout);
	CHECK_INT(refusal(layout, &index), ERR_CHECK);
	index = image;
	for (int i = 0; i < IMAGES_DEPTH_MAX; i++)
		index = image_index(&index, 1, layout);
	CHECK_INT(refusal(layout, &index), ERR_NONE);
	index = image_index(&index, 1, layout);
	CHECK_INT(refusal(layout, &index), ERR_LIMIT);
	for (size_t i = 0; i < IMAGES_INDEXES_MAX; i++) {
		snprintf(image.platform.variant, sizeof(image.platform.variant), "v%zu", i);
		many[i] = image_index(&image, 1, layout);
	}
	index = image_index(many, IMAGES_INDEXES_MAX, layout);
	CHECK_INT(refusal(layout, &index), ERR_LIMIT);
	enum { HALF = IMAGES_ENTRIES_MAX / 2 };
	struct descriptor *entries = arena_calloc(&a, HALF, sizeof(*entries));

	for (size_t i = 0; i < HALF; i++)
		entries[i] = many[0];
	many[1] = image_index(entries, HALF, layout);
	many[2] = image_index(entries, HALF - 1, layout);
	index = image_index(many, 3, layout); /* 3 + HALF + HALF - 1 entries already */
	CHECK_INT(refusal(layout, &index), ERR_LIMIT);
	layout_close(layout);
	arena_done(&a);
	CHECK_OK(fs_remove_tree(dir, &err), &err);
}

int main(void)
{
	TEST("check: a good image passes in silence", passes_a_good_image);
	TEST("check: every fault is refused by its rule, with platform, layer and file",
	     every_fault_is_refused);
	TEST("check: every rule can be turned off by name", every_rule_can_be_turned_off);
	TEST("check: every rule has a fault here", every_rule_has_a_fault);
	TEST("check: the spec knows the same rule names", names_agree_with_the_spec);
	TEST("check: layers beyond the size budget are refused", keeps_to_the_budget);
	TEST("check: provided libraries need not be there", believes_the_provided);
	TEST("check: libraries are found by RUNPATH, environment, ld.so.conf and links",
	     looks_where_the_loader_looks);
	TEST("check: a folder that this image's loader does not search does not count",
	     knows_the_images_own_loader);
	TEST("check: a plug-in's missing library is a warning", only_warns_of_plugins);
	TEST("check: what whiteouts hide is not in the file system", applies_whiteouts);
	TEST("check: files land through links of lower layers", follows_links_between_layers);
	TEST("check: many problems of one rule are counted", stops_repeating_itself);
	TEST("check: a layer cut anywhere is refused or read", survives_cut_layers);
	TEST("secret: no message shows one", never_shows_the_secret);
	TEST("secret: the configuration's are found", finds_secrets_of_the_configuration);
	TEST("allow: by rule, path and digest; what covers nothing is said",
	     allows_by_rule_path_and_digest);
	TEST("allow: the hint has the digest", hints_at_the_digest);
	TEST("check: problems name their platform", tells_platforms_apart);
	TEST("check: images in an index of an index are checked", descends_into_indexes);
	TEST("check: artifacts and attestations in an index are passed over", passes_over_artifacts);
	TEST("check: what is passed over has words", words_for_what_is_passed_over);
	TEST("check: an index without an image and indexes without end are refused",
	     bounds_the_indexes);
	return test_done();
}
