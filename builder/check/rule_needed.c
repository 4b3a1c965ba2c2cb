/*
 * Rules over a program with all its libraries: everything needed is found, and every symbol version
 * that is needed is defined by the library found. Programs first; then libraries that no program
 * loads at start (plug-ins), whose missing libraries are only worth a warning: their host may have
 * loaded them.
 */
#include <elf.h>
#include <string.h>

#include "base/text.h"
#include "builder/check/linkage.h"
#include "builder/check/rule_data.h"

/* What was reported: each name once for an object, not for every program that loads it. */
struct reported_name {
	const struct link_object *object;
	const char *needed;
};

struct reported {
	VEC(struct reported_name) list;
};

static bool was_reported(struct linkage *l, const struct reported *r, const struct link_missing *m)
{
	for (size_t i = 0; i < r->list.n && linkage_spend(l, 1); i++)
		if (r->list.at[i].object == m->from->object &&
		    strcmp(r->list.at[i].needed, m->needed) == 0)
			return true;
	return false;
}

/* A library of that name somewhere in the image, NULL if none. */
static const struct view_node *elsewhere(const struct check_image *image, const char *name)
{
	const char *slash = strrchr(name, '/');

	name = slash != NULL ? slash + 1 : name;
	for (const struct view_node *n = image->view.root; n != NULL; n = view_next(n))
		if (linkage_fits(image, n) && strcmp(n->name, name) == 0)
			return n;
	return NULL;
}

static const char *hint_for(const struct check_image *image, const struct link_missing *m)
{
	const struct view_node *there;

	if (m->found.state == LINK_BROKEN)
		return "put the library itself there, whole";
	if (image->n_reports[RULE_ELF_NEEDED] > RULE_REPORTS_MAX)
		return "";
	there = elsewhere(image, m->needed);
	if (there == NULL)
		return "add it by `closure:` or `files:`, or list it under provided when the node "
		       "brings it";
	return arena_printf(image->run->arena,
	                    "%s is in the image, where the loader does not look for it: make "
	                    "ld.so.cache anew (ldconfig -r), or name its folder in LD_LIBRARY_PATH "
	                    "or in the RUNPATH of the file that needs it",
	                    view_path(&image->view, there));
}

static const char *text_of(const struct check_image *image, const struct link_missing *m,
                           const struct linked *root)
{
	const char *why = m->from->object != root->object ? " when it is loaded for " : "";
	const char *program = m->from->object != root->object ? root->name : "";
	const struct view_node *n = m->found.node;

	if (m->found.state == LINK_ABSENT)
		return arena_printf(image->run->arena,
		                    "needs '%s', which the loader does not find%s%s", m->needed,
		                    why, program);
	return arena_printf(image->run->arena, "needs '%s', for which the loader takes %s%s%s: %s",
	                    m->needed, view_path(&image->view, n), why, program,
	                    n->content->elf_error != NULL ? n->content->elf_error
	                                                  : "not an ELF file");
}

