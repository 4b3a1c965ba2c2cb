/*
 * The dynamic loader's walk (ld.so(8)) inside an image. What builder/layer/source/closure.c does
 * on the build machine, done again on what will really be on the node.
 */
#include <string.h>

#include "base/text.h"
#include "builder/check/rules.h"
#include "builder/layer/elf/elf_search.h"

enum { CONF_FILES_MAX = 64, OBJECTS_MAX = 4096 };

static void conf_file(struct linkage *l, const struct view_node *n, struct strlist *includes)
{
	if (n != NULL && view_is_file(n) && n->content->text != NULL)
		elf_search_conf(n->content->text, strlen(n->content->text), &l->conf, includes,
		                l->image->run->arena);
}

/* An include line names files of one folder by a glob; nothing else is in use. */
static void conf_include(struct linkage *l, const char *pattern, struct strlist *includes)
{
	struct arena *a = l->image->run->arena;
	const char *absolute = pattern[0] == '/' ? pattern : arena_printf(a, "/etc/%s", pattern);
	const char *slash = strrchr(absolute, '/');
	const struct view_node *dir = view_find(
		&l->image->view, arena_strndup(a, absolute, (size_t)(slash - absolute)), true);

	for (const struct view_node *c = dir != NULL ? dir->first_child : NULL; c != NULL;
	     c = c->next_sibling)
		if (text_glob(slash + 1, c->name))
			conf_file(l, c, includes);
}

void linkage_init(struct linkage *l, struct check_image *image)
{
	const struct view *v = &image->view;
	struct strlist includes = {0};
	const char *musl;

	*l = (struct linkage){.image = image};
	if (image->arch == NULL)
		return;
	musl = arena_printf(image->run->arena, "/etc/ld-musl-%s.path", image->arch->gnu_name);
	conf_file(l, view_find(v, musl, true), &includes);
	/* glibc reads the cache that ldconfig made of the configuration; without it the text means
	 * nothing. */
	if (view_find(v, "/etc/ld.so.cache", true) != NULL) {
		conf_file(l, view_find(v, "/etc/ld.so.conf", true), &includes);
		for (size_t i = 0; i < includes.n && i < CONF_FILES_MAX; i++)
			conf_include(l, includes.at[i], &includes);
	}
	l->library_path = elf_search_path(rule_env(image, "LD_LIBRARY_PATH"),
	                                  &(struct elf_tokens){0}, image->run->arena);
}

void linkage_done(struct linkage *l)
{
	vec_done(&l->objects);
}

const struct linked *linkage_find(const struct linkage *l, const char *needed)
{
	for (size_t i = 0; i < l->objects.n; i++) {
		const struct linked *o = l->objects.at[i];

		if (strcmp(o->name, needed) == 0 ||
		    (o->node->content->elf->soname != NULL &&
		     strcmp(o->node->content->elf->soname, needed) == 0))
			return o;
	}
	return NULL;
}

static struct view_node *try_file(struct linkage *l, const char *dir, const char *name)
{
	const struct platform_arch *arch = l->image->arch;
	struct view_node *folder = view_find(&l->image->view, dir, true), *n;

	if (folder == NULL)
		return NULL;
	n = view_find_at(&l->image->view, folder, name, true);
	if (n == NULL || !view_is_file(n) || n->content->elf == NULL ||
	    n->content->elf->machine != arch->elf_machine ||
	    n->content->elf->bits != arch->elf_bits)
		return NULL;
	return n;
}

static struct view_node *try_dirs(struct linkage *l, const struct strlist *dirs, const char *name,
                                  const char **ret_dir)
{
	for (size_t i = 0; i < dirs->n; i++) {
		struct view_node *n = try_file(l, dirs->at[i], name);

		if (n != NULL) {
			*ret_dir = dirs->at[i];
			return n;
		}
	}
	return NULL;
}

