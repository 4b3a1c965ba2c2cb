/*
 * Findings that are allowed: by rule, path and, if wanted, the file's digest. Every report of a
 * rule passes here; what is allowed counts and is not shown. Nobody outside builder/check includes
 * this.
 */
#ifndef SLIPWAY_BUILDER_CHECK_ALLOW_H
#define SLIPWAY_BUILDER_CHECK_ALLOW_H

#include "builder/check/rules.h"

/*
 * Whether an allowance covers a finding of the rule, which is counted then. subject: a path in the
 * image, or a place in its documents ("env:NAME"); NULL is never allowed. content: digest of the
 * file, NULL or zero when there is none.
 */
bool allow_finding(struct check_run *run, enum rule_id id, const char *subject,
                   const struct digest *content);

/* The same for what stands at a place in a layer. */
bool allow_place(struct check_image *image, enum rule_id id, struct rule_place place);

/* Whether files' digests are wanted because of an allowance. */
bool allow_needs_digests(const struct check_opts *opts);

/* Warns of those that allowed nothing: what they were for is gone, or they are misspelt. */
void allow_report_unused(struct check_run *run);

#endif
