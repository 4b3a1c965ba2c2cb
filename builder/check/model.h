/*
 * What the spec says about the image check (`image.check`). Plain data in the spec's arena.
 */
#ifndef SLIPWAY_BUILDER_CHECK_MODEL_H
#define SLIPWAY_BUILDER_CHECK_MODEL_H

#include <stdint.h>

#include "base/doc/fields.h"
#include "base/srcpos.h"
#include "base/strlist.h"

/* One finding, or those of one path, that are meant to be there. */
struct check_allowance {
	struct srcpos at;
	const char *rule;   /* its name */
	const char *path;   /* glob of paths in the image, or a place in its documents: env:NAME */
	const char *digest; /* of the file, NULL = whatever it holds */
	const char *reason; /* NULL where none was asked for */
};

struct check_spec {
	struct srcpos at;
	struct strlist off; /* names of rules that are turned off */
	/* sonames (or globs) that the node brings, besides the layers' own lists */
	struct strlist provided;
	struct check_allowance *allow;
	size_t n_allow;
	int64_t max_unpacked; /* most bytes that all layers unpack to; 0 = by their size */
	int64_t size_budget;  /* most compressed bytes of one platform's layers; 0 = no budget */
	struct srcpos size_budget_at;
};

extern const struct field_table check_spec_fields;

/* The names of all rules, in the order of docs/CHECK.md: those of the table in rules.h. */
extern const char *const check_rule_names[];
extern const size_t check_rule_count;

#endif
