/*
 * `timezone` and `tzdata`: one selection of names below usr/share/zoneinfo. In order: which names,
 * one of them, the image's own zone.
 */
#include <string.h>

#include "base/interrupt.h"
#include "base/text.h"
#include "builder/layer/source/source_data.h"
#include "builder/layer/source/source_origin.h"
#include "builder/layer/tree/select.h"

#define ZONEINFO     "usr/share/zoneinfo"
#define ZONEINFO_LEN (sizeof(ZONEINFO "/") - 1)

static const char *const paths[] = {ZONEINFO, NULL};

/*
 * The same zones once more, with leap seconds and without, and what points out of the folder: of no
 * use to programs that count time as POSIX does.
 */
static const char *const left_out[] = {"/posix", "/right", "/localtime", "/posixrules"};

struct zones_job {
	struct tree *tree;
	const struct layer_spec *layer;
	const struct origin *origin;
	struct diags *diags;
	struct srcpos at;
	bool *taken; /* per entry of the origin's tree */
};

static const struct strlist excluded = {(const char **)left_out, ARRAY_LEN(left_out)};

/* ---- which names ---- */

static bool wants_tzdata(const struct layer_spec *layer)
{
	return layer->zones.at.file != NULL && layer->zones.enabled;
}

/* The entry's name below the folder; NULL for what is none. */
static const char *zone_name(const struct entry *e)
{
	return text_has_prefix(e->path, ZONEINFO "/") && e->type != ENTRY_DIR
	               ? e->path + ZONEINFO_LEN
	               : NULL;
}

static bool is_wanted(const struct zones_job *j, const struct entry *e)
{
	const struct selection select = {.include = &j->layer->zones.zones, .exclude = &excluded};
	const char *name = zone_name(e);

	if (name == NULL)
		return false;
	if (j->layer->timezone != NULL && strcmp(name, j->layer->timezone) == 0)
		return true;
	return wants_tzdata(j->layer) && select_path(&select, name, false);
}

static bool nothing_matches(const struct zones_job *j, const char *glob)
{
	const struct strlist one = {&glob, 1};
	const struct selection select = {.include = &one, .exclude = &excluded};

	for (size_t i = 0; i < j->origin->tree.n; i++) {
		const char *name = zone_name(&j->origin->tree.at[i]);

		if (name != NULL && select_path(&select, name, false))
			return false;
	}
	return true;
}

/* The names of the origin, for a hint; *ret_n of them. */
static const char **all_names(const struct zones_job *j, size_t *ret_n)
{
	const char **names = arena_calloc(j->tree->arena, j->origin->tree.n, sizeof(*names));
	size_t n = 0;

	for (size_t i = 0; i < j->origin->tree.n; i++) {
		const char *name = zone_name(&j->origin->tree.at[i]);

		if (name != NULL &&
		    select_path(&(struct selection){&(struct strlist){0}, &excluded}, name, false))
			names[n++] = name;
	}
	*ret_n = n;
	return names;
}

static void no_such_zone(const struct zones_job *j)
{
	struct diag *diag = diags_add(j->diags, DIAG_ERROR, j->layer->timezone_at,
	                              "layer '%s': time zone '%s' is not in the tz database of %s",
	                              j->tree->label, j->layer->timezone, j->origin->name);
	size_t n;
	const char **names = all_names(j, &n);
	const char *near = text_nearest(j->layer->timezone, names, n);

	if (near != NULL)
		diag_hint(j->diags, diag, "did you mean '%s'?", near);
	else
		diag_hint(j->diags, diag,
		          "zones are named as in Europe/Berlin; old names are in Debian's package "
		          "tzdata-legacy");
}

static void no_database(const struct zones_job *j)
{
	diags_error(j->diags, j->at,
	            "Debian's package tzdata has it: apt-get install tzdata, or name its .deb in "
	            "tzdata.from",
	            "layer '%s': %s has no tz database: no /" ZONEINFO, j->tree->label,
	            j->origin->name);
}

/* ---- one of them ---- */

