#include "k8s/object/render.h"

#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "k8s/object/patch.h"

static bool listed(const struct strlist *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (strcmp(names->at[i], name) == 0)
			return true;
	return false;
}

static int unknown_name(const char *name, const struct strlist *known, struct err *err)
{
	AUTO(strbuf) struct strbuf all = STRBUF_INIT(1024);
	const char *near = text_nearest(name, known->at, known->n);

	for (size_t i = 0; i < known->n; i++)
		strbuf_addf(&all, "%s%s",
		            i == 0             ? ""
		            : i + 1 < known->n ? ", "
		                               : " and ",
		            known->at[i]);
	err_set(err, ERR_USAGE, "--only: there is no '%s' to render", name);
	if (near != NULL)
		return err_hint(err, "Did you mean --only %s? Known names are %s.", near,
		                strbuf_str(&all));
	return err_hint(err, "Known names are %s.", strbuf_str(&all));
}

static int check_names(const struct k8s_renderers *table, const struct strlist *only,
                       struct arena *a, struct err *err)
{
	const char **names = arena_calloc(a, table->n, sizeof(*names));
	const struct strlist known = {names, table->n};

	for (size_t i = 0; i < table->n; i++)
		names[i] = table->at[i]->name;
	for (size_t i = 0; i < only->n; i++)
		if (!listed(&known, only->at[i]))
			return unknown_name(only->at[i], &known, err);
	return 0;
}

const struct k8s_renderer *k8s_renderer_find(const struct k8s_renderers *table, const char *name)
{
	for (size_t i = 0; i < table->n; i++)
		if (strcmp(table->at[i]->name, name) == 0)
			return table->at[i];
	return NULL;
}

void k8s_begin(struct k8s_output *out, const struct k8s_renderer *row)
{
	out->renderer = row;
	out->folder = arena_printf(&out->arena, "%s-%s", row->number, row->name);
}

static void render_rows(const struct k8s_renderers *table, const struct strlist *only, bool by_name,
                        struct k8s_output *out)
{
	bool all = only == NULL || only->n == 0;

	for (size_t i = 0; i < table->n; i++) {
		const struct k8s_renderer *row = table->at[i];
		bool asked = all ? by_name || !row->by_name : listed(only, row->name);

		if (!row->wanted(out->fleet) || !asked)
			continue;
		k8s_begin(out, row);
		row->render(out->fleet, out);
	}
}

/* Whoever loaded the spec by k8s_check knows that there is nothing wrong. */
static int patch_rendered(struct k8s_output *out, struct err *err)
{
	AUTO(diags) struct diags d = {0};

	k8s_patch(out, NULL, &d);
	if (d.n_errors == 0)
		return 0;
	err_set(err, ERR_SPEC, "%s:%u:%u: %s", d.at[0].at.file, d.at[0].at.line, d.at[0].at.column,
	        d.at[0].message);
	return d.at[0].hint != NULL ? err_hint(err, "%s", d.at[0].hint) : -1;
}

int k8s_render(const struct k8s_renderers *table, const struct fleet *fleet,
               const struct strlist *only, struct k8s_output *out, struct err *err)
{
	bool all = only == NULL || only->n == 0;

	if (!all && check_names(table, only, &out->arena, err) != 0)
		return -1;
	out->fleet = fleet;
	out->partial = !all;
	render_rows(table, only, false, out);
	return fleet->n_patches > 0 ? patch_rendered(out, err) : 0;
}

void k8s_check(const struct k8s_renderers *table, const struct fleet *fleet, struct diags *d)
{
	AUTO(k8s_output) struct k8s_output out = {.fleet = fleet};
	size_t problems = d->n_errors;

	if (fleet->n_patches == 0)
		return;
	size_t *matches = arena_calloc(&out.arena, fleet->n_patches, sizeof(*matches));

	render_rows(table, NULL, true, &out);
	k8s_patch(&out, matches, d);
	if (d->n_errors == problems)
		k8s_patch_unmatched(&out, matches, d);
}
