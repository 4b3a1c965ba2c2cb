#include "builder/check/linkage.h"

#include <string.h>

#include "base/interrupt.h"
#include "base/text.h"
#include "builder/layer/elf/elf_search.h"

bool linkage_spend(struct linkage *l, size_t n)
{
	if (l->exhausted)
		return false;
	/* Asked for now and then; whoever called the check reports it. */
	if ((l->steps ^ (l->steps + n)) >> 16 != 0 && interrupt_requested())
		l->exhausted = true;
	l->steps += n;
	if (l->steps > LINKAGE_STEPS_MAX)
		l->exhausted = true;
	return !l->exhausted;
}

size_t linkage_name_cost(const char *name)
{
	return 1 + strlen(name) / 32;
}

bool linkage_fits(const struct check_image *image, const struct view_node *n)
{
	const struct elf_info *elf = view_is_file(n) ? n->content->elf : NULL;

	return elf != NULL && image->arch != NULL && elf->machine == image->arch->elf_machine &&
	       elf->bits == image->arch->elf_bits;
}

/* ---- what the image says to its loaders ---- */

static const struct scan_member *text_file(const struct check_image *image, const char *path)
{
	const struct view_node *n = view_find(&image->view, path, true);

	return n != NULL && view_is_file(n) && n->content->text != NULL ? n->content : NULL;
}

/* musl's own list takes the place of its default folders. */
static void read_musl_path(struct linkage *l)
{
	struct arena *a = l->image->run->arena;
	const struct scan_member *file = text_file(
		l->image, arena_printf(a, "/etc/ld-musl-%s.path", l->image->arch->gnu_name));
	char *text;

	if (file == NULL)
		return;
	text = arena_strdup(a, file->text);
	for (char *p = text; *p != '\0'; p++)
		if (*p == '\n')
			*p = ':';
	l->has_musl_path = true;
	l->musl_path = linkage_dirs(l, text, NULL);
}

/* Comparing it with those before costs, too. */
static void add_preload(struct linkage *l, const char *name)
{
	if (linkage_spend(l, linkage_name_cost(name) + l->preload.n / 4))
		elf_search_add(&l->preload, name, l->image->run->arena);
}

/* The items of LD_PRELOAD and /etc/ld.so.preload (ld.so(8)). */
static void read_preload(struct linkage *l)
{
	struct arena *a = l->image->run->arena;
	const struct scan_member *file = text_file(l->image, "/etc/ld.so.preload");
	const char *env = rule_env(l->image, "LD_PRELOAD");
	char *text = arena_strdup(a, env != NULL ? env : ""), *rest = NULL;

	for (char *word = strtok_r(text, ": ", &rest); word != NULL;
	     word = strtok_r(NULL, ": ", &rest))
		add_preload(l, word);
	text = arena_strdup(a, file != NULL ? file->text : "");
	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *more = NULL;

		line[strcspn(line, "#")] = '\0';
		for (char *word = strtok_r(line, ": \t\r", &more); word != NULL;
		     word = strtok_r(NULL, ": \t\r", &more))
			add_preload(l, word);
	}
	l->preload_missing = arena_calloc(a, l->preload.n + 1, sizeof(*l->preload_missing));
}

void linkage_init(struct linkage *l, struct check_image *image)
{
	const struct scan_member *cache;

	*l = (struct linkage){.image = image};
	if (image->arch == NULL)
		return;
	cache = text_file(image, "/etc/ld.so.cache");
	if (cache != NULL)
		l->cache = elf_cache_read(cache->text, cache->text_len, image->arch,
		                          image->run->arena);
	read_musl_path(l);
	read_preload(l);
}

void linkage_done(struct linkage *l)
{
	free(l->table);
	free(l->folder_table);
	free(l->names);
	vec_done(&l->folders);
	vec_done(&l->objects);
}

/* ---- objects ---- */

static struct link_object **object_slot(struct linkage *l, const struct scan_member *content)
{
	size_t i = ((uintptr_t)content >> 4) * 0x9e3779b97f4a7c15u >> 20 & (l->n_table - 1);

	while (l->table[i] != NULL && l->table[i]->node->content != content)
		i = (i + 1) & (l->n_table - 1);
	return &l->table[i];
}

