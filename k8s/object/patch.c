#include "k8s/object/patch.h"

#include <string.h>

#include "base/attr.h"
#include "base/doc/json_patch.h"
#include "base/mem.h"
#include "base/text.h"
#include "k8s/object/patch_check.h"

static const char *name_of(const cJSON *doc)
{
	return json_string(json_get(doc, "metadata"), "name");
}

/* `*` stands for any letters, none too: where the last one fails, no earlier one would help. */
static bool fits(const char *pattern, const char *name)
{
	const char *star = NULL, *taken = NULL;

	while (*name != '\0') {
		if (*pattern == '*') {
			star = pattern++;
			taken = name;
		} else if (*pattern == *name) {
			pattern++;
			name++;
		} else if (star != NULL) {
			pattern = star + 1;
			name = ++taken;
		} else {
			return false;
		}
	}
	return pattern[strspn(pattern, "*")] == '\0';
}

static bool named(const struct patch_section *patch, const cJSON *doc)
{
	const char *kind = json_string(doc, "kind"), *name = name_of(doc);
	const char *version = json_string(doc, "apiVersion");

	if (patch->api_version != NULL &&
	    (version == NULL || strcmp(version, patch->api_version) != 0))
		return false;
	return kind != NULL && name != NULL && strcmp(kind, patch->kind) == 0 &&
	       fits(patch->name, name);
}

/* ---- remarks ---- */

static void drop_notes(struct k8s_output *out, const cJSON *item)
{
	size_t kept = 0;

	for (size_t i = 0; i < out->n_notes; i++)
		if (out->notes[i].item != item)
			out->notes[kept++] = out->notes[i];
	out->n_notes = kept;
}

static void drop_notes_below(struct k8s_output *out, const cJSON *item)
{
	drop_notes(out, item);
	for (const cJSON *child = item->child; child != NULL; child = child->next)
		drop_notes_below(out, child);
}

/* Values that are new come from the patch, and what they took the place of is remarked no more. */
static void renew_notes(struct k8s_output *out, const struct json_change *change, struct srcpos at,
                        const char *path)
{
	struct k8s_note note = {.text = k8s_origin(out, at, path)};

	if (change->gone != NULL)
		drop_notes_below(out, change->gone);
	for (size_t i = 0; i < change->put.n; i++) {
		note.item = change->put.at[i];
		drop_notes(out, note.item);
		out->notes = mem_vec_grow(out->notes, out->n_notes, &out->cap_notes,
		                          sizeof(*out->notes));
		out->notes[out->n_notes++] = note;
	}
}

/* ---- one patch, one object ---- */

/* A patch at work on an object. */
struct patching {
	struct k8s_output *out;
	const struct patch_section *patch;
	size_t place; /* among the spec's patches */
	cJSON *doc;
	const char *name; /* of the object, before */
	struct diags *d;
};

static cJSON *json_of(const char *text)
{
	cJSON *value = NULL;
	struct err err = {0};

	if (json_parse("patches", text, strlen(text), &value, &err) != 0)
		BUG("a patch of the spec: %s", err.msg);
	return value;
}

static bool failed(const struct patching *p, struct srcpos at, const char *path,
                   const struct err *err)
{
	diags_error(p->d, at,
	            arena_printf(&p->out->arena, "`slipway render` without the patch shows the "
	                                         "object that it is made of"),
	            "%s: %s %s: %s", path, p->patch->kind, p->name, err->msg);
	return false;
}

static bool merge(const struct patching *p)
{
	const char *path = arena_printf(&p->out->arena, "patches[%zu].merge", p->place);
	AUTO(json) cJSON *value = json_of(p->patch->merge);
	AUTO(json_change) struct json_change change = {0};
	struct err err = {0};

	if (json_merge(p->doc, value, &change, &err) != 0)
		return failed(p, p->patch->merge_at, path, &err);
	renew_notes(p->out, &change, p->patch->merge_at, path);
	return true;
}

static bool operate(const struct patching *p, size_t i)
{
	const struct patch_step *step = &p->patch->json[i];
	const char *path = arena_printf(&p->out->arena, "patches[%zu].json[%zu]", p->place, i);
	AUTO(json) cJSON *value = step->value != NULL ? json_of(step->value) : NULL;
	AUTO(json_change) struct json_change change = {0};
	const struct json_operation operation = {(enum json_op)step->op, step->path, step->from,
	                                         value};
	struct err err = {0};

	if (json_operate(p->doc, &operation, &change, &err) != 0)
		return failed(p, step->path_at, path, &err);
	renew_notes(p->out, &change, step->at, path);
	return true;
}

