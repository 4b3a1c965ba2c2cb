/*
 * One document of each kind of database, held against what is looked for. Nobody outside the room
 * includes this.
 */
#ifndef SLIPWAY_BUILDER_SCAN_RECORDS_H
#define SLIPWAY_BUILDER_SCAN_RECORDS_H

#include "base/jsonr.h"
#include "builder/scan/match.h"

/*
 * What Debian's tracker says of one source package (its JSON, "the data is ordered by source
 * package"): {"CVE-...": {"releases": {"bookworm": {"status", "fixed_version", "urgency"}}}}.
 */
int tracker_read(struct vuln_matching *m, const char *source, const struct jsonr *doc,
                 struct err *err) MUST_USE;

/* A record of the OSV schema 1.x, section "Evaluation". */
int osv_read(struct vuln_matching *m, const struct jsonr *doc, struct err *err) MUST_USE;

/* The string value of a member, or NULL. */
const char *record_text(const struct jsonr *doc, const struct jsonr_node *obj, const char *key);

#endif
