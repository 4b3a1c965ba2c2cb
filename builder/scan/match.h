/*
 * What the readers of databases share: which packages are looked for, which releases a database
 * says anything of, and what was found. Nobody outside the room includes this.
 */
#ifndef SLIPWAY_BUILDER_SCAN_MATCH_H
#define SLIPWAY_BUILDER_SCAN_MATCH_H

#include "builder/scan/ecosystem.h"
#include "builder/scan/scan.h"

/* No image has packages of more releases and ecosystems: those beyond are not judged. Names of one
 * vulnerability beyond the second are forgotten. */
enum { RELEASES_MAX = 64, ALIASES_MAX = 1024 };

/* What some packages are of. */
struct release {
	const char *suite, *ecosystem; /* as advisory_name has them */
	bool covered;                  /* some record is about it */
};

/* One package of one image, by the name of advisories. */
struct wanted {
	size_t release, image, package; /* where they stand */
	const char *name, *version;
	version_order *order;
};

struct rating {
	enum severity level;
	bool of_distributor; /* who knows how the package is built there, against a score for all */
};

/* One vulnerability of one wanted package, as one record tells it. */
struct hit {
	size_t wanted;
	size_t image, package;  /* that wanted one's: match_add */
	const char *name;       /* "CVE-2026-1234", else the record's own */
	struct strlist aliases; /* all that it is called by, for waivers */
	struct strlist covers;  /* an advisory's own vulnerabilities: where each has a hit, the
	                           advisory adds nothing */
	struct rating rating;
	const char *fixed_in, *uri; /* "": not said */
};

struct vuln_matching {
	struct arena *arena;
	VEC(struct release) releases;
	VEC(struct wanted) wanted; /* by release, then name */
	VEC(struct hit) hits;
	int64_t newest_ms; /* of the records of the file that is read */
	bool is_tracker;   /* that file */
};

void vuln_matching_done(struct vuln_matching *m);

/* Adds the packages of n images. Those that nothing here can judge are left out. */
void match_want(struct vuln_matching *m, const struct scan_image *images, size_t n,
                const char *suite);

/* The wanted of this release and name; *ret_n how many. */
const struct wanted *match_find(const struct vuln_matching *m, size_t release, const char *name,
                                size_t *ret_n);

/* Adds a hit, whose texts live in the arena. ERR_LIMIT beyond SCAN_FINDINGS_MAX. */
int match_add(struct vuln_matching *m, const struct hit *hit, struct err *err) MUST_USE;

/* One vulnerability of one package once: the hits sorted by both, doubles made one. */
void match_merge(struct vuln_matching *m);

/* "high", "moderate", "unimportant": a word for a severity, in any database. UNDEFINED: none. */
enum severity severity_of_word(const char *word);

/* Printable copies for findings. */
const char *match_text(struct vuln_matching *m, const char *text);

#endif
