/*
 * Problems for programs: what base/diag.h shows to people, as JSON.
 */
#ifndef SLIPWAY_BASE_DOC_DIAG_JSON_H
#define SLIPWAY_BASE_DOC_DIAG_JSON_H

#include "base/diag.h"
#include "base/doc/json.h"

/* Appends one object per problem: severity, file, line, column, rule, message, hint; members that
 * a problem does not have are left out. */
void diags_json(const struct diags *d, cJSON *array);

#endif
