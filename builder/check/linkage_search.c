/* Where a loader looks for a name: folders by their names, each looked up once, and their order. */
#include <string.h>

#include "builder/check/linkage.h"
#include "builder/layer/elf/elf_search.h"

/* ---- folders ---- */

/* Where the number of a folder is, counted from 1; 0 = free. */
static size_t *folder_slot(struct linkage *l, const char *path)
{
	size_t i = linkage_hash(path) & (l->n_folder_table - 1);

	while (l->folder_table[i] != 0 &&
	       strcmp(l->folders.at[l->folder_table[i] - 1].path, path) != 0)
		i = (i + 1) & (l->n_folder_table - 1);
	return &l->folder_table[i];
}

static void grow_folders(struct linkage *l)
{
	free(l->folder_table);
	l->n_folder_table = l->n_folder_table == 0 ? 256 : l->n_folder_table * 2;
	l->folder_table = mem_calloc(l->n_folder_table, sizeof(*l->folder_table));
	for (size_t i = 0; i < l->folders.n; i++)
		*folder_slot(l, l->folders.at[i].path) = i + 1;
}

static struct link_dir folder_of(struct linkage *l, const char *path)
{
	size_t *slot;

	if (l->folders.n * 2 >= l->n_folder_table)
		grow_folders(l);
	slot = folder_slot(l, path);
	if (*slot == 0) {
		struct view_node *n = view_find(&l->image->view, path, true);
		const struct link_dir dir = {path, n != NULL && view_is_dir(n) ? n : NULL};

		vec_push(&l->folders, dir);
		*slot = l->folders.n;
	}
	return l->folders.at[*slot - 1];
}

/* Folders that are not there are left out: nothing is ever found in them. */
static void add_dirs(struct linkage *l, const struct strlist *paths, struct link_dirs *dirs)
{
	for (size_t i = 0; i < paths->n; i++) {
		struct link_dir dir = folder_of(l, paths->at[i]);

		if (dir.folder != NULL)
			dirs->at[dirs->n++] = dir;
	}
}

struct link_dirs linkage_dirs_of(struct linkage *l, const struct strlist *paths)
{
	struct link_dirs dirs = {arena_calloc(l->image->run->arena, paths->n + 1, sizeof(*dirs.at)),
	                         0};

	add_dirs(l, paths, &dirs);
	return dirs;
}

/* What expanding a list costs: its bytes, and comparing each item with those before it. */
static size_t cost_of(const char *text, const char *origin)
{
	size_t items = 1, tokens = 0;

	for (const char *p = text; *p != '\0'; p++) {
		items += *p == ':';
		tokens += *p == '$';
	}
	return strlen(text) + tokens * (origin != NULL ? strlen(origin) : 0) +
	       items * (items < ELF_SEARCH_DIRS_MAX ? items : ELF_SEARCH_DIRS_MAX) / 16 + 1;
}

struct link_dirs linkage_dirs(struct linkage *l, const char *text, const char *origin)
{
	static const char *const libs[] = {NULL, "lib64", "lib"};
	const struct platform_arch *arch = l->image->arch;
	struct arena *a = l->image->run->arena;
	/* What $LIB stands for is known to the loader alone: whichever folder exists. */
	const size_t n = text != NULL && strstr(text, "LIB") != NULL ? ARRAY_LEN(libs) : 1;
	struct strlist paths[ARRAY_LEN(libs)] = {0};
	struct link_dirs dirs = {0};
	size_t most = 1;

	if (text == NULL || !linkage_spend(l, n * cost_of(text, origin)))
		return dirs;
	for (size_t i = 0; i < n; i++) {
		struct elf_tokens tokens = {
			.origin = origin, .platform = arch->gnu_name, .lib = libs[i]};

		if (tokens.lib == NULL)
			tokens.lib = arena_printf(a, "lib/%s", arch->multiarch);
		paths[i] = elf_search_path(text, &tokens, a);
		most += paths[i].n;
	}
	dirs.at = arena_calloc(a, most, sizeof(*dirs.at));
	for (size_t i = 0; i < n; i++)
		add_dirs(l, &paths[i], &dirs);
	return dirs;
}

/* ---- one folder ---- */

/*
 * A file for another machine is passed over (glibc, elf/dl-load.c, open_verify); at one that is no
 * library at all the loader gives up.
 */
static enum link_state judge(const struct check_image *image, const struct view_node *n)
{
	if (n == NULL || !view_is_file(n))
		return LINK_ABSENT;
	if (n->content->elf == NULL)
		return LINK_BROKEN;
	return linkage_fits(image, n) ? LINK_FOUND : LINK_ABSENT;
}

