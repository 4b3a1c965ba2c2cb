#include "builder/check/allow.h"

#include <string.h>

#include "base/text.h"

static const char *without_slash(const char *path)
{
	return path[0] == '/' ? path + 1 : path;
}

static bool covers(const struct check_allowance *a, enum rule_id id, const char *subject,
                   const struct digest *content)
{
	char text[DIGEST_TEXT_MAX];

	if (strcmp(a->rule, rules[id].name) != 0 ||
	    !text_glob(without_slash(a->path), without_slash(subject)))
		return false;
	return a->digest == NULL || (content != NULL && !digest_is_zero(content) &&
	                             strcmp(a->digest, digest_text(content, text)) == 0);
}

bool allow_finding(struct check_run *run, enum rule_id id, const char *subject,
                   const struct digest *content)
{
	bool allowed = false;

	if (subject == NULL)
		return false;
	/* All that fit count as used: a second one is not wrong. */
	for (size_t i = 0; i < run->opts->n_allow; i++)
		if (covers(&run->opts->allow[i], id, subject, content))
			allowed = run->allow_used[i] = true;
	run->n_allowed += allowed;
	return allowed;
}

bool allow_needs_digests(const struct check_opts *opts)
{
	for (size_t i = 0; i < opts->n_allow; i++)
		if (opts->allow[i].digest != NULL)
			return true;
	return false;
}

/* The digest of a regular file of a layer, NULL if there is none. */
static const struct digest *digest_at(const struct check_image *image, struct rule_place place)
{
	const struct layer_scan *scan =
		place.layer < image->manifest.n_layers ? image->layers[place.layer] : NULL;

	for (size_t i = 0; scan != NULL && i < scan->members.n; i++) {
		const struct scan_member *m = scan->members.at[i];

		if (m->type == MEMBER_FILE &&
		    strcmp(without_slash(m->path), without_slash(place.path)) == 0)
			return &m->content;
	}
	return NULL;
}

bool allow_place(struct check_image *image, enum rule_id id, struct rule_place place)
{
	const struct check_opts *opts = image->run->opts;

	if (opts->n_allow == 0 || place.path == NULL)
		return false;
	return allow_finding(image->run, id, place.path,
	                     allow_needs_digests(opts) ? digest_at(image, place) : NULL);
}

void allow_report_unused(struct check_run *run)
{
	/* With one platform alone, another one may have what it is for. */
	if (run->opts->only != NULL)
		return;
	for (size_t i = 0; i < run->opts->n_allow; i++) {
		const struct check_allowance *a = &run->opts->allow[i];
		struct diag *diag;

		if (run->allow_used[i])
			continue;
		diag = diags_add(run->diags, DIAG_WARNING, a->at,
		                 "%s: rule '%s' has no finding at '%s'%s%s that this allows",
		                 a->at.file != NULL ? "image.check.allow" : "--allow", a->rule,
		                 a->path, a->digest != NULL ? " with digest " : "",
		                 a->digest != NULL ? a->digest : "");
		diag_rule(run->diags, diag, a->rule);
		diag_hint(run->diags, diag, "%s",
		          "remove it, or correct its path or digest: an allowance that is left "
		          "over hides the next finding");
	}
}
