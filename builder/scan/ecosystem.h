/*
 * What databases of vulnerabilities call the release and the package that a purl means, and how its
 * versions are ordered: a row per kind of package. Pure.
 */
#ifndef SLIPWAY_BUILDER_SCAN_ECOSYSTEM_H
#define SLIPWAY_BUILDER_SCAN_ECOSYSTEM_H

#include "builder/scan/purl_read.h"
#include "builder/scan/version.h"

/* Texts live in the arena or are the package's. */
struct advisory_name {
	const char *suite;     /* in Debian's tracker: "bookworm"; NULL: it has nothing of it */
	const char *ecosystem; /* in OSV: "Debian:12", "PyPI"; NULL: not known */
	const char *package, *version;
	const char *also; /* another name of it in advisories: they may use either; NULL: none */
	version_order *order; /* NULL: nothing here can judge such packages */
};

/*
 * `suite` (may be NULL) is the Debian release of packages that name none. A package without a row,
 * or a release without a number, has no `order`: *ret_name says what is known.
 */
void advisory_name(const struct scan_package *p, const char *suite, struct arena *a,
                   struct advisory_name *ret_name);

/* Whether a record's ecosystem is this one: "Ubuntu:22.04" is also "Ubuntu:22.04:LTS", and "Red
 * Hat:enterprise_linux:9" each of its repositories, "Red Hat:enterprise_linux:9::appstream". */
bool ecosystem_is(const char *record, const char *wanted);

/* A package's name as advisories of the ecosystem spell it. */
const char *ecosystem_spelling(const char *ecosystem, const char *name, struct arena *a);

#endif
