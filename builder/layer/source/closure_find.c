#include <fcntl.h>
#include <string.h>

#include "base/text.h"
#include "builder/layer/source/closure_internal.h"

bool closure_fits(struct closure_run *run, const char *host_path, struct elf_info *ret_elf)
{
	const struct platform_arch *arch = run->sysroot.arch;
	struct elf_info elf;
	struct err err = {0};
	AUTO_CLOSE int fd = open(host_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || elf_parse_fd(fd, run->arena, &elf, &err) != 0)
		return false;
	if (elf.machine != arch->elf_machine || elf.bits != arch->elf_bits)
		return false;
	*ret_elf = elf;
	return true;
}

/* A list of folders being built; the arena's blocks are fixed, so its size is too. */
struct dir_list {
	struct closure_dir *at;
	size_t n;
};

static void push_dir(struct dir_list *list, const char *path, const char *image,
                     enum closure_reason reason)
{
	if (list->n < ELF_SEARCH_DIRS_MAX)
		list->at[list->n++] = (struct closure_dir){path, image, reason};
}

/* One item of an RPATH or RUNPATH of `owner`. */
static void push_item(struct closure_run *run, struct dir_list *list,
                      const struct closure_object *owner, const char *item, size_t len)
{
	struct arena *a = run->arena;
	struct elf_tokens tokens = {.origin = owner->dir,
	                            .lib = run->sysroot.lib_token,
	                            .platform = run->sysroot.arch->gnu_name};
	bool outside = owner->dir == NULL && elf_search_has_origin(arena_strndup(a, item, len));
	const char *path, *image;

	if (outside)
		tokens.origin = owner->outside_dir;
	path = elf_search_expand(item, len, &tokens, a);
	if (path == NULL || path[0] != '/')
		return;
	path = elf_search_normalise(path, a);
	if (outside) {
		push_dir(list, path, NULL, CLOSURE_OUTSIDE);
		return;
	}
	image = sysroot_image_dir(&run->sysroot, path, a);
	tokens.origin = owner->image_dir;
	/* $ORIGIN in the image is where the object lands there. */
	if (strcmp(image, path) == 0 && (image = elf_search_expand(item, len, &tokens, a)) != NULL)
		image = elf_search_normalise(image, a);
	if (image != NULL)
		push_dir(list, path, image, CLOSURE_BY_PATH);
}

static void push_path(struct closure_run *run, struct dir_list *list,
                      const struct closure_object *owner, const char *text)
{
	while (text != NULL) {
		size_t len = strcspn(text, ":");

		push_item(run, list, owner, text, len);
		text = text[len] == ':' ? text + len + 1 : NULL;
	}
}

/*
 * ld.so(8): RPATH of the object and of its loaders, only without RUNPATH; RUNPATH; default folders.
 */
size_t closure_search_dirs(struct closure_run *run, const struct closure_object *from,
                           struct closure_dir **ret_dirs)
{
	const struct sysroot *s = &run->sysroot;
	struct dir_list list = {arena_calloc(run->arena, ELF_SEARCH_DIRS_MAX, sizeof(*list.at)), 0};

	if (from->elf.runpath == NULL)
		for (const struct closure_object *o = from; o != NULL; o = o->loader)
			if (o->elf.runpath == NULL)
				push_path(run, &list, o, o->elf.rpath);
	push_path(run, &list, from, from->elf.runpath);
	for (size_t i = 0; i < s->n_dirs && !from->elf.no_default_dirs; i++)
		push_dir(&list, s->dirs[i].path, s->dirs[i].image, CLOSURE_BY_DEFAULT);
	for (size_t i = 0; i < s->n_extra && !from->elf.no_default_dirs; i++)
		push_dir(&list, s->extra[i].path, s->extra[i].image, CLOSURE_BY_CONF);
	*ret_dirs = list.at;
	return list.n;
}

/* The file on this machine of `name` in a folder, NULL when there is none. */
static const char *file_in(struct closure_run *run, const struct closure_dir *dir, const char *name)
{
	struct stat st;
	const char *path = arena_printf(run->arena, "%s/%s", dir->path, name);

	if (dir->reason == CLOSURE_OUTSIDE)
		return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? path : NULL;
	if (!sysroot_is_file(&run->sysroot, path, run->arena, &path))
		return NULL;
	return sysroot_host_path(&run->sysroot, path, run->arena);
}

