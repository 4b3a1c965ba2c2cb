#include "k8s/object/render.h"

#include <string.h>

#include "base/attr.h"
#include "base/text.h"

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
	return err_hint(err, "Known names are %s%s%s%s.", strbuf_str(&all),
	                near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
	                near != NULL ? "'?" : "");
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

int k8s_render(const struct k8s_renderers *table, const struct fleet *fleet,
               const struct strlist *only, struct k8s_output *out, struct err *err)
{
	bool all = only == NULL || only->n == 0;

	if (!all && check_names(table, only, &out->arena, err) != 0)
		return -1;
	out->fleet = fleet;
	out->partial = !all;
	for (size_t i = 0; i < table->n; i++) {
		const struct k8s_renderer *row = table->at[i];

		if (!row->wanted(fleet) || (all ? row->by_name : !listed(only, row->name)))
			continue;
		k8s_begin(out, row);
		row->render(fleet, out);
	}
	return 0;
}
