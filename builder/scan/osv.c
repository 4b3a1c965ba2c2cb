/* Sections: names, severities, versions, one record. */
#include <string.h>

#include "base/text.h"
#include "base/timestamp.h"
#include "builder/scan/cvss.h"
#include "builder/scan/records.h"

enum { NAMES_MAX = 256 };

struct record {
	struct vuln_matching *m;
	const struct jsonr *doc;
	const char *id;
};

static bool is_list(const struct jsonr_node *node)
{
	return node != NULL && node->type == JSONR_ARRAY;
}

/* ---- names ---- */

static bool is_cve(const char *name)
{
	return text_has_prefix(name, "CVE-");
}

/* The strings of a list, and `id` when it is not NULL; in the arena. */
static struct strlist names_of(const struct record *r, const char *key, const char *id)
{
	const struct jsonr_node *list = jsonr_get(r->doc, r->doc->nodes, key), *item;
	size_t most = !is_list(list) ? 0 : list->n < NAMES_MAX ? list->n : NAMES_MAX;
	struct strlist names = {arena_calloc(r->m->arena, most + 1, sizeof(*names.at)), 0};

	if (id != NULL)
		names.at[names.n++] = match_text(r->m, id);
	if (most == 0)
		return names;
	item = jsonr_first(r->doc, list);
	for (size_t i = 0; i < most; i++, item = jsonr_next(r->doc, item))
		if (item->type == JSONR_STRING)
			names.at[names.n++] = match_text(r->m, item->string);
	return names;
}

/* "DEBIAN-CVE-2026-1" is a distributor's record of one vulnerability: its own name says which. */
static const char *own_vulnerability(const char *id)
{
	const char *cve = strstr(id, "CVE-");

	return cve != NULL && (cve == id || cve[-1] == '-') ? cve : NULL;
}

/* The one CVE that it is, else the record's own name. */
static const char *name_of(const char *id, const struct strlist *aliases)
{
	const char *cve = own_vulnerability(id);

	if (cve != NULL)
		return cve;
	for (size_t i = 0; i < aliases->n; i++) {
		if (!is_cve(aliases->at[i]))
			continue;
		if (cve != NULL)
			return id;
		cve = aliases->at[i];
	}
	return cve != NULL ? cve : id;
}

/* ---- severities ---- */

static enum severity worst(enum severity a, enum severity b)
{
	return a > b ? a : b;
}

/* "severity": scores by vectors, or a distributor's word. */
static enum severity listed_severity(const struct jsonr *doc, const struct jsonr_node *obj)
{
	const struct jsonr_node *list = jsonr_get(doc, obj, "severity"), *item;
	enum severity found = SEVERITY_UNDEFINED;

	if (!is_list(list))
		return found;
	item = jsonr_first(doc, list);
	for (size_t i = 0; i < list->n; i++, item = jsonr_next(doc, item)) {
		const char *score = record_text(doc, item, "score");
		int tenths;

		if (score != NULL)
			found = worst(found, cvss_base_score(score, &tenths)
			                             ? cvss_severity(tenths)
			                             : severity_of_word(score));
	}
	return found;
}

/* A word beside the schema: GitHub's "severity", Debian's "urgency", Ubuntu's "priority". */
static enum severity said_severity(const struct jsonr *doc, const struct jsonr_node *obj,
                                   const char *key)
{
	static const char *const words[] = {"urgency", "severity", "priority"};
	const struct jsonr_node *specific = jsonr_get(doc, obj, key);
	enum severity found = SEVERITY_UNDEFINED;

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		const char *word = record_text(doc, specific, words[i]);

		if (word != NULL)
			found = worst(found, severity_of_word(word));
	}
	return found;
}

/* What is nearest to the package goes first, and a score before a word for everybody. */
static struct rating rating_of(const struct record *r, const struct jsonr_node *affected)
{
	const struct jsonr_node *root = r->doc->nodes;
	const enum severity said[] = {
		said_severity(r->doc, affected, "ecosystem_specific"),
		listed_severity(r->doc, affected),
		listed_severity(r->doc, root),
		worst(said_severity(r->doc, affected, "database_specific"),
	              said_severity(r->doc, root, "database_specific")),
	};

	for (size_t i = 0; i < ARRAY_LEN(said); i++)
		if (said[i] != SEVERITY_UNDEFINED)
			return (struct rating){said[i], i == 0};
	return (struct rating){SEVERITY_UNDEFINED, false};
}

/* ---- versions ---- */

/* Of events at the same version the one with the greater number counts. */
enum event_kind { EVENT_FIXED, EVENT_INTRODUCED, EVENT_LAST_AFFECTED, EVENT_KINDS };

struct event {
	enum event_kind kind;
	const char *version; /* NULL: none */
};

static struct event read_event(const struct jsonr *doc, const struct jsonr_node *item)
{
	static const char *const keys[EVENT_KINDS] = {"fixed", "introduced", "last_affected"};

	for (unsigned i = 0; i < EVENT_KINDS; i++) {
		const char *version = record_text(doc, item, keys[i]);

		if (version != NULL)
			return (struct event){(enum event_kind)i, version};
	}
	return (struct event){0};
}

/* "0" is before every version (schema, affected[].ranges[].events). */
static int order_of(const struct wanted *w, const char *a, const char *b)
{
	bool first = strcmp(a, "0") == 0, second = strcmp(b, "0") == 0;

	return first || second ? (second ? 1 : 0) - (first ? 1 : 0) : w->order(a, b);
}

