/*
 * Values of a spec that are passed on as they are, whatever their form: YAML as JSON.
 */
#ifndef SLIPWAY_BASE_DOC_FIELDS_JSON_H
#define SLIPWAY_BASE_DOC_FIELDS_JSON_H

#include "base/doc/fields.h"

/*
 * For FIELD_CUSTOM; member: const char *, JSON text in the context's arena, NULL after a problem.
 * Plain scalars are what JSON takes them for: numbers, true, false, null; others are strings, as
 * is all that stands in quotes. yes, no, on and off are refused: readers of YAML disagree on them.
 */
void decode_json(struct fields_context *c, const struct yaml_node *node, void *member);

#define JSON_ANY_SCHEMA "{}"

#endif