static void report_missing(struct linkage *l, const struct link_missing *m, void *ctx)
{
	struct check_image *image = l->image;
	const struct linked *root = &l->objects.at[0];
	const struct reported_name name = {m->from->object, m->needed};
	struct reported *r = ctx;
	struct diag *diag;

	if (was_reported(l, r, m))
		return;
	vec_push(&r->list, name);
	diag = rule_report_as(image, RULE_ELF_NEEDED,
	                      root->object->elf->executable ? DIAG_ERROR : DIAG_WARNING,
	                      rule_place_of(image, m->from->object->node), text_of(image, m, root));
	rule_hint(image, diag, hint_for(image, m));
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

static void report_version(struct linkage *l, const struct linked *o, const char *library,
                           const struct linked *provider, const char *version)
{
	struct check_image *image = l->image;
	const char *best =
		text_has_prefix(version, "GLIBC_") ? newest(provider->object->elf) : NULL;
	struct diag *diag;

	o->object->node->marks |= MARK_GLIBC_REPORTED;
	diag = rule_report(image, RULE_GLIBC_VERSION, rule_place_of(image, o->object->node),
	                   "needs version %s of %s, but the image's %s does not define it%s%s%s",
	                   version, library, view_path(&image->view, provider->object->node),
	                   best != NULL ? " (the newest it has is " : "", best != NULL ? best : "",
	                   best != NULL ? ")" : "");
	rule_hint(image, diag, "build against the library of the image, or use a newer base image");
}

/* The versions that an object needs of the i-th library; what one has is not asked again. */
static void check_versions(struct linkage *l, const struct linked *o, size_t i)
{
	const struct elf_need_versions *need = &o->object->elf->need[i];
	const struct linked *provider;
	const char *version;

	if (!linkage_spend(l, linkage_name_cost(need->library)))
		return;
	provider = linkage_find(l, need->library);
	/* The loader does not mind a library without any versions. */
	if (provider == NULL || provider->object->elf->defined.n == 0 ||
	    o->object->versioned_by[i] == provider->object ||
	    !linkage_spend(l, need->versions.n + provider->object->elf->defined.n))
		return;
	version = lacking(provider->object->elf, &need->versions);
	if (version != NULL)
		report_version(l, o, need->library, provider, version);
	else
		o->object->versioned_by[i] = provider->object;
}

static void check_object(struct linkage *l, const struct linked *o)
{
	struct link_object *object = o->object;
	const size_t n = object->elf->n_need;

	object->node->marks |= MARK_REACHED;
	if (object->versioned_by == NULL)
		object->versioned_by =
			arena_calloc(l->image->run->arena, n + 1, sizeof(*object->versioned_by));
	for (size_t i = 0; i < n && (object->node->marks & MARK_GLIBC_REPORTED) == 0; i++)
		check_versions(l, o, i);
}

static void check_root(struct linkage *l, struct view_node *root, struct reported *r)
{
	linkage_load(l, root, report_missing, r);
	for (size_t i = 0; i < l->objects.n; i++)
		check_object(l, &l->objects.at[i]);
	if (root->content->elf->executable)
		linkage_check_symbols(l);
	linkage_check_dlopen(l);
	data_take_program(l);
}

static void check_all(struct linkage *l, struct reported *r)
{
	struct check_image *image = l->image;

	for (struct view_node *n = image->view.root; n != NULL && !l->exhausted; n = view_next(n))
		if (linkage_fits(image, n) && n->content->elf->dynamic &&
		    n->content->elf->executable && (n->member->mode & 0111) != 0)
			check_root(l, n, r);
	for (struct view_node *n = image->view.root; n != NULL && !l->exhausted; n = view_next(n))
		if (linkage_fits(image, n) && n->content->elf->dynamic &&
		    (n->marks & MARK_REACHED) == 0)
			check_root(l, n, r);
}

/* What was not looked at is said: silence would read as "all is well". */
static void report_left_out(const struct linkage *l)
{
	struct check_image *image = l->image;
	size_t n = 0;

	if (l->exhausted)
		rule_hint(image,
		          rule_report(image, RULE_LINKAGE_SIZE, NO_PLACE,
		                      "the linkage of this image is too large to check: more than "
		                      "%d look-ups, or %d libraries of one program",
		                      LINKAGE_STEPS_MAX, LINKAGE_OBJECTS_MAX),
		          "shorten the RPATH and RUNPATH of its files");
	for (size_t i = 0; i < image->manifest.n_layers; i++)
		n += image->layers[i] != NULL ? image->layers[i]->room.n_left_out : 0;
	if (n > 0)
		rule_report_as(image, RULE_LINKAGE_SIZE, DIAG_WARNING, NO_PLACE,
		               arena_printf(image->run->arena,
		                            "the symbols of %zu files were not checked: those of "
		                            "the others take all the room",
		                            n));
}

void rule_check_linkage(struct check_image *image)
{
	struct reported r = {0};
	struct linkage l;

	if (image->arch == NULL)
		return;
	linkage_init(&l, image);
	check_all(&l, &r);
	linkage_check_preload(&l);
	report_left_out(&l);
	vec_done(&r.list);
	linkage_done(&l);
}
