/*
 * Rules over a program with all its libraries: everything needed is found, and every symbol version
 * that is needed is defined by the library found. Programs first; then libraries that no program
 * loads at start (plug-ins), whose missing libraries are only worth a warning: their host may have
 * loaded them.
 */
#include <elf.h>
#include <string.h>

#include "base/text.h"
#include "builder/check/rules.h"

static void report_missing(struct linkage *l, const struct linked *from, const char *needed)
{
	struct check_image *image = l->image;
	const struct linked *root = l->objects.at[0];
	bool program = root->node->content->elf->executable;
	struct diag *diag;

	/* Once for each object, not once for each program that loads it. */
	if ((from->node->marks & MARK_NEEDED_REPORTED) != 0)
		return;
	diag = rule_report_as(image, RULE_ELF_NEEDED, program ? DIAG_ERROR : DIAG_WARNING,
	                      rule_place_of(image, from->node),
	                      arena_printf(image->run->arena,
	                                   "needs '%s', which the loader does not find%s%s", needed,
	                                   from != root ? " when it is loaded for " : "",
	                                   from != root ? root->name : ""));
	rule_hint(image, diag,
	          "add it by `closure:` or `files:`, or list it under provided when the node "
	          "brings it");
}

static bool defines(const struct elf_info *elf, const char *version)
{
	for (size_t i = 0; i < elf->defined.n; i++)
		if (strcmp(elf->defined.at[i], version) == 0)
			return true;
	return false;
}

/* The newest GLIBC_ version a library defines, NULL when it defines none. */
static const char *newest(const struct elf_info *elf)
{
	const char *best = NULL;

	for (size_t i = 0; i < elf->defined.n; i++) {
		const char *v = elf->defined.at[i];

		if (text_has_prefix(v, "GLIBC_2") && (best == NULL || strverscmp(v, best) > 0))
			best = v;
	}
	return best;
}

/* The worst of the versions that `have` lacks, NULL when it has all. */
static const char *lacking(const struct elf_info *have, const struct strlist *versions)
{
	const char *worst = NULL;

	for (size_t i = 0; i < versions->n; i++)
		if (!defines(have, versions->at[i]) &&
		    (worst == NULL || strverscmp(versions->at[i], worst) > 0))
			worst = versions->at[i];
	return worst;
}

static void check_versions(struct linkage *l, const struct linked *o,
                           const struct elf_need_versions *need)
{
	struct check_image *image = l->image;
	const struct linked *provider = linkage_find(l, need->library);
	const struct elf_info *have;
	const char *version, *best;
	struct diag *diag;

	/* The loader does not mind a library without any versions. */
	if (provider == NULL || provider->node->content->elf->defined.n == 0)
		return;
	have = provider->node->content->elf;
	version = lacking(have, &need->versions);
	if (version == NULL)
		return;
	best = text_has_prefix(version, "GLIBC_") ? newest(have) : NULL;
	o->node->marks |= MARK_GLIBC_REPORTED;
	diag = rule_report(image, RULE_GLIBC_VERSION, rule_place_of(image, o->node),
	                   "needs version %s of %s, but the image's %s does not define it%s%s%s",
	                   version, need->library, view_path(&image->view, provider->node),
	                   best != NULL ? " (the newest it has is " : "", best != NULL ? best : "",
	                   best != NULL ? ")" : "");
	rule_hint(image, diag, "build against the library of the image, or use a newer base image");
}

static void check_root(struct linkage *l, struct view_node *root)
{
	linkage_load(l, root, report_missing);
	for (size_t i = 0; i < l->objects.n; i++) {
		struct linked *o = l->objects.at[i];
		const struct elf_info *elf = o->node->content->elf;

		o->node->marks |= MARK_REACHED | MARK_NEEDED_REPORTED;
		for (size_t k = 0; k < elf->n_need && (o->node->marks & MARK_GLIBC_REPORTED) == 0;
		     k++)
			check_versions(l, o, &elf->need[k]);
	}
}

static bool is_dynamic(const struct check_image *image, const struct view_node *n)
{
	const struct elf_info *elf = view_is_file(n) ? n->content->elf : NULL;

	return elf != NULL && elf->dynamic && elf->machine == image->arch->elf_machine &&
	       elf->bits == image->arch->elf_bits;
}

void rule_check_linkage(struct check_image *image)
{
	struct linkage l;

	if (image->arch == NULL ||
	    (image->run->off[RULE_ELF_NEEDED] && image->run->off[RULE_GLIBC_VERSION]))
		return;
	linkage_init(&l, image);
	for (struct view_node *n = image->view.root; n != NULL; n = view_next(n))
		if (is_dynamic(image, n) && n->content->elf->executable &&
		    (n->member->mode & 0111) != 0)
			check_root(&l, n);
	for (struct view_node *n = image->view.root; n != NULL; n = view_next(n))
		if (is_dynamic(image, n) && (n->marks & MARK_REACHED) == 0)
			check_root(&l, n);
	linkage_done(&l);
}