static void grow_objects(struct linkage *l)
{
	struct link_object **old = l->table;
	size_t n_old = l->n_table;

	l->n_table = n_old == 0 ? 256 : n_old * 2;
	l->table = mem_calloc(l->n_table, sizeof(struct link_object *));
	for (size_t i = 0; i < n_old; i++)
		if (old[i] != NULL)
			*object_slot(l, old[i]->node->content) = old[i];
	free(old);
}

struct link_object *linkage_object(struct linkage *l, struct view_node *node)
{
	struct link_object **slot;

	if (l->n_objects * 2 >= l->n_table)
		grow_objects(l);
	slot = object_slot(l, node->content);
	if (*slot == NULL) {
		*slot = arena_alloc(l->image->run->arena, sizeof(**slot));
		(*slot)->node = node;
		(*slot)->elf = node->content->elf;
		l->n_objects++;
	}
	return *slot;
}

/* ---- the names of a program's objects ---- */

size_t linkage_hash(const char *text)
{
	size_t h = 14695981039346656037u;

	for (; *text != '\0'; text++)
		h = (h ^ (unsigned char)*text) * 1099511628211u;
	return h ^ h >> 29;
}

/* Entries of earlier programs count as free. */
static struct link_name *name_slot(const struct linkage *l, const char *name)
{
	size_t i = linkage_hash(name) & (l->n_names_table - 1);

	while (l->names[i].program == l->program && strcmp(l->names[i].name, name) != 0)
		i = (i + 1) & (l->n_names_table - 1);
	return &l->names[i];
}

static void grow_names(struct linkage *l)
{
	struct link_name *old = l->names;
	size_t n_old = l->n_names_table;

	l->n_names_table = n_old == 0 ? 256 : n_old * 2;
	l->names = mem_calloc(l->n_names_table, sizeof(*l->names));
	for (size_t i = 0; i < n_old; i++)
		if (old[i].program == l->program)
			*name_slot(l, old[i].name) = old[i];
	free(old);
}

static void add_name(struct linkage *l, const char *name, size_t object)
{
	struct link_name *slot;

	if (l->n_names * 2 >= l->n_names_table)
		grow_names(l);
	slot = name_slot(l, name);
	if (slot->program == l->program)
		return;
	*slot = (struct link_name){name, object, l->program};
	l->n_names++;
}

const struct linked *linkage_find(const struct linkage *l, const char *needed)
{
	const struct link_name *slot;

	if (l->n_names_table == 0)
		return NULL;
	slot = name_slot(l, needed);
	return slot->program == l->program ? &l->objects.at[slot->object] : NULL;
}

/* ---- one program ---- */

/* The loader knows a file again by its inode: a second name for it is remembered, no more. */
static void push_linked(struct linkage *l, struct view_node *node, const char *name,
                        const char *origin, size_t loader)
{
	struct link_object *object = linkage_object(l, node);
	struct linked o = {object, name, origin, loader, false};
	size_t at = l->objects.n;

	o.inherits = (object->elf->rpath != NULL && object->elf->runpath == NULL) ||
	             (loader != SIZE_MAX && l->objects.at[loader].inherits);

	if (object->program == l->program) {
		for (at = 0; l->objects.at[at].object != object; at++)
			linkage_spend(l, 1);
		add_name(l, name, at);
		return;
	}
	if (at == LINKAGE_OBJECTS_MAX) {
		l->exhausted = true;
		return;
	}
	object->program = l->program;
	vec_push(&l->objects, o);
	add_name(l, name, at);
	if (object->elf->soname != NULL && linkage_spend(l, linkage_name_cost(object->elf->soname)))
		add_name(l, object->elf->soname, at);
}

/* Without an inherited path the loader comes to the same for every program. */
static struct link_found search_once(struct linkage *l, const struct linked *o, size_t i)
{
	struct link_object *object = o->object;
	const struct elf_info *elf = object->elf;
	struct link_found found;