/* RPATH or RUNPATH of one object. */
static struct view_node *try_path(struct linkage *l, const struct linked *owner, const char *text,
                                  const char *name, const char **ret_dir)
{
	static const char *const libs[] = {NULL, "lib64", "lib"};
	const struct platform_arch *arch = l->image->arch;
	struct arena *a = l->image->run->arena;
	struct view_node *n = NULL;

	/* What $LIB stands for is known to the loader alone: whichever folder exists. */
	for (size_t i = 0; text != NULL && n == NULL && i < ARRAY_LEN(libs); i++) {
		struct elf_tokens tokens = {
			.origin = owner->origin, .platform = arch->gnu_name, .lib = libs[i]};
		struct strlist dirs;

		if (i > 0 && strstr(text, "LIB") == NULL)
			break;
		if (tokens.lib == NULL)
			tokens.lib = arena_printf(a, "lib/%s", arch->multiarch);
		dirs = elf_search_path(text, &tokens, a);
		n = try_dirs(l, &dirs, name, ret_dir);
	}
	return n;
}

static struct view_node *find_library(struct linkage *l, const struct linked *from,
                                      const char *name, const char **ret_dir)
{
	const struct elf_info *elf = from->node->content->elf;
	struct view_node *n = NULL;

	if (elf->runpath == NULL)
		for (const struct linked *o = from; n == NULL && o != NULL; o = o->loader)
			if (o->node->content->elf->runpath == NULL)
				n = try_path(l, o, o->node->content->elf->rpath, name, ret_dir);
	if (n == NULL)
		n = try_dirs(l, &l->library_path, name, ret_dir);
	if (n == NULL)
		n = try_path(l, from, elf->runpath, name, ret_dir);
	if (n == NULL && !elf->no_default_dirs)
		n = try_dirs(l, &l->conf, name, ret_dir);
	if (n == NULL && !elf->no_default_dirs)
		n = try_dirs(l, &l->builtin, name, ret_dir);
	return n;
}

static void push_linked(struct linkage *l, struct view_node *node, const char *name,
                        const char *origin, const struct linked *loader)
{
	const struct linked o = {node, name, origin, loader};

	vec_push(&l->objects, arena_memdup(l->image->run->arena, &o, sizeof(o)));
}

static void load_needed(struct linkage *l, const struct linked *from, const char *needed,
                        linkage_missing *missing)
{
	const char *slash = strrchr(needed, '/'), *dir = "/";
	struct view_node *n;

	if (needed[0] == '\0' || linkage_find(l, needed) != NULL ||
	    elf_search_is_loader(l->interpreter, needed) || rule_provided(l->image, needed))
		return;
	n = slash != NULL ? try_file(l, "/", needed) : find_library(l, from, needed, &dir);
	if (n == NULL)
		missing(l, from, needed);
	else
		push_linked(l, n, needed, dir, from);
}

void linkage_load(struct linkage *l, struct view_node *root, linkage_missing *missing)
{
	struct check_image *image = l->image;
	const struct elf_info *elf = root->content->elf;
	const struct view_node *loader =
		elf->interpreter != NULL ? view_find(&image->view, elf->interpreter, true) : NULL;

	l->objects.n = 0;
	l->interpreter = elf->interpreter;
	/* The folders that the image's own loader searches; those in use anywhere when it is not
	 * known. */
	l->builtin = loader != NULL && loader->content != NULL ? loader->content->loader_dirs
	                                                       : (struct strlist){0};
	if (l->builtin.n == 0)
		l->builtin = elf_search_usual(image->arch, image->run->arena);
	push_linked(l, root, view_path(&image->view, root), view_path(&image->view, root->parent),
	            NULL);
	for (size_t i = 0; i < l->objects.n && l->objects.n < OBJECTS_MAX; i++) {
		const struct linked *from = l->objects.at[i];
		const struct elf_info *e = from->node->content->elf;

		for (size_t k = 0; k < e->needed.n; k++)
			load_needed(l, from, e->needed.at[k], missing);
	}
}
