#include "builder/layer/source/closure.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/fs.h"
#include "base/interrupt.h"
#include "base/text.h"
#include "builder/layer/source/closure_internal.h"

enum { LOADER_BYTES_MAX = 16 << 20, LINKS_MAX = 40, VARIANTS_MAX = 64 };

/* ---- the list of files ---- */

void closure_add_file(struct closure_run *run, const struct closure_file *file)
{
	for (size_t i = 0; i < run->files.n; i++)
		if (strcmp(run->files.at[i].image, file->image) == 0)
			return;
	vec_push(&run->files, *file);
}

/* The target of a link that stays in its folder, NULL for anything else. */
static const char *sibling_link(struct closure_run *run, const struct closure_dir *dir,
                                const char *name)
{
	struct err err = {0};
	char target[PATH_MAX];
	const char *folder;
	ssize_t n;

	if (sysroot_resolve(&run->sysroot, dir->path, run->arena, &folder, &err) != 0)
		return NULL;
	folder = sysroot_host_path(&run->sysroot, folder, run->arena);
	n = readlink(arena_printf(run->arena, "%s/%s", folder, name), target, sizeof(target) - 1);
	if (n <= 0 || memchr(target, '/', (size_t)n) != NULL || target[0] == '.')
		return NULL;
	return arena_strndup(run->arena, target, (size_t)n);
}

/*
 * Links within the folder are kept (libz.so.1 -> libz.so.1.2.13); one that leads out of it becomes
 * the file itself: the loader takes $ORIGIN from the link's folder, so nothing changes for it.
 */
void closure_add_library(struct closure_run *run, const struct closure_dir *dir, const char *name)
{
	struct arena *a = run->arena;

	for (int i = 0; i < LINKS_MAX; i++) {
		const char *image =
			elf_search_normalise(arena_printf(a, "%s/%s", dir->image, name), a) + 1;
		const char *path = arena_printf(a, "%s/%s", dir->path, name);
		const char *link = sibling_link(run, dir, name);
		struct closure_file file = {.image = image, .link = link, .at = run->at};

		if (link == NULL && !sysroot_is_file(&run->sysroot, path, a, &path))
			return;
		if (link == NULL)
			file.source = sysroot_host_path(&run->sysroot, path, a);
		closure_add_file(run, &file);
		if (link == NULL)
			return;
		name = link;
	}
}

/* ---- the objects of one program ---- */

static void push_object(struct closure_run *run, const struct closure_object *o)
{
	vec_push(&run->objects, arena_memdup(run->arena, o, sizeof(*o)));
}

/* The loader compares the needed name with the names by which files were asked for, and with
 * sonames. */
static bool is_loaded(const struct closure_run *run, const char *needed)
{
	for (size_t i = 0; i < run->objects.n; i++) {
		const struct closure_object *o = run->objects.at[i];

		if (!o->variant && o->loader != NULL &&
		    (strcmp(o->name, needed) == 0 ||
		     (o->elf.soname != NULL && strcmp(o->elf.soname, needed) == 0)))
			return true;
	}
	return false;
}

/* The names of the folders in dir/glibc-hwcaps, sorted. */
static struct strlist hwcaps_levels(struct closure_run *run, const char *dir)
{
	struct strlist levels = {0};
	struct err err = {0};
	const char *path = arena_printf(run->arena, "%s/glibc-hwcaps", dir);
	struct dirent *entry;
	DIR *d;

	if (sysroot_resolve(&run->sysroot, path, run->arena, &path, &err) != 0)
		return levels;
	d = opendir(sysroot_host_path(&run->sysroot, path, run->arena));
	while (d != NULL && levels.n < VARIANTS_MAX && (entry = readdir(d)) != NULL)
		if (entry->d_name[0] != '.')
			elf_search_add(&levels, entry->d_name, run->arena);
	if (d != NULL)
		closedir(d);
	if (levels.n > 0)
		qsort(levels.at, levels.n, sizeof(*levels.at), text_compare);
	return levels;
}

