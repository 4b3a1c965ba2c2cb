/*
 * Two statements of how an image was built, held against each other: the one that is attached to
 * the image, and the one that building it again would write. Everything that a statement can say of
 * inputs is compared, and what cannot be is said. Pure; texts live in the arena or are borrowed.
 */
#ifndef SLIPWAY_BUILDER_PROVENANCE_COMPARE_H
#define SLIPWAY_BUILDER_PROVENANCE_COMPARE_H

#include "base/arena.h"
#include "base/mem.h"
#include "builder/provenance/statement.h"

struct provenance_finding {
	bool differs;       /* false: a remark, about what is not proved by the statement */
	const char *what;   /* "git commit", "layer top (app)" */
	const char *stated; /* NULL: the statement has no such input */
	const char *here;   /* NULL: the source has none */
	const char *remark; /* of a remark; NULL otherwise */
};

/* Zero-initialise; AUTO(provenance_findings). */
struct provenance_findings {
	VEC(struct provenance_finding) all;
	size_t n_differ;
};
void provenance_findings_done(struct provenance_findings *f);

/*
 * Adds each difference and remark. `whole`: `here` is of a finished build; without it `here` holds
 * what is known before (spec, lock, commit, .debs), and other inputs are not missed.
 */
void provenance_compare(const struct provenance *stated, const struct provenance *here, bool whole,
                        struct arena *a, struct provenance_findings *out);

#endif
