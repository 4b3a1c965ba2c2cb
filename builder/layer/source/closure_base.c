/*
 * What the base brings to a closure: its loader, and the libraries that this loader finds there.
 */
#include <string.h>

#include "base/text.h"
#include "builder/layer/source/closure_internal.h"

enum { CONF_BYTES_MAX = 64 << 10, CONF_FILES_MAX = 64 };

/* Looks at a path of the base; false when it has no such library for the platform. */
static bool library_at(struct closure_run *run, const char *path, struct base_entry *ret_entry,
                       const char **ret_path)
{
	const struct platform_arch *arch = run->sysroot.arch;
	struct err err = {0};

	if (base_look(run->req->base, path, run->arena, ret_entry, ret_path, &err) != 0) {
		/* A circle of links is what a loader does not find. */
		if (err.code != ERR_FORMAT)
			closure_fail(run, &err);
		return false;
	}
	return ret_entry->kind == BASE_FILE && ret_entry->elf != NULL &&
	       ret_entry->elf->machine == arch->elf_machine &&
	       ret_entry->elf->bits == arch->elf_bits;
}

/* ---- where the base's loader looks ---- */

/* A text of the base's configuration; false when it has none. */
static bool read_conf(struct closure_run *run, const char *path, struct strbuf *text)
{
	struct err err = {0};

	if (run->failure.code != ERR_NONE)
		return false;
	if (base_text(run->req->base, path, CONF_BYTES_MAX, text, &err) == 0)
		return true;
	if (err.code != ERR_NOT_FOUND && err.code != ERR_LIMIT && err.code != ERR_FORMAT)
		closure_fail(run, &err);
	return false;
}

static void add_conf(struct closure_run *run, const char *path, struct strlist *includes)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(CONF_BYTES_MAX);

	if (read_conf(run, path, &text))
		elf_search_conf(strbuf_str(&text), text.len, &run->ground.conf, includes,
		                run->arena);
}

/* An include line names files of one folder by a glob. */
static void add_include(struct closure_run *run, const char *pattern, struct strlist *includes)
{
	const char *path =
		pattern[0] == '/' ? pattern : arena_printf(run->arena, "/etc/%s", pattern);
	const char *slash = strrchr(path, '/');
	const char *folder = arena_strndup(run->arena, path, (size_t)(slash - path));
	struct base_files *base = run->req->base;
	struct base_entry entry;
	struct strlist names = {0};
	struct err err = {0};

	if (base_look(base, folder, run->arena, &entry, &folder, &err) != 0 ||
	    base->names(base, folder, &names, &err) != 0) {
		closure_fail(run, &err);
		return;
	}
	for (size_t i = 0; i < names.n && i < CONF_FILES_MAX; i++)
		if (text_glob(slash + 1, names.at[i]))
			add_conf(run, arena_printf(run->arena, "%s/%s", folder, names.at[i]),
			         includes);
}

/* glibc's loader reads the cache that ldconfig made of the configuration; without it the text
 * means nothing. musl's reads its own file in place of its default folders. */
static void read_search(struct closure_run *run)
{
	struct closure_ground *ground = &run->ground;
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(CONF_BYTES_MAX);
	struct strlist includes = {0};
	struct base_entry cache;
	struct err err = {0};
	const char *musl =
		arena_printf(run->arena, "/etc/ld-musl-%s.path", run->sysroot.arch->gnu_name);

	if (read_conf(run, musl, &text)) {
		ground->builtin = (struct strlist){0};
		elf_search_conf(strbuf_str(&text), text.len, &ground->builtin, &includes,
		                run->arena);
		return;
	}
	if (base_look(run->req->base, "/etc/ld.so.cache", run->arena, &cache, NULL, &err) != 0)
		closure_fail(run, &err);
	else if (cache.kind == BASE_FILE)
		ground->cache = true;
	if (ground->cache)
		add_conf(run, "/etc/ld.so.conf", &includes);
	for (size_t i = 0; i < includes.n && i < CONF_FILES_MAX; i++)
		add_include(run, includes.at[i], &includes);
}

void closure_read_ground(struct closure_run *run, const char *interpreter)
{
	struct base_entry entry;

	run->ground = (struct closure_ground){0};
	if (run->req->base == NULL || !library_at(run, interpreter, &entry, NULL))
		return;
	run->ground.loader = true;
	run->ground.builtin = entry.loader_dirs.n > 0
	                              ? entry.loader_dirs
	                              : elf_search_usual(run->sysroot.arch, run->arena);
	read_search(run);
}

/* ---- one library ---- */

static bool try_dir(struct closure_run *run, const char *dir, const char *name,
                    struct closure_object *ret_object)
{
	struct base_entry entry;
	const char *path =
		arena_printf(run->arena, "%s/%s", strcmp(dir, "/") == 0 ? "" : dir, name);

	if (!library_at(run, path, &entry, &path))
		return false;
	*ret_object = (struct closure_object){
		.label = path, .dir = dir, .image_dir = dir, .elf = *entry.elf, .of_base = true};
	return true;
}

static bool try_dirs(struct closure_run *run, const struct strlist *dirs, const char *name,
                     struct closure_object *ret_object)
{
	for (size_t i = 0; i < dirs->n; i++)
		if (try_dir(run, dirs->at[i], name, ret_object))
			return true;
	return false;
}

