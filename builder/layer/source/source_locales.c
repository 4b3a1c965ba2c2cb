/*
 * `locale`: folders of usr/lib/locale as localedef(1) makes them. In order: names, one locale,
 * several of one origin.
 */
#include <ctype.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/text.h"
#include "builder/layer/source/source_data.h"
#include "builder/layer/source/source_origin.h"

#define LOCALES "usr/lib/locale"

static const char *const paths[] = {LOCALES, NULL};

struct locales_job {
	struct tree *tree;
	const struct layer_spec *layer;
	const struct origin *origin;
	struct diags *diags;
};

/* ---- names ---- */

/* Of the codeset glibc keeps small letters and digits: "UTF-8" is "utf8", "8859-1" "iso88591". */
static const char *normalized(const char *name, struct arena *a)
{
	AUTO(strbuf) struct strbuf out = STRBUF_INIT(256);
	size_t codeset = strcspn(name, "."), len = strcspn(name, "@");
	bool letters = false;

	if (codeset >= len)
		return name;
	strbuf_add(&out, name, codeset + 1);
	for (size_t i = codeset + 1; i < len; i++)
		letters = letters || isalpha((unsigned char)name[i]);
	if (!letters)
		strbuf_adds(&out, "iso");
	for (size_t i = codeset + 1; i < len; i++)
		if (isalnum((unsigned char)name[i]))
			strbuf_addc(&out, (char)tolower((unsigned char)name[i]));
	strbuf_adds(&out, name + len);
	return arena_strdup(a, strbuf_str(&out));
}

/* A folder with a compiled LC_CTYPE: every locale has one. */
static const char *find_folder(const struct locales_job *j, const char *name)
{
	struct arena *a = j->tree->arena;
	const char *const names[] = {normalized(name, a), name};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct entry *e =
			origin_find(j->origin, arena_printf(a, LOCALES "/%s/LC_CTYPE", names[i]));

		if (e != NULL && e->type == ENTRY_FILE)
			return names[i];
	}
	return NULL;
}

/* C.UTF-8 comes with the C library's programs, all others with one package. */
static const char *package_of(const char *name, struct arena *a)
{
	return strcmp(normalized(name, a), "C.utf8") == 0 ? "libc-bin" : "locales-all";
}

static void missing(const struct locales_job *j, const struct layer_locale *l)
{
	bool archive = origin_find(j->origin, LOCALES "/locale-archive") != NULL;
	struct diag *diag = diags_add(j->diags, DIAG_ERROR, l->at,
	                              "layer '%s': locale '%s' is not in /" LOCALES " of %s",
	                              j->tree->label, l->name, j->origin->name);

	diag_hint(j->diags, diag,
	          "%sDebian's package %s has it: name its .deb in 'from', or a folder made by "
	          "localedef (docs/HOWTO.md)",
	          archive ? "what locale-gen packs into locale-archive cannot be taken out; " : "",
	          package_of(l->name, j->tree->arena));
}

/* ---- one locale ---- */

/* Links between locales become files: the other one need not be in the image. */
static int add_folder(const struct locales_job *j, const struct layer_locale *l, const char *folder,
                      struct err *err)
{
	const char *prefix = arena_printf(j->tree->arena, LOCALES "/%s/", folder);

	for (size_t i = 0; i < j->origin->tree.n; i++) {
		const struct entry *e = &j->origin->tree.at[i], *file;

		if (!text_has_prefix(e->path, prefix) || e->type == ENTRY_DIR)
			continue;
		if (interrupt_check(err) != 0)
			return -1;
		file = origin_find(j->origin, e->path);
		if (file == NULL || file->type != ENTRY_FILE)
			diags_error(j->diags, l->at, "make the folder again, or name the package",
			            "layer '%s': locale '%s': '%s' of %s leads to no file",
			            j->tree->label, l->name, e->path, j->origin->name);
		else if (origin_copy(j->origin, file, e->path, l->at, j->tree, err) != 0)
			return -1;
	}
	return 0;
}

/* ---- several of one origin ---- */

static bool same_origin(const struct layer_locale *a, const struct layer_locale *b)
{
	return a->from == NULL || b->from == NULL ? a->from == b->from
	                                          : strcmp(a->from, b->from) == 0;
}

/* The names of one locale: "de_DE.UTF-8", "de_DE.utf8". */
static bool listed_before(const struct locales_job *j, size_t i)
{
	const struct layer_locale *l = j->layer->locales;
	struct arena *a = j->tree->arena;

	for (size_t k = 0; k < i; k++)
		if (strcmp(normalized(l[k].name, a), normalized(l[i].name, a)) == 0) {
			diags_error(j->diags, l[i].at, "leave one of them out",
			            "layer '%s': locale '%s' is listed twice (first in line %u)",
			            j->tree->label, l[i].name, l[k].at.line);
			return true;
		}
	return false;
}

static int add_all_of(const struct locales_job *j, size_t first, struct err *err)
{
	const struct layer_locale *l = j->layer->locales;

	for (size_t i = first; i < j->layer->n_locales; i++) {
		if (!same_origin(&l[first], &l[i]) || listed_before(j, i))
			continue;
		const char *folder = find_folder(j, l[i].name);

		if (folder == NULL)
			missing(j, &l[i]);
		else if (add_folder(j, &l[i], folder, err) != 0)
			return -1;
	}
	return 0;
}

static bool origin_done_before(const struct layer_spec *layer, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (same_origin(&layer->locales[k], &layer->locales[i]))
			return true;
	return false;
}

static int add_origin(struct tree *t, const struct layer_spec *layer, size_t first,
                      const struct platform *platform, struct diags *d, struct err *err)
{
	AUTO(origin) struct origin o = {0};
	const struct layer_locale *l = &layer->locales[first];
	const struct origin_request req = {
		.from = l->from, .at = l->at, .platform = platform, .paths = paths};
	const struct locales_job j = {.tree = t, .layer = layer, .origin = &o, .diags = d};

	if (origin_read(&o, &req, t, d, err) != 0)
		return -1;
	return o.kind == ORIGIN_NONE ? 0 : add_all_of(&j, first, err);
}

int source_locales_add(struct tree *t, const struct layer_spec *layer,
                       const struct platform *platform, struct diags *d, struct err *err)
{
	for (size_t i = 0; i < layer->n_locales; i++)
		if (!origin_done_before(layer, i) && add_origin(t, layer, i, platform, d, err) != 0)
			return err_wrap(err, "layer '%s': locale", t->label);
	return 0;
}