static bool try_node(struct linkage *l, struct view_node *n, const char *dir,
                     struct link_found *found)
{
	const enum link_state state = judge(l->image, n);

	if (state == LINK_ABSENT)
		return false;
	*found = (struct link_found){state, n, dir};
	return true;
}

static bool try_dirs(struct linkage *l, const struct link_dirs *dirs, const char *name,
                     struct link_found *found)
{
	const size_t cost = linkage_name_cost(name);

	for (size_t i = 0; i < dirs->n && linkage_spend(l, cost); i++) {
		struct view_node *n = view_find_at(&l->image->view, dirs->at[i].folder, name, true);

		if (try_node(l, n, dirs->at[i].path, found))
			return true;
	}
	return false;
}

/* ---- the order ---- */

/* RPATH or RUNPATH of an object, for the folder where it was found. */
static const struct link_dirs *path_of(struct linkage *l, const struct linked *o)
{
	struct link_object *object = o->object;
	const char *text = object->elf->runpath != NULL ? object->elf->runpath : object->elf->rpath;

	if (object->origin == NULL || strcmp(object->origin, o->origin) != 0) {
		object->origin = o->origin;
		object->path = linkage_dirs(l, text, o->origin);
	}
	return &object->path;
}

/* The objects that asked for each other, from one up to the program. glibc takes the RPATH of each
 * that has no RUNPATH; musl makes no difference between the two. */
static bool try_chain(struct linkage *l, const struct linked *from, const char *name,
                      struct link_found *found)
{
	for (const struct linked *o = from;; o = &l->objects.at[o->loader]) {
		if ((l->is_musl || o->object->elf->runpath == NULL) &&
		    try_dirs(l, path_of(l, o), name, found))
			return true;
		if (o->loader == SIZE_MAX || !linkage_spend(l, 1))
			return false;
	}
}

static bool in_builtin(const struct linkage *l, const char *path)
{
	for (size_t i = 0; i < l->builtin.n; i++) {
		size_t n = strlen(l->builtin.at[i].path);

		if (strncmp(path, l->builtin.at[i].path, n) == 0 && path[n] == '/')
			return true;
	}
	return false;
}

/* What the cache lists and is not there any more is looked for in the default folders. */
static bool try_cache(struct linkage *l, const struct elf_info *elf, const char *name,
                      struct link_found *found)
{
	const char *path = elf_cache_find(&l->cache, name), *slash;

	slash = path != NULL ? strrchr(path, '/') : NULL;
	if (slash == NULL || !linkage_spend(l, strlen(path)) ||
	    (elf->no_default_dirs && in_builtin(l, path)))
		return false;
	return try_node(l, view_find(&l->image->view, path, true),
	                arena_strndup(l->image->run->arena, path, (size_t)(slash - path)), found);
}

static bool search_glibc(struct linkage *l, const struct linked *from, const char *name,
                         struct link_found *found)
{
	const struct elf_info *elf = from->object->elf;

	if (elf->runpath == NULL && try_chain(l, from, name, found))
		return true;
	if (try_dirs(l, &l->library_path, name, found))
		return true;
	if (elf->runpath != NULL && try_dirs(l, path_of(l, from), name, found))
		return true;
	return try_cache(l, elf, name, found) ||
	       (!elf->no_default_dirs && try_dirs(l, &l->builtin, name, found));
}

static bool search_musl(struct linkage *l, const struct linked *from, const char *name,
                        struct link_found *found)
{
	return try_dirs(l, &l->library_path, name, found) || try_chain(l, from, name, found) ||
	       try_dirs(l, l->has_musl_path ? &l->musl_path : &l->builtin, name, found);
}

/* A name with a slash is a path and is not searched for. */
static void find_path(struct linkage *l, const struct linked *from, const char *name,
                      struct link_found *found)
{
	struct arena *a = l->image->run->arena;
	const struct elf_tokens tokens = {
		.origin = from->origin, .platform = l->image->arch->gnu_name, .lib = "lib64"};
	const char *path;

	if (!linkage_spend(l, strlen(name) + strlen(from->origin)))
		return;
	path = elf_search_expand(name, strlen(name), &tokens, a);
	if (path != NULL)
		try_node(l, view_find(&l->image->view, path, true),
		         arena_strndup(a, path, (size_t)(strrchr(path, '/') - path)), found);
}

struct link_found linkage_search(struct linkage *l, const struct linked *from, const char *name)
{
	struct link_found found = {.state = LINK_ABSENT};

	if (strchr(name, '/') != NULL)
		find_path(l, from, name, &found);
	else if (l->is_musl)
		search_musl(l, from, name, &found);
	else
		search_glibc(l, from, name, &found);
	return found;
}