/* The node's CPU decides which variant is loaded, so all are packed beside the baseline. */
static void add_variants(struct closure_run *run, const struct closure_object *base,
                         const struct closure_dir *dir)
{
	struct strlist levels = hwcaps_levels(run, dir->path);
	struct arena *a = run->arena;

	for (size_t i = 0; i < levels.n; i++) {
		struct closure_object o = *base;
		struct closure_dir sub = {
			arena_printf(a, "%s/glibc-hwcaps/%s", dir->path, levels.at[i]),
			arena_printf(a, "%s/glibc-hwcaps/%s", dir->image, levels.at[i]),
			dir->reason};
		const char *path;

		if (!sysroot_is_file(&run->sysroot, arena_printf(a, "%s/%s", sub.path, base->name),
		                     a, &path) ||
		    !closure_fits(run, sysroot_host_path(&run->sysroot, path, a), &o.elf))
			continue;
		o.label = path;
		o.dir = sub.path;
		o.image_dir = sub.image;
		o.variant = true;
		push_object(run, &o);
		closure_add_library(run, &sub, base->name);
	}
}

static bool searched_by_default(const struct closure_run *run, const struct closure_dir *dir)
{
	if (dir->reason == CLOSURE_BY_PATH)
		return true;
	if (run->builtin.n == 0)
		return dir->reason == CLOSURE_BY_DEFAULT;
	for (size_t i = 0; i < run->builtin.n; i++)
		if (strcmp(run->builtin.at[i], dir->image) == 0)
			return true;
	return false;
}

/* A DT_NEEDED with a slash is a path and is not searched for. */
static bool find_by_path(struct closure_run *run, const char *needed,
                         struct closure_object *ret_object, struct closure_dir *ret_dir)
{
	const char *slash = strrchr(needed, '/'), *path;
	struct closure_object o = {0};

	if (needed[0] != '/' || !sysroot_is_file(&run->sysroot, needed, run->arena, &path))
		return false;
	o.label = sysroot_host_path(&run->sysroot, path, run->arena);
	o.dir = arena_strndup(run->arena, needed, (size_t)(slash - needed));
	o.image_dir = o.dir;
	if (!closure_fits(run, o.label, &o.elf))
		return false;
	*ret_object = o;
	*ret_dir = (struct closure_dir){o.dir, o.dir, CLOSURE_BY_PATH};
	return true;
}

static void add_needed(struct closure_run *run, const struct closure_object *from,
                       const char *needed)
{
	struct closure_object o = {0};
	struct closure_dir dir;
	const char *wrong = NULL, *slash = strrchr(needed, '/');
	bool found;

	if (needed[0] == '\0' || is_loaded(run, needed) ||
	    elf_search_is_loader(run->interpreter, needed) ||
	    (run->req->provided != NULL && elf_search_provided(run->req->provided, needed)))
		return;
	found = slash != NULL ? find_by_path(run, needed, &o, &dir)
	                      : closure_find(run, from, needed, &o, &dir, &wrong);
	if (!found) {
		closure_report_missing(run, from, needed, wrong);
		o.label = needed; /* remembered, so that it is reported once a program */
	}
	o.name = needed;
	o.loader = from;
	push_object(run, &o);
	if (!found)
		return;
	if (dir.reason == CLOSURE_OUTSIDE) {
		closure_report_outside(run, from, needed, &dir);
		run->objects.at[run->objects.n - 1]->outside_dir = dir.path;
		run->objects.at[run->objects.n - 1]->dir = NULL;
		return;
	}
	if (!searched_by_default(run, &dir))
		closure_report_unsearched(run, from, needed, &dir);
	closure_add_library(run, &dir, slash != NULL ? slash + 1 : needed);
	if (slash == NULL)
		add_variants(run, run->objects.at[run->objects.n - 1], &dir);
}

