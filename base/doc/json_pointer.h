/*
 * JSON pointers (RFC 6901) for base/doc/json_patch.c; nobody else includes it.
 */
#ifndef SLIPWAY_BASE_DOC_JSON_POINTER_H
#define SLIPWAY_BASE_DOC_JSON_POINTER_H

#include "base/doc/json.h"

/* Where a pointer leads. All is borrowed: the document owns the nodes. */
struct json_place {
	cJSON *parent;     /* an object or an array */
	cJSON *item;       /* NULL = the parent has no such member or entry */
	struct strbuf key; /* the last part, unescaped */
	int index;         /* of an entry, in 0..n; -1 where the parent is an object */
};

void json_place_done(struct json_place *place); /* for AUTO(json_place) */

/*
 * Follows a pointer that json_pointer_check found right. ERR_NOT_FOUND where a part before the
 * last is missing, or the last cannot be in its parent: what is neither an object nor an array has
 * no parts, and an array has entries 0 to n - 1, and places for new ones up to n ("-").
 */
int json_pointer_walk(cJSON *doc, const char *path, struct json_place *ret,
                      struct err *err) MUST_USE;

/* ERR_NOT_FOUND for a place where nothing is. */
int json_place_empty(const char *path, const struct json_place *place, struct err *err);

#endif
