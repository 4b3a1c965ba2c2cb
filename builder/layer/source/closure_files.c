/*
 * What a closure packs: files and links, each path once, where the links of the base lead.
 */
#include <dirent.h>
#include <limits.h>
#include <string.h>

#include "base/text.h"
#include "builder/layer/source/closure_internal.h"

enum { LINKS_MAX = 40, VARIANTS_MAX = 64 };

void closure_add_file(struct closure_run *run, const struct closure_file *file)
{
	struct closure_file landed = *file;
	struct err err = {0};

	if (run->req->base != NULL &&
	    base_landing(run->req->base, file->image, run->arena, &landed.image, &err) != 0) {
		closure_fail(run, &err);
		return;
	}
	for (size_t i = 0; i < run->files.n; i++)
		if (strcmp(run->files.at[i].image, landed.image) == 0)
			return;
	vec_push(&run->files, landed);
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
void closure_add_variants(struct closure_run *run, const struct closure_object *base,
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
		o.nameless = true;
		closure_push_object(run, &o);
		closure_add_library(run, &sub, base->name);
	}
}