static bool change_object(const struct patching *p)
{
	AUTO(json) cJSON *before = cJSON_Duplicate(p->doc, true);
	bool done = p->patch->merge == NULL || merge(p);

	if (before == NULL)
		mem_exhausted("cJSON");
	for (size_t i = 0; done && i < p->patch->n_json; i++)
		done = operate(p, i);
	return done &&
	       patch_check_object(before, p->doc, &(struct patch_origin){p->patch, p->place}, p->d);
}

/* ---- all of them ---- */

static size_t change_all(struct k8s_output *out, size_t place, struct diags *d)
{
	const struct patch_section *patch = &out->fleet->patches[place];
	struct patching p = {.out = out, .patch = patch, .place = place, .d = d};
	size_t matches = 0;

	for (size_t i = 0; i < out->n; i++)
		for (size_t k = 0; k < out->files[i].n; k++) {
			p.doc = out->files[i].at[k].doc;
			if (!named(patch, p.doc))
				continue;
			matches++;
			p.name = arena_strdup(&out->arena, name_of(p.doc));
			/* One object shows what is wrong for all that the patch names. */
			if (!change_object(&p))
				return matches;
		}
	return matches;
}

void k8s_patch(struct k8s_output *out, size_t *ret_matches, struct diags *d)
{
	size_t before = d->n_errors;

	for (size_t i = 0; i < out->fleet->n_patches; i++) {
		size_t matches = change_all(out, i, d);

		if (ret_matches != NULL)
			ret_matches[i] = matches;
		/* The first patch that makes a job impossible is the one to tell of. */
		if (matches > 0 && d->n_errors == before)
			patch_check_output(out, i, d);
	}
}

/* ---- patches of nothing ---- */

static size_t count_objects(const struct k8s_output *out)
{
	size_t n = 0;

	for (size_t i = 0; i < out->n; i++)
		n += out->files[i].n;
	return n;
}

/* Names of the rendered objects of a kind, or with NULL the kinds themselves. */
static struct strlist known(const struct k8s_output *out, const char *kind, struct arena *a)
{
	struct strlist list = {arena_calloc(a, count_objects(out) + 1, sizeof(*list.at)), 0};

	for (size_t i = 0; i < out->n; i++)
		for (size_t k = 0; k < out->files[i].n; k++) {
			const cJSON *doc = out->files[i].at[k].doc;
			const char *its = json_string(doc, "kind");

			if (its == NULL || name_of(doc) == NULL)
				continue;
			if (kind == NULL)
				list.at[list.n++] = its;
			else if (strcmp(its, kind) == 0)
				list.at[list.n++] = name_of(doc);
		}
	return list;
}

static const char *advice(const char *near, const char *otherwise, struct arena *a)
{
	return near != NULL ? arena_printf(a, "did you mean '%s'?", near) : otherwise;
}

void k8s_patch_unmatched(const struct k8s_output *out, const size_t *matches, struct diags *d)
{
	AUTO(arena) struct arena a = {0};

	for (size_t i = 0; i < out->fleet->n_patches; i++) {
		const struct patch_section *patch = &out->fleet->patches[i];
		const struct strlist names = known(out, patch->kind, &a);
		const struct strlist kinds = known(out, NULL, &a);

		if (matches[i] > 0)
			continue;
		if (names.n == 0)
			diags_error(d, patch->kind_at,
			            advice(text_nearest(patch->kind, kinds.at, kinds.n),
			                   "`slipway render --output json` lists what there is",
			                   &a),
			            "patches[%zu].kind: no %s is rendered from this spec", i,
			            patch->kind);
		else
			diags_error(d, patch->name_at,
			            advice(text_nearest(patch->name, names.at, names.n),
			                   arena_printf(&a, "there is %s%s", names.at[0],
			                                names.n > 1 ? ", and others" : ""),
			                   &a),
			            "patches[%zu].name: no %s%s%s is called '%s'", i, patch->kind,
			            patch->api_version != NULL ? " of " : "",
			            patch->api_version != NULL ? patch->api_version : "",
			            patch->name);
	}
}