bool closure_find(struct closure_run *run, const struct closure_object *from, const char *needed,
                  struct closure_object *ret_object, struct closure_dir *ret_dir,
                  const char **ret_wrong)
{
	struct closure_dir *dirs;
	size_t n = closure_search_dirs(run, from, &dirs);

	*ret_wrong = NULL;
	for (size_t i = 0; i < n; i++) {
		const char *host = file_in(run, &dirs[i], needed);
		struct closure_object o = {
			.label = host, .dir = dirs[i].path, .image_dir = dirs[i].image};

		if (host == NULL)
			continue;
		/* As the loader does, a file of another machine is passed over. */
		if (!closure_fits(run, host, &o.elf)) {
			*ret_wrong = host;
			continue;
		}
		*ret_object = o;
		*ret_dir = dirs[i];
		return true;
	}
	return false;
}

/* "build/x -> libfoo.so.1": who needed whom, from the program on. */
static void chain_text(const struct closure_object *o, struct strbuf *sb)
{
	if (o->loader != NULL) {
		chain_text(o->loader, sb);
		strbuf_adds(sb, " -> ");
	}
	strbuf_adds(sb, o->name);
}

/* Debian Policy 8.1: package libNAMESOVERSION, with '-' between when NAME ends in a digit. */
static const char *debian_package(const char *soname, struct arena *a)
{
	const char *so = strstr(soname, ".so.");
	char *name;

	if (so == NULL || so == soname)
		return NULL;
	name = arena_printf(a, "%.*s%s%s", (int)(so - soname), soname,
	                    so[-1] >= '0' && so[-1] <= '9' ? "-" : "", so + 4);
	for (char *p = name; *p != '\0'; p++) {
		if (*p == '_')
			*p = '-';
		else if (*p >= 'A' && *p <= 'Z')
			*p |= 0x20;
	}
	return name;
}

void closure_report_missing(struct closure_run *run, const struct closure_object *from,
                            const char *needed, const char *wrong)
{
	AUTO(strbuf) struct strbuf chain = STRBUF_INIT(4096), places = STRBUF_INIT(4096);
	const char *package = debian_package(needed, run->arena);
	struct closure_dir *dirs;
	size_t n = closure_search_dirs(run, from, &dirs);
	struct diag *diag;

	chain_text(from, &chain);
	for (size_t i = 0; i < n; i++)
		if (dirs[i].reason != CLOSURE_BY_CONF)
			strbuf_addf(&places, "%s%s", places.len > 0 ? ", " : "",
			            dirs[i].reason == CLOSURE_OUTSIDE
			                    ? dirs[i].path
			                    : sysroot_host_path(&run->sysroot, dirs[i].path,
			                                        run->arena));
	diag = diags_add(run->diags, DIAG_ERROR, run->at,
	                 "closure: '%s', needed by %s, not found in %s%s%s%s", needed,
	                 strbuf_str(&chain), strbuf_str(&places), wrong != NULL ? "; '" : "",
	                 wrong != NULL ? wrong : "",
	                 wrong != NULL ? "' is for another architecture" : "");
	if (package != NULL)
		diag_hint(run->diags, diag,
		          "install the package that has it (in Debian perhaps %s:%s), or list "
		          "'%s' under provided when the node brings it",
		          package, run->req->platform->architecture, needed);
	else
		diag_hint(run->diags, diag,
		          "install it for %s, or list '%s' under provided when the node brings it",
		          run->req->platform->architecture, needed);
}

void closure_report_outside(struct closure_run *run, const struct closure_object *from,
                            const char *needed, const struct closure_dir *dir)
{
	AUTO(strbuf) struct strbuf chain = STRBUF_INIT(4096);
	struct diag *diag;

	chain_text(from, &chain);
	diag = diags_add(
		run->diags, DIAG_ERROR, run->at,
		"closure: '%s', needed by %s, is found relative to the program ($ORIGIN) in '%s': "
		"where the program lands in the image is not known here",
		needed, strbuf_str(&chain), dir->path);
	diag_hint(run->diags, diag,
	          "add it by `files:` at the same place relative to the program, and list '%s' "
	          "under provided",
	          needed);
}

void closure_report_unsearched(struct closure_run *run, const struct closure_object *from,
                               const char *needed, const struct closure_dir *dir)
{
	AUTO(strbuf) struct strbuf chain = STRBUF_INIT(4096);
	struct diag *diag;

	chain_text(from, &chain);
	diag = diags_add(run->diags, DIAG_ERROR, run->at,
	                 "closure: '%s', needed by %s, is in '%s', which the image's loader '%s' "
	                 "does not search",
	                 needed, strbuf_str(&chain), dir->path,
	                 run->interpreter != NULL ? run->interpreter : "?");
	diag_hint(run->diags, diag,
	          "link with -Wl,-rpath,%s, or add the library by `files:` to '%s/' and list it "
	          "under provided",
	          dir->image,
	          run->builtin.n > 0 ? run->builtin.at[run->builtin.n > 1 ? 1 : 0] : "/usr/lib");
}