/* ---- programs ---- */

/*
 * Where the interpreter of that name is: at its path, below the cross root, or in a library folder.
 */
static const char *find_interpreter(struct closure_run *run, const char *interpreter,
                                    struct elf_info *ret_elf)
{
	const struct sysroot *s = &run->sysroot;
	const char *base = strrchr(interpreter, '/') + 1;

	for (size_t i = 0; i < s->n_dirs + 2; i++) {
		const char *path =
			i == 0   ? interpreter
			: i == 1 ? arena_printf(run->arena, "/usr/%s%s", s->arch->multiarch,
		                                interpreter)
				 : arena_printf(run->arena, "%s/%s", s->dirs[i - 2].path, base);

		if (!sysroot_is_file(s, path, run->arena, &path))
			continue;
		path = sysroot_host_path(s, path, run->arena);
		if (closure_fits(run, path, ret_elf))
			return path;
	}
	return NULL;
}

static void add_interpreter(struct closure_run *run, const struct closure_object *program)
{
	AUTO(strbuf) struct strbuf bytes = STRBUF_INIT(LOADER_BYTES_MAX);
	const char *interpreter = program->elf.interpreter;
	struct elf_info elf;
	struct err err = {0};
	struct closure_file file = {.interpreter = true, .at = run->at};
	struct diag *diag;

	if (interpreter[0] != '/') {
		diags_add(run->diags, DIAG_ERROR, run->at,
		          "closure: program '%s' names the interpreter '%s', "
		          "which is not an absolute path",
		          program->name, interpreter);
		return;
	}
	file.source = find_interpreter(run, interpreter, &elf);
	if (file.source == NULL) {
		diag = diags_add(run->diags, DIAG_ERROR, run->at,
		                 "closure: the interpreter '%s' of '%s' was not "
		                 "found for %s",
		                 interpreter, program->name, run->req->platform->architecture);
		diag_hint(run->diags, diag,
		          "install libc6:%s, or the C library of the cross compiler "
		          "(libc6-%s-cross), or name a sysroot",
		          run->req->platform->architecture, run->req->platform->architecture);
		return;
	}
	file.image = elf_search_normalise(interpreter, run->arena) + 1;
	closure_add_file(run, &file);
	if (fs_read_file(file.source, LOADER_BYTES_MAX, &bytes, &err) == 0)
		run->builtin = elf_search_builtin(strbuf_str(&bytes), bytes.len, run->sysroot.arch,
		                                  run->arena);
}

/* Folders of installed software: there $ORIGIN means the same in the image as here. */
static bool is_installed(const char *path)
{
	static const char *const prefixes[] = {"/usr/",   "/opt/", "/lib/",
	                                       "/lib64/", "/bin/", "/sbin/"};

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		if (text_has_prefix(path, prefixes[i]))
			return true;
	return false;
}

static char *folder_of(const char *path, struct arena *a)
{
	char folder[PATH_MAX];

	fs_parent(path, folder);
	return arena_strdup(a, folder);
}

static bool place_program(struct closure_run *run, struct closure_object *o)
{
	const char *path = sysroot_path_of(&run->sysroot, o->name, run->arena);
	char resolved[PATH_MAX];

	if (path != NULL && (run->sysroot.named || is_installed(path))) {
		o->dir = folder_of(path, run->arena);
		o->image_dir = o->dir;
		return true;
	}
	if (realpath(o->name, resolved) == NULL)
		return false;
	o->outside_dir = folder_of(resolved, run->arena);
	return true;
}

