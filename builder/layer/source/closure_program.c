/*
 * Where a closure starts: one program, its place in the sysroot, and its interpreter.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/fs.h"
#include "base/text.h"
#include "builder/layer/source/closure_internal.h"

enum { LOADER_BYTES_MAX = 16 << 20 };

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

/* The interpreter of this machine is packed, and its list of folders read. */
static void pack_interpreter(struct closure_run *run, const struct closure_object *program)
{
	AUTO(strbuf) struct strbuf bytes = STRBUF_INIT(LOADER_BYTES_MAX);
	const char *interpreter = program->elf.interpreter;
	struct elf_info elf;
	struct err err = {0};
	struct closure_file file = {.interpreter = true, .at = run->at};
	struct diag *diag;

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

static bool is_provided(const struct closure_run *run, const char *name)
{
	return run->req->provided != NULL && elf_search_provided(run->req->provided, name);
}

void closure_add_interpreter(struct closure_run *run, const struct closure_object *program)
{
	const char *interpreter = program->elf.interpreter;

	if (interpreter[0] != '/') {
		diags_add(run->diags, DIAG_ERROR, run->at,
		          "closure: program '%s' names the interpreter '%s', "
		          "which is not an absolute path",
		          program->name, interpreter);
		return;
	}
	closure_read_ground(run, interpreter);
	if (is_provided(run, strrchr(interpreter, '/') + 1) ||
	    (run->item->on == CLOSURE_ON_BASE && run->ground.loader))
		run->builtin = run->ground.builtin;
	else if (run->item->on != CLOSURE_ON_BASE)
		pack_interpreter(run, program);
	else
		closure_report_no_loader(run, program);
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

bool closure_check_machine(struct closure_run *run, const char *what, const char *name,
                           const struct elf_info *elf)
{
	const struct platform_arch *arch = run->sysroot.arch;
	struct diag *diag;

	if (elf->machine == arch->elf_machine && elf->bits == arch->elf_bits)
		return true;
	diag = diags_add(run->diags, DIAG_ERROR, run->at,
	                 "closure: %s '%s' is %s (%u bit), but %s needs %s (%u bit)", what, name,
	                 elf_machine_name(elf->machine, run->arena), elf->bits,
	                 run->req->platform->architecture,
	                 elf_machine_name(arch->elf_machine, run->arena), arch->elf_bits);
	diag_hint(run->diags, diag,
	          "use ${arch} in the path, so that each platform gets its own build");
	return false;
}

bool closure_read_program(struct closure_run *run, struct closure_object *o)
{
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
	return closure_check_machine(run, "program", o->name, &o->elf);
}