	if (l->is_musl || l->library_path_varies || (o->inherits && elf->runpath == NULL))
		return linkage_search(l, o, elf->needed.at[i]);
	if (object->found == NULL || object->found_by != l->loader ||
	    strcmp(object->found_origin, o->origin) != 0) {
		if (object->found == NULL)
			object->found = arena_calloc(l->image->run->arena, elf->needed.n,
			                             sizeof(*object->found));
		linkage_spend(l, elf->needed.n);
		memset(object->found, 0, elf->needed.n * sizeof(*object->found));
		object->found_by = l->loader;
		object->found_origin = o->origin;
	}
	found = object->found[i];
	if (found.state == LINK_UNTRIED)
		found = object->found[i] = linkage_search(l, o, elf->needed.at[i]);
	return found;
}

static void load_needed(struct linkage *l, size_t from, size_t i, linkage_missing *missing,
                        void *ctx)
{
	const struct linked o = l->objects.at[from];
	const char *needed = o.object->elf->needed.at[i];
	struct link_missing m = {.from = &o, .needed = needed};

	if (!linkage_spend(l, linkage_name_cost(needed)) || needed[0] == '\0' ||
	    linkage_find(l, needed) != NULL || elf_search_is_loader(l->interpreter, needed))
		return;
	if (rule_provided(l->image, needed)) {
		l->open = true;
		return;
	}
	m.found = search_once(l, &o, i);
	if (m.found.state == LINK_FOUND) {
		push_linked(l, m.found.node, needed, m.found.dir, from);
		return;
	}
	l->open = true;
	if (!l->exhausted)
		missing(l, &m, ctx);
}

/* Only glibc and musl are known to preload; what is not there they pass over. */
static void load_preload(struct linkage *l)
{
	const struct linked root = l->objects.at[0];

	for (size_t i = 0; i < l->preload.n && l->interpreter != NULL; i++) {
		struct link_found f;

		if (rule_provided(l->image, l->preload.at[i])) {
			l->open = true;
			continue;
		}
		f = linkage_search(l, &root, l->preload.at[i]);
		if (f.state == LINK_FOUND)
			push_linked(l, f.node, l->preload.at[i], f.dir, 0);
		else if (!l->exhausted)
			l->preload_missing[i] = true;
	}
}

/* The folders that the image's own loader searches; those in use anywhere when it is not known. */
static void choose_loader(struct linkage *l, const struct elf_info *elf)
{
	struct view_node *loader = elf->interpreter != NULL
	                                   ? view_find(&l->image->view, elf->interpreter, true)
	                                   : NULL;
	struct strlist dirs = {0};

	l->interpreter = elf->interpreter;
	if (loader != NULL && !linkage_fits(l->image, loader))
		loader = NULL;
	l->is_musl = elf->interpreter != NULL && strstr(elf->interpreter, "/ld-musl-") != NULL;
	/* The same as before has the same folders. */
	if (l->builtin.at != NULL && loader == l->loader)
		return;
	l->loader = loader;
	if (loader != NULL)
		dirs = loader->content->loader_dirs;
	if (dirs.n == 0)
		dirs = elf_search_usual(l->image->arch, l->image->run->arena);
	l->builtin = linkage_dirs_of(l, &dirs);
}

/* Its items stand between ':' and ';' (ld.so(8)). */
static void read_library_path(struct linkage *l, const char *origin)
{
	const char *path = rule_env(l->image, "LD_LIBRARY_PATH");
	char *text = arena_strdup(l->image->run->arena, path);

	for (char *p = text; p != NULL && *p != '\0'; p++)
		if (*p == ';')
			*p = ':';
	l->library_path_varies = path != NULL && elf_search_has_origin(path);
	l->library_path = linkage_dirs(l, text, origin);
}

void linkage_load(struct linkage *l, struct view_node *root, linkage_missing *missing, void *ctx)
{
	struct check_image *image = l->image;
	const char *origin = view_path(&image->view, root->parent);

	l->program++;
	l->objects.n = l->n_names = 0;
	l->open = false;
	choose_loader(l, root->content->elf);
	if (!linkage_spend(l, strlen(origin) + 1))
		return;
	if (l->program == 1 || l->library_path_varies)
		read_library_path(l, origin);
	push_linked(l, root, view_path(&image->view, root), origin, SIZE_MAX);
	load_preload(l);
	for (size_t i = 0; i < l->objects.n && !l->exhausted; i++)
		for (size_t k = 0; k < l->objects.at[i].object->elf->needed.n; k++)
			load_needed(l, i, k, missing, ctx);
	l->open |= l->exhausted;
}