/*
 * A link stays one when what it leads to is packed as well, else it becomes that file. Links of the
 * database stay inside its folder.
 */
static int add_zone(const struct zones_job *j, size_t i, struct err *err)
{
	const struct entry *e = &j->origin->tree.at[i], *file = origin_find(j->origin, e->path);

	if (file == NULL || file->type != ENTRY_FILE)
		return 0; /* a link to nothing, or to a folder */
	if (e->type == ENTRY_SYMLINK && j->taken[file - j->origin->tree.at] && e->link[0] != '/')
		return data_link_add(j->tree, e->path, e->link, j->at, err);
	return origin_copy(j->origin, file, e->path, j->at, j->tree, err);
}

static int add_zones(const struct zones_job *j, struct err *err)
{
	for (size_t i = 0; i < j->origin->tree.n; i++) {
		if (!j->taken[i])
			continue;
		if (interrupt_check(err) != 0 || add_zone(j, i, err) != 0)
			return -1;
	}
	return 0;
}

/* ---- the image's own zone ---- */

/* tzfile(5): the file starts with "TZif". */
static bool is_zone(const struct zones_job *j, const struct entry *file, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);

	return file != NULL && file->type == ENTRY_FILE &&
	       origin_load(j->origin, file, &text, err) == 0 &&
	       text_has_prefix(strbuf_str(&text), "TZif");
}

static int add_own_zone(const struct zones_job *j, struct err *err)
{
	struct arena *a = j->tree->arena;
	const char *name = j->layer->timezone, *line = arena_printf(a, "%s\n", name);
	const char *path = arena_printf(a, ZONEINFO "/%s", name);
	struct err why = {0};

	if (!is_zone(j, origin_find(j->origin, path), &why)) {
		no_such_zone(j);
		return 0;
	}
	if (data_link_add(j->tree, "etc/localtime", arena_printf(a, "/%s", path),
	                  j->layer->timezone_at, err) != 0)
		return -1;
	return data_file_add(j->tree, "etc/timezone", line, strlen(line), j->layer->timezone_at,
	                     err);
}

static int fill(struct zones_job *j, struct err *err)
{
	const struct layer_zones *zones = &j->layer->zones;

	if (origin_find(j->origin, ZONEINFO) == NULL) {
		no_database(j);
		return 0;
	}
	for (size_t i = 0; wants_tzdata(j->layer) && i < zones->zones.n; i++)
		if (nothing_matches(j, zones->zones.at[i]))
			diags_error(j->diags, zones->at,
			            "zones are relative to /" ZONEINFO ", as in Europe/*",
			            "layer '%s': nothing of %s's tz database matches '%s'",
			            j->tree->label, j->origin->name, zones->zones.at[i]);
	j->taken = arena_calloc(j->tree->arena, j->origin->tree.n, sizeof(*j->taken));
	for (size_t i = 0; i < j->origin->tree.n; i++)
		j->taken[i] = is_wanted(j, &j->origin->tree.at[i]);
	if (j->layer->timezone != NULL && add_own_zone(j, err) != 0)
		return -1;
	return add_zones(j, err);
}

int source_zones_add(struct tree *t, const struct layer_spec *layer,
                     const struct platform *platform, struct diags *d, struct err *err)
{
	AUTO(origin) struct origin o = {0};
	struct zones_job j = {.tree = t,
	                      .layer = layer,
	                      .origin = &o,
	                      .diags = d,
	                      .at = wants_tzdata(layer) ? layer->zones.at : layer->timezone_at};
	const struct origin_request req = {
		.from = layer->zones.from, .at = j.at, .platform = platform, .paths = paths};

	if (layer->timezone == NULL && !wants_tzdata(layer))
		return 0;
	if (origin_read(&o, &req, t, d, err) != 0)
		return err_wrap(err, "layer '%s': tzdata", t->label);
	if (o.kind == ORIGIN_NONE)
		return 0;
	return fill(&j, err) == 0 ? 0 : err_wrap(err, "layer '%s': tzdata", t->label);
}
