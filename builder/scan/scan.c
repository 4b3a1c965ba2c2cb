/* Sections: databases, what nobody judged, findings. */
#include "builder/scan/scan.h"

#include <string.h>

#include "base/text.h"
#include "builder/scan/feed.h"
#include "builder/scan/match.h"
#include "builder/scan/records.h"
#include "builder/scan/vex.h"

/* ---- databases ---- */

static int take_document(void *ctx, const struct feed_document *d, struct err *err)
{
	struct vuln_matching *m = ctx;

	m->is_tracker = d->key != NULL;
	return m->is_tracker ? tracker_read(m, d->key, d->doc, err) : osv_read(m, d->doc, err);
}

static int read_database(struct vuln_matching *m, const char *path, struct scan_database *ret,
                         struct err *err)
{
	struct feed_facts facts;

	m->newest_ms = 0;
	if (feed_read(path, take_document, m, &facts, err) != 0)
		return err_hint(err,
		                "give Debian's tracker (security-tracker.debian.org/tracker/data/"
		                "json) or a dump of OSV (all.zip of an ecosystem), fetched where "
		                "there is a network");
	*ret = (struct scan_database){.path = path,
	                              .kind = m->is_tracker ? "Debian security tracker" : "OSV",
	                              .modified_ms =
	                                      m->newest_ms != 0 ? m->newest_ms : facts.modified_ms,
	                              .n_records = facts.n};
	return 0;
}

static int read_databases(struct vuln_matching *m, const struct strlist *paths,
                          struct scan_result *result, struct err *err)
{
	if (paths->n == 0)
		return err_set(err, ERR_USAGE, "no database is given");
	result->databases = arena_calloc(m->arena, paths->n, sizeof(*result->databases));
	for (size_t i = 0; i < paths->n; i++)
		if (read_database(m, paths->at[i], &result->databases[result->n_databases++],
		                  err) != 0)
			return -1;
	return 0;
}

/* ---- what nobody judged ---- */

/* Packages of one release or kind that no database covers, or of an image that is not whole. */
struct doubt {
	const char *about; /* "Debian bookworm", "npm" */
	const char *example;
	size_t n;
};

enum { DOUBTS_MAX = 64 };

struct doubts {
	struct arena *arena;
	VEC(struct doubt) list;
};

/* Beyond DOUBTS_MAX kinds the last one stands for all others. */
static void add_doubt(struct doubts *d, const char *about, const char *example)
{
	if (d->list.n == DOUBTS_MAX)
		about = d->list.at[DOUBTS_MAX - 1].about;
	for (size_t i = 0; i < d->list.n; i++)
		if (strcmp(d->list.at[i].about, about) == 0) {
			d->list.at[i].n++;
			return;
		}
	vec_push(&d->list, ((struct doubt){about, example, 1}));
}

/* What people call the release or ecosystem of a package. */
static const char *about(const struct scan_package *p, const struct release *r, struct arena *a)
{
	const char *distro = strmap_get(&p->purl.qualifiers, "distro");

	if (r != NULL && r->suite != NULL)
		return arena_printf(a, "Debian %s", r->suite);
	if (r != NULL)
		return r->ecosystem;
	return arena_printf(a, "%s%s%s", p->purl.type, distro != NULL ? " of " : "",
	                    distro != NULL ? distro : "");
}

/* judged[first[i] + k]: something here can judge package k of image i. */
static void doubt_packages(struct doubts *d, const struct vuln_matching *m,
                           const struct scan_image *images, size_t n)
{
	AUTO_FREE size_t *first = mem_calloc(n + 1, sizeof(*first));

	for (size_t i = 0; i < n; i++)
		first[i + 1] = first[i] + images[i].n_packages;
	AUTO_FREE bool *judged = mem_calloc(first[n] + 1, sizeof(*judged));

	for (size_t i = 0; i < m->wanted.n; i++) {
		const struct wanted *w = &m->wanted.at[i];
		const struct release *release = &m->releases.at[w->release];
		const struct scan_package *p = &images[w->image].packages[w->package];

		bool *here = &judged[first[w->image] + w->package];

		if (!release->covered && !*here)
			add_doubt(d, about(p, release, d->arena), p->text);
		*here = true;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < images[i].n_packages; k++)
			if (!judged[first[i] + k])
				add_doubt(d, about(&images[i].packages[k], NULL, d->arena),
				          images[i].packages[k].text);
}

static const char *doubt_text(struct arena *a, const struct doubt *d)
{
	return arena_printf(a, "no database says anything of %s (%zu package%s, as %s)", d->about,
	                    d->n, d->n == 1 ? "" : "s", d->example);
}

