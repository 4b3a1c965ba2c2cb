#include <string.h>

#include "builder/scan/records.h"

#define TRACKER_URI "https://security-tracker.debian.org/tracker/"

/* What the tracker says of one vulnerability in one release. */
struct tracker_verdict {
	const char *name;  /* of the vulnerability */
	const char *fixed; /* "0": the release never had it; NULL: none yet */
	const char *fixed_in_sid;
	const char *urgency;
};

const char *record_text(const struct jsonr *doc, const struct jsonr_node *obj, const char *key)
{
	const struct jsonr_node *node = jsonr_get(doc, obj, key);

	return node != NULL && node->type == JSONR_STRING ? node->string : NULL;
}

/* The version from which on a release is free of it; NULL: none. */
static const char *fixed_version(const struct jsonr *doc, const struct jsonr_node *release)
{
	const char *status = record_text(doc, release, "status");

	return status != NULL && strcmp(status, "resolved") == 0
	               ? record_text(doc, release, "fixed_version")
	               : NULL;
}

/*
 * A release without a fix may yet have a package of a later one, built for it: what is as new as
 * the fixed one in sid is fixed, as debsecan(1) judges.
 */
static bool is_vulnerable(const struct wanted *w, const struct tracker_verdict *v)
{
	const char *fixed = v->fixed != NULL ? v->fixed : v->fixed_in_sid;

	if (fixed == NULL)
		return true;
	return strcmp(fixed, "0") == 0 ? v->fixed == NULL : w->order(w->version, fixed) < 0;
}

static int add_verdict(struct vuln_matching *m, const struct wanted *w,
                       const struct tracker_verdict *v, struct err *err)
{
	struct hit hit = {
		.wanted = (size_t)(w - m->wanted.at),
		.name = match_text(m, v->name),
		.rating = {v->urgency != NULL ? severity_of_word(v->urgency) : SEVERITY_UNDEFINED,
	                   true},
		.fixed_in = v->fixed != NULL ? match_text(m, v->fixed) : ""};

	hit.uri = arena_printf(m->arena, TRACKER_URI "%s", hit.name);
	return is_vulnerable(w, v) ? match_add(m, &hit, err) : 0;
}

static size_t release_by_suite(const struct vuln_matching *m, const char *suite)
{
	size_t i = 0;

	while (i < m->releases.n &&
	       (m->releases.at[i].suite == NULL || strcmp(m->releases.at[i].suite, suite) != 0))
		i++;
	return i;
}

static int read_release(struct vuln_matching *m, const char *source, const struct jsonr *doc,
                        const struct jsonr_node *release, struct tracker_verdict *v,
                        struct err *err)
{
	size_t number = release_by_suite(m, release->key), n;

	if (number == m->releases.n)
		return 0;
	m->releases.at[number].covered = true;
	const struct wanted *w = match_find(m, number, source, &n);

	v->fixed = fixed_version(doc, release);
	v->urgency = record_text(doc, release, "urgency");
	for (size_t i = 0; i < n; i++)
		if (add_verdict(m, &w[i], v, err) != 0)
			return -1;
	return 0;
}

static int read_vulnerability(struct vuln_matching *m, const char *source, const struct jsonr *doc,
                              const struct jsonr_node *it, struct err *err)
{
	const struct jsonr_node *releases = jsonr_get(doc, it, "releases"), *release;
	struct tracker_verdict v = {.name = it->key};

	if (releases == NULL || releases->type != JSONR_OBJECT)
		return err_set(err, ERR_FORMAT, "'%.100s' of '%.100s' has no 'releases'", it->key,
		               source);
	v.fixed_in_sid = fixed_version(doc, jsonr_get(doc, releases, "sid"));
	release = jsonr_first(doc, releases);
	for (size_t i = 0; i < releases->n; i++, release = jsonr_next(doc, release))
		if (read_release(m, source, doc, release, &v, err) != 0)
			return -1;
	return 0;
}

int tracker_read(struct vuln_matching *m, const char *source, const struct jsonr *doc,
                 struct err *err)
{
	const struct jsonr_node *all = doc->nodes, *it;

	if (all->type != JSONR_OBJECT)
		return err_set(err, ERR_FORMAT, "'%.100s' is not an object", source);
	it = jsonr_first(doc, all);
	for (size_t i = 0; i < all->n; i++, it = jsonr_next(doc, it))
		if (read_vulnerability(m, source, doc, it, err) != 0)
			return -1;
	return 0;
}
