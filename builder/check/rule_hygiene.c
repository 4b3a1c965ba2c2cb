/*
 * What is not wrong in an image, and has no use there. Layers of a base are left out: who uses one
 * can only choose another.
 */
#include <elf.h>
#include <string.h>

#include "base/text.h"
#include "builder/check/rules.h"
#include "builder/layer/elf/elf_search.h"

static bool is_own(const struct check_image *image, const struct view_node *n)
{
	return n->member != NULL && !rule_layer_of_base(image, n->layer);
}

/* ---- version control ---- */

/* A folder of this name with this entry in it. */
static const struct vcs {
	const char *name, *entry;
} systems[] = {{".git", "HEAD"}, {".svn", "wc.db"},  {".svn", "entries"},
               {".hg", "store"}, {".bzr", "branch"}, {"CVS", "Entries"}};

static bool is_vcs_folder(const struct check_image *image, struct view_node *n)
{
	for (size_t i = 0; i < ARRAY_LEN(systems); i++)
		if (strcmp(n->name, systems[i].name) == 0 &&
		    view_find_at(&image->view, n, systems[i].entry, false) != NULL)
			return true;
	return false;
}

void rule_check_vcs_folders(struct check_image *image)
{
	for (struct view_node *n = image->view.root; n != NULL; n = view_next(n))
		if (view_is_dir(n) && n->first_child != NULL && is_vcs_folder(image, n) &&
		    is_own(image, n->first_child))
			rule_hint(image,
			          rule_report(image, RULE_VCS_FOLDER, rule_place_of(image, n),
			                      "holds a repository's history, with all that was "
			                      "ever committed"),
			          "leave it out: `exclude: ['**/.git/**']`");
}

/* ---- core dumps ---- */

void rule_check_core_dumps(struct check_image *image)
{
	for (struct view_node *n = image->view.root; n != NULL; n = view_next(n))
		if (view_is_file(n) && is_own(image, n) && n->content->elf != NULL &&
		    n->content->elf->type == ET_CORE)
			rule_hint(image,
			          rule_report(image, RULE_CORE_DUMP, rule_place_of(image, n),
			                      "is a core dump: the memory of a program that "
			                      "crashed, with what was in it"),
			          "leave it out by `exclude:`, and delete it at its source");
}

/* ---- links that lead nowhere ---- */

/* What is there only when a container runs, texts that slim distributions leave out while links to
 * them stay, and the time zone, which has a rule of its own. */
static bool is_excused(const struct check_image *image, const char *path)
{
	static const char *const folders[] = {"/proc",
	                                      "/sys",
	                                      "/dev",
	                                      "/run",
	                                      "/var/run",
	                                      "/tmp",
	                                      "/usr/share/doc",
	                                      "/usr/share/man",
	                                      "/usr/share/info",
	                                      "/usr/share/locale",
	                                      "/usr/share/zoneinfo"};

	for (size_t i = 0; i < ARRAY_LEN(folders) + image->volumes.n; i++) {
		const char *folder = i < ARRAY_LEN(folders)
		                             ? folders[i]
		                             : image->volumes.at[i - ARRAY_LEN(folders)];
		size_t len = strlen(folder);

		if (strncmp(path, folder, len) == 0 && (path[len] == '/' || path[len] == '\0'))
			return true;
	}
	return false;
}

/* Where a link points, without looking: what is behind it is not there to be asked. */
static const char *target_path(const struct check_image *image, const struct view_node *n)
{
	struct arena *a = image->run->arena;
	const char *link = n->content->link;

	if (link[0] != '/')
		link = arena_printf(a, "%s/%s", view_path(&image->view, n->parent), link);
	return elf_search_normalise(link, a);
}

/* Links to links, with many folders between them, make a short path long: all look-ups of one image
 * share this many folders, and bytes of targets. */
enum { LINK_STEPS_MAX = 10000000 };

static bool count_step(void *ctx, struct view_node *dir)
{
	size_t *n_steps = ctx;

	(void)dir;
	return ++*n_steps <= LINK_STEPS_MAX;
}

/* Whether the last of a chain of links, the one that leads nowhere, may do so. */
static bool leads_to_excused(const struct check_image *image, const struct view_node *n,
                             size_t *n_steps)
{
	enum { LINKS_MAX = 40 };

	for (int i = 0; i < LINKS_MAX && *n_steps <= LINK_STEPS_MAX; i++) {
		const char *path = target_path(image, n);

		*n_steps += strlen(path) + strlen(n->content->link);
		if (is_excused(image, path))
			return true;
		n = view_walk(&image->view, image->view.root, path, false, count_step, n_steps);
		if (n == NULL || n->content == NULL || n->content->type != MEMBER_SYMLINK)
			return false;
	}
	return false;
}

static void check_link(struct check_image *image, struct view_node *n, size_t *n_steps)
{
	if (view_walk(&image->view, n->parent, n->name, true, count_step, n_steps) != NULL ||
	    leads_to_excused(image, n, n_steps) || *n_steps > LINK_STEPS_MAX ||
	    is_excused(image, view_path(&image->view, n)))
		return;
	rule_hint(image,
	          rule_report(image, RULE_DANGLING_LINK, rule_place_of(image, n),
	                      "is a symbolic link to '%s', which is not there", n->content->link),
	          "add what it leads to, or leave the link out");
}

void rule_check_links(struct check_image *image)
{
	size_t n_steps = 0;

	for (struct view_node *n = image->view.root; n != NULL && n_steps <= LINK_STEPS_MAX;
	     n = view_next(n))
		if (is_own(image, n) && n->content->type == MEMBER_SYMLINK)
			check_link(image, n, &n_steps);
	if (n_steps > LINK_STEPS_MAX)
		rule_report(image, RULE_DANGLING_LINK, NO_PLACE,
		            "following the symbolic links takes more than %d steps: not all were "
		            "looked at",
		            LINK_STEPS_MAX);
}
