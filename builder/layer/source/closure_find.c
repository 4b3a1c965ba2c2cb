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
 * Where the image has what lies in a default folder here. The base's loader may search others: then
 * in the one that it prefers for the system's libraries, which is not the one for starting up.
 */
static const char *default_image(const struct closure_run *run, const char *image)
{
	const struct strlist *dirs = &run->builtin;

	if (run->item->on != CLOSURE_ON_BASE || dirs->n == 0)
		return image;
	for (size_t i = 0; i < dirs->n; i++)
		if (strcmp(dirs->at[i], image) == 0)
			return image;
	for (size_t i = 0; i < dirs->n; i++)
		if (text_has_prefix(dirs->at[i], "/usr/"))
			return dirs->at[i];
	return dirs->at[0];
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
		push_dir(&list, s->dirs[i].path, default_image(run, s->dirs[i].image),
		         CLOSURE_BY_DEFAULT);
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
