/*
 * What a scanner found in an image: vulnerabilities of packages, how severe they are, and which of
 * them were waived. The same for Amazon ECR's scan and for databases of our own, so that both have
 * one table and one judgement. Plain data; strings live in the caller's arena.
 */
#ifndef SLIPWAY_BUILDER_FINDING_FINDING_H
#define SLIPWAY_BUILDER_FINDING_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* Amazon ECR's words (API 2015-09-21, FindingSeverity), rising; UNDEFINED: nobody said. */
enum severity {
	SEVERITY_UNDEFINED,
	SEVERITY_INFORMATIONAL,
	SEVERITY_LOW,
	SEVERITY_MEDIUM,
	SEVERITY_HIGH,
	SEVERITY_CRITICAL,
	SEVERITIES
};

const char *severity_name(enum severity s); /* "CRITICAL" */
/* False when the text (any case) is none; UNTRIAGED counts as UNDEFINED. */
bool severity_parse(const char *text, enum severity *ret_severity);

struct finding {
	const char *name; /* "CVE-2026-1234" */
	enum severity severity;
	const char *package, *version, *uri; /* "" where not given */
	const char *fixed_in; /* the first version without it, of the same package; "": not said */
	const char *waived;   /* why it does not count; NULL: it counts */
};

/* Zero-initialise. */
struct findings {
	int64_t counts[SEVERITIES]; /* of those that count */
	struct finding *at;         /* the worst first, waived ones behind all others */
	size_t n;
};

/* Copies n findings, sorted, and counts them. */
struct findings findings_sorted(const struct finding *at, size_t n, struct arena *a);

/* How many count and are of this severity or worse. */
int64_t findings_refused(const struct findings *f, enum severity threshold);

#endif
