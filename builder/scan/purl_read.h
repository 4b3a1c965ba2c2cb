/*
 * Package URLs as documents of others have them (package-url/purl-spec, "How to parse"): a name
 * taken apart, and whether one that a VEX document writes means a package. Pure.
 */
#ifndef SLIPWAY_BUILDER_SCAN_PURL_READ_H
#define SLIPWAY_BUILDER_SCAN_PURL_READ_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/strmap.h"

enum { PURL_BYTES_MAX = 4096 };

/* pkg:TYPE/NAMESPACE/NAME@VERSION?KEY=VALUE&..., decoded; "" where it has no such part. */
struct purl {
	const char *type; /* small letters */
	const char *vendor, *name, *version;
	struct strmap qualifiers; /* keys in small letters */
};

/* A package of an image. */
struct scan_package {
	const char *text; /* the purl as it is written */
	struct purl purl;
	const char *source, *source_version; /* by which advisories of a distribution call it */
};

/* False when it is no purl, has more than PURL_BYTES_MAX bytes, or a byte that is not printable. */
bool purl_read(const char *text, struct arena *a, struct purl *ret_purl);

/* Whether `pattern` means it: all that the pattern says is so; what it leaves out may be any. */
bool purl_means(const struct purl *pattern, const struct purl *it);

#endif
