/*
 * Rendering a fleet with overrides of its spec, and looking into what came of it.
 */
#ifndef SLIPWAY_TESTS_RENDER_MAKE_H
#define SLIPWAY_TESTS_RENDER_MAKE_H

#include "tests/fleet_make.h"

/* One fleet with overrides of its spec, rendered. */
static inline void render(struct fleet_run *f, const char *spec, const char *const *assignments,
                          size_t n)
{
	AUTO(strbuf) struct strbuf path = STRBUF_INIT(256);
	struct spec_set sets[8];

	strbuf_addf(&path, "tests/golden/fleet/%s.yaml", spec);
	for (size_t i = 0; i < n; i++)
		sets[i].assignment = assignments[i];
	*f = (struct fleet_run){0};
	int failed = spec_load(strbuf_str(&path), sets, n, &f->arena, &f->spec, &f->diags, &f->err);

	CHECK_INT(failed, 0);
	if (failed == 0)
		CHECK_INT(fleet_render_all(f), 0);
	else
		printf("# %s\n", f->err.msg);
}

#define RENDER(f, spec, ...)                                                                       \
	do {                                                                                       \
		static const char *const assignments_[] = {__VA_ARGS__};                           \
		render((f), (spec), assignments_, ARRAY_LEN(assignments_));                        \
	} while (0)

/* The first object of a kind whose name holds `name`; NULL if there is none. */
static inline const cJSON *find(const struct fleet_run *f, const char *kind, const char *name)
{
	for (size_t i = 0; i < f->out.n; i++)
		for (size_t k = 0; k < f->out.files[i].n; k++) {
			const cJSON *doc = f->out.files[i].at[k].doc;
			const char *found = json_string(json_get(doc, "metadata"), "name");
			const char *its_kind = json_string(doc, "kind");

			if (its_kind != NULL && strcmp(its_kind, kind) == 0 && found != NULL &&
			    strstr(found, name) != NULL)
				return doc;
		}
	return NULL;
}

/* The document as one line of JSON, "" when it is not there. */
static inline const char *text_of(struct fleet_run *f, const cJSON *doc)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(1 << 20);

	if (doc != NULL)
		json_print(doc, &sb);
	return arena_strdup(&f->arena, strbuf_str(&sb));
}

static inline bool holds(struct fleet_run *f, const cJSON *doc, const char *what)
{
	return strstr(text_of(f, doc), what) != NULL;
}

static inline bool has_file(const struct fleet_run *f, const char *folder, const char *name)
{
	for (size_t i = 0; i < f->out.n; i++)
		if (strcmp(f->out.files[i].folder, folder) == 0 &&
		    strcmp(f->out.files[i].name, name) == 0)
			return true;
	return false;
}

#endif
