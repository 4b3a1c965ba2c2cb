/*
 * Parsing JSON from outside within a bound on memory: a text of nothing but "[0,0,0" would make
 * forty bytes of nodes from each of its own.
 */
#ifndef SLIPWAY_BUILDER_SCAN_JSON_BOUNDS_H
#define SLIPWAY_BUILDER_SCAN_JSON_BOUNDS_H

#include "base/jsonr.h"

/* jsonr_parse, but ERR_LIMIT for a text with more than a value in eight bytes (small ones may). */
int json_bounds_parse(const char *what, const char *text, size_t len, struct jsonr *ret,
                      struct err *err) MUST_USE;

#endif