/* Opens a program and says what is wrong with it. */
static bool read_program(struct closure_run *run, struct closure_object *o)
{
	const struct platform_arch *arch = run->sysroot.arch;
	struct err err = {0};
	struct diag *diag;
	AUTO_CLOSE int fd = open(o->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || !place_program(run, o)) {
		diag = diags_add(run->diags, DIAG_ERROR, run->at, "closure: program '%s': %s",
		                 o->name, strerror(errno));
		if (errno == ENOENT)
			diag_hint(run->diags, diag, "build it for %s first",
			          run->req->platform->architecture);
		return false;
	}
	if (elf_parse_fd(fd, run->arena, &o->elf, &err) != 0) {
		diag = diags_add(run->diags, DIAG_ERROR, run->at, "closure: program '%s': %s",
		                 o->name, err.msg);
		diag_hint(
			run->diags, diag,
			"a closure starts at native programs or shared libraries, not at scripts");
		return false;
	}
	if (o->elf.machine != arch->elf_machine || o->elf.bits != arch->elf_bits) {
		diag = diags_add(run->diags, DIAG_ERROR, run->at,
		                 "closure: program '%s' is %s (%u bit), but %s needs "
		                 "%s (%u bit)",
		                 o->name, elf_machine_name(o->elf.machine, run->arena), o->elf.bits,
		                 run->req->platform->architecture,
		                 elf_machine_name(arch->elf_machine, run->arena), arch->elf_bits);
		diag_hint(run->diags, diag,
		          "use ${arch} in the path, so that each platform gets its own build");
		return false;
	}
	return true;
}

static int add_program(struct closure_run *run, const struct layer_path *program, struct err *err)
{
	struct closure_object o = {.label = program->path, .name = program->path};

	run->at = program->at;
	run->objects.n = 0;
	run->builtin = (struct strlist){0};
	if (!read_program(run, &o))
		return 0;
	run->interpreter = o.elf.interpreter;
	if (o.elf.interpreter == NULL && o.elf.needed.n == 0) {
		diags_add(run->diags, DIAG_NOTE, run->at,
		          "closure: program '%s' is static: nothing to pack", o.name);
		return 0;
	}
	if (o.elf.interpreter != NULL)
		add_interpreter(run, &o);
	push_object(run, &o);
	/* Breadth first, as the loader goes: the list grows while it is walked. */
	for (size_t i = 0; i < run->objects.n; i++) {
		const struct closure_object *from = run->objects.at[i];

		if (run->objects.n > CLOSURE_OBJECTS_MAX)
			return err_set(err, ERR_LIMIT, "closure of '%s' has more than %d files",
			               o.name, CLOSURE_OBJECTS_MAX);
		if (interrupt_check(err) != 0)
			return -1;
		for (size_t k = 0; k < from->elf.needed.n; k++)
			add_needed(run, from, from->elf.needed.at[k]);
	}
	return 0;
}

static int by_image(const void *a, const void *b)
{
	return strcmp(((const struct closure_file *)a)->image,
	              ((const struct closure_file *)b)->image);
}

int closure_compute(const struct closure_request *req, struct arena *a, struct closure *ret_closure,
                    struct diags *d, struct err *err)
{
	struct closure_run run = {.req = req, .arena = a, .diags = d};
	const struct platform_arch *arch = platform_arch_find(req->platform->architecture);
	int rc = 0;

	if (arch == NULL)
		return err_set(err, ERR_UNSUPPORTED, "closure: architecture '%s' is not known",
		               req->platform->architecture);
	if (sysroot_init(&run.sysroot, req->sysroot, arch, a, err) != 0)
		return err_wrap(err, "closure");
	for (size_t i = 0; rc == 0 && i < req->n_programs; i++)
		rc = add_program(&run, &req->programs[i], err);
	if (rc == 0) {
		ret_closure->n = run.files.n;
		ret_closure->files = NULL;
		if (run.files.n > 0) {
			qsort(run.files.at, run.files.n, sizeof(*run.files.at), by_image);
			ret_closure->files =
				arena_memdup(a, run.files.at, run.files.n * sizeof(*run.files.at));
		}
	}
	vec_done(&run.files);
	vec_done(&run.objects);
	return rc;
}
