#include "builder/scan/match.h"

#include <string.h>
#include <strings.h>

#include "base/text.h"

void vuln_matching_done(struct vuln_matching *m)
{
	vec_done(&m->releases);
	vec_done(&m->wanted);
	vec_done(&m->hits);
}

const char *match_text(struct vuln_matching *m, const char *text)
{
	char *copy = arena_strdup(m->arena, text);

	text_make_printable(copy);
	return copy;
}

enum severity severity_of_word(const char *word)
{
	static const struct {
		const char *word;
		enum severity severity;
	} words[] = {
		{"critical", SEVERITY_CRITICAL},        {"high", SEVERITY_HIGH},
		{"important", SEVERITY_HIGH},           {"medium", SEVERITY_MEDIUM},
		{"moderate", SEVERITY_MEDIUM},          {"low", SEVERITY_LOW},
		{"negligible", SEVERITY_INFORMATIONAL}, {"unimportant", SEVERITY_INFORMATIONAL},
		{"none", SEVERITY_INFORMATIONAL}};
	size_t n = strcspn(word, "*"); /* the tracker marks guesses with stars */

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strlen(words[i].word) == n && strncasecmp(words[i].word, word, n) == 0)
			return words[i].severity;
	return SEVERITY_UNDEFINED;
}

/* ---- what is looked for ---- */

static bool same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static size_t release_number(struct vuln_matching *m, const struct advisory_name *n)
{
	for (size_t i = 0; i < m->releases.n; i++)
		if (same(m->releases.at[i].suite, n->suite) &&
		    same(m->releases.at[i].ecosystem, n->ecosystem))
			return i;
	if (m->releases.n == RELEASES_MAX)
		return RELEASES_MAX;
	vec_push(&m->releases, ((struct release){.suite = n->suite, .ecosystem = n->ecosystem}));
	return m->releases.n - 1;
}

static int compare_wanted(size_t release, const char *name, const struct wanted *w)
{
	return release != w->release ? (release < w->release ? -1 : 1) : strcmp(name, w->name);
}

static int by_name(const void *a, const void *b)
{
	const struct wanted *p = a, *q = b;
	int order = compare_wanted(p->release, p->name, q);

	order = order != 0 ? order : (p->image > q->image) - (p->image < q->image);
	return order != 0 ? order : (p->package > q->package) - (p->package < q->package);
}

static void want(struct vuln_matching *m, const char *suite, const struct scan_package *p,
                 size_t image, size_t package)
{
	struct advisory_name name;
	size_t release = RELEASES_MAX;

	advisory_name(p, suite, m->arena, &name);
	if (name.order != NULL)
		release = release_number(m, &name);
	if (release == RELEASES_MAX)
		return;
	struct wanted w = {release, image, package, name.package, name.version, name.order};

	vec_push(&m->wanted, w);
	w.name = name.also;
	if (w.name != NULL)
		vec_push(&m->wanted, w);
}

void match_want(struct vuln_matching *m, const struct scan_image *images, size_t n,
                const char *suite)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < images[i].n_packages; k++)
			want(m, suite, &images[i].packages[k], i, k);
	if (m->wanted.n > 1)
		qsort(m->wanted.at, m->wanted.n, sizeof(*m->wanted.at), by_name);
}

const struct wanted *match_find(const struct vuln_matching *m, size_t release, const char *name,
                                size_t *ret_n)
{
	size_t low = 0, high = m->wanted.n, n = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_wanted(release, name, &m->wanted.at[middle]) > 0)
			low = middle + 1;
		else
			high = middle;
	}
	while (low + n < m->wanted.n && compare_wanted(release, name, &m->wanted.at[low + n]) == 0)
		n++;
	*ret_n = n;
	return m->wanted.at + low;
}

/* ---- what was found ---- */