/* RPATH or RUNPATH of one object. $LIB is the loader's first folder: lib64 here, a multiarch
 * folder there. */
static bool try_path(struct closure_run *run, const struct closure_object *owner, const char *text,
                     const char *name, struct closure_object *ret_object)
{
	const struct elf_tokens tokens = {
		.origin = owner->image_dir,
		.lib = run->ground.builtin.n > 0 ? run->ground.builtin.at[0] + 1 : "lib",
		.platform = run->sysroot.arch->gnu_name};
	struct strlist dirs = elf_search_path(text, &tokens, run->arena);

	return try_dirs(run, &dirs, name, ret_object);
}

bool closure_find_in_base(struct closure_run *run, const struct closure_object *from,
                          const char *needed, struct closure_object *ret_object)
{
	const struct closure_ground *ground = &run->ground;
	const char *slash = strrchr(needed, '/');

	if (slash != NULL)
		return needed[0] == '/' &&
		       try_dir(run, arena_strndup(run->arena, needed, (size_t)(slash - needed)),
		               slash + 1, ret_object);
	if (from->elf.runpath == NULL)
		for (const struct closure_object *o = from; o != NULL; o = o->loader)
			if (o->elf.runpath == NULL &&
			    try_path(run, o, o->elf.rpath, needed, ret_object))
				return true;
	if (try_path(run, from, from->elf.runpath, needed, ret_object))
		return true;
	return !from->elf.no_default_dirs && (try_dirs(run, &ground->conf, needed, ret_object) ||
	                                      try_dirs(run, &ground->builtin, needed, ret_object));
}

/* ---- versions ---- */

/* The newest of the versions that a library does not define, NULL when it has all. */
static const char *lacking(const struct elf_info *have, const struct strlist *versions)
{
	const char *newest = NULL;

	for (size_t i = 0; i < versions->n; i++) {
		bool found = false;

		for (size_t k = 0; k < have->defined.n && !found; k++)
			found = strcmp(have->defined.at[k], versions->at[i]) == 0;
		if (!found && (newest == NULL || strverscmp(versions->at[i], newest) > 0))
			newest = versions->at[i];
	}
	return newest;
}

static const struct closure_object *object_named(const struct closure_run *run, const char *name)
{
	for (size_t i = 1; i < run->objects.n; i++) {
		const struct closure_object *o = run->objects.at[i];

		if (!o->nameless && (strcmp(o->name, name) == 0 ||
		                     (o->elf.soname != NULL && strcmp(o->elf.soname, name) == 0)))
			return o;
	}
	return NULL;
}

/* What is packed needs of the base's libraries. */
static void check_needs(struct closure_run *run, const struct closure_object *from)
{
	for (size_t i = 0; i < from->elf.n_need; i++) {
		const struct elf_need_versions *need = &from->elf.need[i];
		const struct closure_object *library = object_named(run, need->library);
		const char *version;

		/* The loader does not mind a library without any versions. */
		if (library == NULL || !library->of_base || library->elf.defined.n == 0)
			continue;
		version = lacking(&library->elf, &need->versions);
		if (version != NULL)
			closure_report_too_new(run, from, library, version);
	}
}

static bool first_warning(struct closure_run *run, const char *name)
{
	size_t before = run->warned.n;

	elf_search_add(&run->warned, name, run->arena);
	return run->warned.n > before;
}

/* The base's file at the place of a packed library has versions that the packed one lacks. */
static void check_replaced(struct closure_run *run, const struct closure_object *o)
{
	struct base_entry entry;
	const char *version;

	if (!library_at(run, arena_printf(run->arena, "%s/%s", o->image_dir, o->name), &entry,
	                NULL))
		return;
	version = lacking(&o->elf, &entry.elf->defined);
	if (version != NULL && first_warning(run, o->name))
		closure_report_older(run, o->name, version);
}

/*
 * A C library fits its own loader only. The base's programs and ours have one loader, the packed
 * one: where it follows the base's cache, the base's C library is what it takes.
 */
static void check_second(struct closure_run *run, const struct closure_object *o)
{
	const char *packed = arena_printf(run->arena, "%s/%s", o->image_dir, o->name),
		   *real = packed;
	struct closure_object found, root = {0};
	struct base_entry entry;
	bool other;

	if (library_at(run, packed, &entry, &real) ||
	    !closure_find_in_base(run, &root, o->name, &found) || strcmp(found.label, real) == 0)
		return;
	other = lacking(&o->elf, &found.elf.defined) != NULL ||
	        lacking(&found.elf, &o->elf.defined) != NULL;
	if (first_warning(run, o->name))
		closure_report_two(run, o, found.label, other && run->ground.cache);
}

void closure_check_ground(struct closure_run *run)
{
	for (size_t i = 0; i < run->objects.n; i++) {
		const struct closure_object *o = run->objects.at[i];

		if (run->req->base == NULL || o->of_base || run->failure.code != ERR_NONE)
			continue;
		check_needs(run, o);
		/* Not a program, which is not packed, nor what was not found. */
		if (o->loader == NULL || o->image_dir == NULL || o->nameless)
			continue;
		check_replaced(run, o);
		if (run->ground.loader && strcmp(o->name, "libc.so.6") == 0)
			check_second(run, o);
	}
}