static bool has_happened(const struct wanted *w, const struct event *e)
{
	int order = order_of(w, w->version, e->version);

	return e->kind == EVENT_LAST_AFFECTED ? order > 0 : order >= 0;
}

/* Whether the version lies in a range: what the last event that it has reached says. */
static bool in_range(const struct record *r, const struct wanted *w,
                     const struct jsonr_node *events, const char **fixed_in)
{
	struct event last = {0}, next = {0};
	const struct jsonr_node *item = jsonr_first(r->doc, events);

	for (size_t i = 0; i < events->n; i++, item = jsonr_next(r->doc, item)) {
		struct event e = read_event(r->doc, item);
		bool happened = e.version != NULL && has_happened(w, &e);
		struct event *to = happened ? &last : &next;
		int order;

		if (e.version == NULL || (!happened && e.kind != EVENT_FIXED))
			continue;
		order = to->version == NULL ? 1 : order_of(w, e.version, to->version);
		order = happened ? order : to->version == NULL ? 1 : -order;
		if (order > 0 || (order == 0 && e.kind > to->kind))
			*to = e;
	}
	if (last.version == NULL || last.kind != EVENT_INTRODUCED)
		return false;
	*fixed_in = next.version != NULL ? next.version : *fixed_in;
	return true;
}

/* Ranges of commits say nothing of packages. */
static bool in_ranges(const struct record *r, const struct wanted *w,
                      const struct jsonr_node *affected, const char **fixed_in)
{
	const struct jsonr_node *ranges = jsonr_get(r->doc, affected, "ranges"), *range;
	bool found = false;

	if (!is_list(ranges))
		return false;
	range = jsonr_first(r->doc, ranges);
	for (size_t i = 0; i < ranges->n; i++, range = jsonr_next(r->doc, range)) {
		const char *type = record_text(r->doc, range, "type");
		const struct jsonr_node *events = jsonr_get(r->doc, range, "events");

		if (type != NULL && strcmp(type, "GIT") != 0 && is_list(events))
			found |= in_range(r, w, events, fixed_in);
	}
	return found;
}

static bool in_versions(const struct record *r, const struct wanted *w,
                        const struct jsonr_node *affected)
{
	const struct jsonr_node *list = jsonr_get(r->doc, affected, "versions"), *item;

	if (!is_list(list))
		return false;
	item = jsonr_first(r->doc, list);
	for (size_t i = 0; i < list->n; i++, item = jsonr_next(r->doc, item))
		if (item->type == JSONR_STRING && w->order(w->version, item->string) == 0)
			return true;
	return false;
}

/* ---- one record ---- */

static int judge_wanted(const struct record *r, const struct wanted *w,
                        const struct jsonr_node *affected, struct err *err)
{
	const char *fixed_in = NULL;
	bool ranges = in_ranges(r, w, affected, &fixed_in);
	struct hit hit = {.wanted = (size_t)(w - r->m->wanted.at)};

	if (!ranges && !in_versions(r, w, affected))
		return 0;
	hit.aliases = names_of(r, "aliases", r->id);
	hit.name = match_text(r->m, name_of(r->id, &hit.aliases));
	/* A distributor's record of one vulnerability is that vulnerability, no advisory on it. */
	if (own_vulnerability(r->id) == NULL)
		hit.covers = names_of(r, "upstream", NULL);
	hit.rating = rating_of(r, affected);
	hit.fixed_in = fixed_in != NULL ? match_text(r->m, fixed_in) : "";
	hit.uri = arena_printf(r->m->arena, "https://osv.dev/vulnerability/%s", hit.aliases.at[0]);
	return match_add(r->m, &hit, err);
}

static int read_affected(const struct record *r, const struct jsonr_node *affected, struct err *err)
{
	const struct jsonr_node *package = jsonr_get(r->doc, affected, "package");
	const char *ecosystem = record_text(r->doc, package, "ecosystem");
	const char *name = record_text(r->doc, package, "name");

	for (size_t i = 0; ecosystem != NULL && name != NULL && i < r->m->releases.n; i++) {
		struct release *release = &r->m->releases.at[i];
		size_t n;

		if (release->ecosystem == NULL || !ecosystem_is(ecosystem, release->ecosystem))
			continue;
		release->covered = true;
		const struct wanted *w =
			match_find(r->m, i, ecosystem_spelling(ecosystem, name, r->m->arena), &n);

		for (size_t k = 0; k < n; k++)
			if (judge_wanted(r, &w[k], affected, err) != 0)
				return -1;
	}
	return 0;
}

/* The newest record says how old the database is. */
static void note_age(struct vuln_matching *m, const char *modified)
{
	int64_t ms;

	if (modified != NULL && timestamp_iso8601(modified, &ms) && ms > m->newest_ms)
		m->newest_ms = ms;
}

int osv_read(struct vuln_matching *m, const struct jsonr *doc, struct err *err)
{
	const struct jsonr_node *root = doc->nodes, *list = jsonr_get(doc, root, "affected"), *item;
	struct record r = {.m = m, .doc = doc, .id = record_text(doc, root, "id")};

	if (r.id == NULL || record_text(doc, root, "modified") == NULL)
		return err_set(err, ERR_FORMAT,
		               "it is not a record of OSV: 'id' or 'modified' is missing");
	note_age(m, record_text(doc, root, "modified"));
	if (jsonr_get(doc, root, "withdrawn") != NULL || !is_list(list))
		return 0;
	item = jsonr_first(doc, list);
	for (size_t i = 0; i < list->n; i++, item = jsonr_next(doc, item))
		if (read_affected(&r, item, err) != 0)
			return -1;
	return 0;
}