int match_add(struct vuln_matching *m, const struct hit *hit, struct err *err)
{
	if (m->hits.n == SCAN_FINDINGS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d findings", SCAN_FINDINGS_MAX);
	vec_push(&m->hits, *hit);
	struct hit *added = &m->hits.at[m->hits.n - 1];

	added->image = m->wanted.at[hit->wanted].image;
	added->package = m->wanted.at[hit->wanted].package;
	return 0;
}

/* A package may be wanted by two names. */
static int by_package(const struct hit *a, const struct hit *b)
{
	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	return (a->package > b->package) - (a->package < b->package);
}

static int by_hit(const void *a, const void *b)
{
	const struct hit *p = a, *q = b;
	int order = by_package(p, q);

	order = order != 0 ? order : strcmp(p->name, q->name);
	return order != 0 ? order : strcmp(p->uri, q->uri);
}

/* The distributor's word goes before a score for everybody; of equals the worse counts. */
static struct rating stronger(struct rating a, struct rating b)
{
	if (a.level == SEVERITY_UNDEFINED || b.level == SEVERITY_UNDEFINED)
		return a.level == SEVERITY_UNDEFINED ? b : a;
	if (a.of_distributor != b.of_distributor)
		return a.of_distributor ? a : b;
	return a.level >= b.level ? a : b;
}

static struct strlist join(struct vuln_matching *m, const struct strlist *a,
                           const struct strlist *b)
{
	struct strlist all = {arena_calloc(m->arena, a->n + b->n + 1, sizeof(*all.at)), 0};

	for (size_t i = 0; i < a->n; i++)
		all.at[all.n++] = a->at[i];
	for (size_t i = 0; i < b->n && all.n < ALIASES_MAX; i++)
		if (!strlist_has(&all, b->at[i]))
			all.at[all.n++] = b->at[i];
	return all;
}

static void take_in(struct vuln_matching *m, struct hit *into, const struct hit *from)
{
	into->rating = stronger(into->rating, from->rating);
	into->fixed_in = into->fixed_in[0] != '\0' ? into->fixed_in : from->fixed_in;
	into->aliases = join(m, &into->aliases, &from->aliases);
	into->covers = join(m, &into->covers, &from->covers);
}

static int by_hit_name(const void *name, const void *hit)
{
	return strcmp(name, ((const struct hit *)hit)->name);
}

/* Whether the hits of the same package, n of them by name, say all that this advisory says. */
static bool is_said(const struct hit *at, size_t n, const struct hit *advisory)
{
	for (size_t i = 0; i < advisory->covers.n; i++) {
		const char *name = advisory->covers.at[i];

		if (strcmp(name, advisory->name) == 0 ||
		    bsearch(name, at, n, sizeof(*at), by_hit_name) == NULL)
			return false;
	}
	return advisory->covers.n > 0;
}

/* The hits from `first` on that are of the same package. */
static size_t same_package(const struct vuln_matching *m, size_t first)
{
	size_t n = 1;

	while (first + n < m->hits.n && by_package(&m->hits.at[first + n], &m->hits.at[first]) == 0)
		n++;
	return n;
}

static void drop_said(struct vuln_matching *m)
{
	size_t n = 0;
	AUTO_FREE bool *said = mem_calloc(m->hits.n + 1, sizeof(*said));

	for (size_t i = 0, step; i < m->hits.n; i += step) {
		step = same_package(m, i);
		for (size_t k = i; k < i + step; k++)
			said[k] = is_said(m->hits.at + i, step, &m->hits.at[k]);
	}
	for (size_t i = 0; i < m->hits.n; i++)
		if (!said[i])
			m->hits.at[n++] = m->hits.at[i];
	m->hits.n = n;
}

void match_merge(struct vuln_matching *m)
{
	size_t n = 0;

	if (m->hits.n > 1)
		qsort(m->hits.at, m->hits.n, sizeof(*m->hits.at), by_hit);
	for (size_t i = 0; i < m->hits.n; i++) {
		struct hit *last = n > 0 ? &m->hits.at[n - 1] : NULL, *here = &m->hits.at[i];

		if (last != NULL && by_package(last, here) == 0 &&
		    strcmp(last->name, here->name) == 0)
			take_in(m, last, here);
		else
			m->hits.at[n++] = *here;
	}
	m->hits.n = n;
	drop_said(m);
}