static struct strlist doubt_sentences(const struct doubts *d, const struct scan_image *images,
                                      size_t n)
{
	size_t most = d->list.n;
	struct strlist all = {0};

	for (size_t i = 0; i < n; i++)
		most += images[i].gaps.n;
	all.at = arena_calloc(d->arena, most + 1, sizeof(*all.at));
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < images[i].gaps.n; k++)
			if (!strlist_has(&all, images[i].gaps.at[k]))
				all.at[all.n++] = images[i].gaps.at[k];
	for (size_t i = 0; i < d->list.n; i++)
		all.at[all.n++] = doubt_text(d->arena, &d->list.at[i]);
	return all;
}

static bool has_gaps(const struct scan_image *images, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (images[i].gaps.n > 0)
			return true;
	return false;
}

static int judge_doubts(const struct vuln_matching *m, const struct scan_image *images, size_t n,
                        bool allow, struct scan_result *result, struct err *err)
{
	struct doubts d = {.arena = m->arena};

	doubt_packages(&d, m, images, n);
	result->unjudged = doubt_sentences(&d, images, n);
	vec_done(&d.list);
	if (allow || result->unjudged.n == 0)
		return 0;
	if (has_gaps(images, n)) {
		err_set(err, ERR_UNSUPPORTED, "the bill of materials is not complete: %s",
		        result->unjudged.at[0]);
		return err_hint(err, "what is not listed cannot be judged; --allow-unjudged goes "
		                     "on without it");
	}
	err_set(err, ERR_NOT_FOUND, "%s", result->unjudged.at[0]);
	return err_hint(err, "add a database of it with --db (for Debian packages that name no "
	                     "release, say it with --suite), or pass them over with "
	                     "--allow-unjudged");
}

/* ---- findings ---- */

/* The names by which a waiver may call it. */
static struct strlist all_names(const struct vuln_matching *m, const struct hit *h)
{
	struct strlist names = {arena_calloc(m->arena, h->aliases.n + 1, sizeof(*names.at)), 0};

	names.at[names.n++] = h->name;
	for (size_t i = 0; i < h->aliases.n; i++)
		if (!strlist_has(&names, h->aliases.at[i]))
			names.at[names.n++] = h->aliases.at[i];
	return names;
}

static struct finding finding_of(const struct vuln_matching *m, struct vex *waivers,
                                 const struct scan_image *images, const struct hit *h)
{
	const struct scan_image *image = &images[h->image];
	const struct scan_package *p = &image->packages[h->package];
	struct strlist names = all_names(m, h);

	return (struct finding){.name = h->name,
	                        .severity = h->rating.level,
	                        .package = p->purl.name,
	                        .version = p->purl.version,
	                        .uri = h->uri,
	                        .fixed_in = h->fixed_in,
	                        .waived = vex_waives(waivers, image, p, &names)};
}

static void set_findings(const struct vuln_matching *m, struct vex *waivers,
                         struct scan_image *images, size_t n)
{
	VEC(struct finding) found = {0};

	for (size_t i = 0; i < n; i++) {
		found.n = 0;
		for (size_t k = 0; k < m->hits.n; k++)
			if (m->hits.at[k].image == i)
				vec_push(&found, finding_of(m, waivers, images, &m->hits.at[k]));
		images[i].findings = findings_sorted(found.at, found.n, m->arena);
	}
	vec_done(&found);
}

static int read_waivers(struct vex *v, const struct strlist *paths, struct err *err)
{
	for (size_t i = 0; i < paths->n; i++)
		if (vex_read(v, paths->at[i], err) != 0)
			return err_hint(err, "write it as OpenVEX says: "
			                     "https://github.com/openvex/spec");
	vex_index(v);
	return 0;
}

static int run(struct vuln_matching *m, struct vex *waivers, struct scan_image *images, size_t n,
               const struct scan_opts *opts, struct scan_result *result, struct err *err)
{
	/* Small files first: a wrong one is said before a large one is read. */
	if (read_waivers(waivers, &opts->waivers, err) != 0)
		return -1;
	match_want(m, images, n, opts->suite);
	if (read_databases(m, &opts->databases, result, err) != 0 ||
	    judge_doubts(m, images, n, opts->allow_unjudged, result, err) != 0)
		return -1;
	match_merge(m);
	set_findings(m, waivers, images, n);
	result->unused = vex_unused(waivers);
	return 0;
}

int scan_images(struct scan_image *images, size_t n, const struct scan_opts *opts, struct arena *a,
                struct scan_result *ret_result, struct err *err)
{
	AUTO(vuln_matching) struct vuln_matching m = {.arena = a};
	AUTO(vex) struct vex waivers = {.arena = a};
	struct scan_result result = {0};

	if (run(&m, &waivers, images, n, opts, &result, err) != 0)
		return -1;
	*ret_result = result;
	return 0;
}
