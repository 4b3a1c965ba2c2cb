/*
 * Changes to a JSON document that are data themselves: merge patches (RFC 7386) and the operations
 * of JSON Patch (RFC 6902), whose places are JSON pointers (RFC 6901).
 *
 *   AUTO(json_change) struct json_change change = {0};
 *   json_merge(doc, patch, &change);
 *
 * A node of the document keeps its address while its value is replaced; what was taken away lives
 * in the change until that is done with, so that pointers into it can be compared. Pure functions:
 * no I/O, any thread.
 */
#ifndef SLIPWAY_BASE_DOC_JSON_PATCH_H
#define SLIPWAY_BASE_DOC_JSON_PATCH_H

#include "base/doc/choices.h"
#include "base/doc/json.h"
#include "base/mem.h"

/* Of one document after a change; copies of copies would otherwise grow without end. */
enum { JSON_PATCH_NODES_MAX = 20000 };

struct json_change {
	cJSON *gone;            /* an array of what is no longer in the document; NULL = nothing */
	VEC(const cJSON *) put; /* values that are new in it, borrowed from the document */
};

void json_change_done(struct json_change *change); /* for AUTO(json_change) */

/*
 * RFC 7386: members of `patch` replace those of `doc`, objects member by member, and null removes.
 * doc and patch are objects. ERR_LIMIT when the document becomes too large or too deep.
 */
int json_merge(cJSON *doc, const cJSON *patch, struct json_change *change,
               struct err *err) MUST_USE;

enum json_op {
	JSON_OP_ADD,
	JSON_OP_REMOVE,
	JSON_OP_REPLACE,
	JSON_OP_MOVE,
	JSON_OP_COPY,
	JSON_OP_TEST,
	JSON_OPS
};
extern const struct choices json_op_choices;

struct json_operation {
	enum json_op op;
	const char *path;   /* "/spec/ports/-" */
	const char *from;   /* of move and copy; else NULL */
	const cJSON *value; /* of add, replace and test, borrowed; else NULL */
};

/*
 * One operation. ERR_NOT_FOUND where the document has no such place, ERR_CONFLICT when a test
 * fails, ERR_LIMIT as json_merge; the document is then as it was, but for ERR_LIMIT.
 */
int json_operate(cJSON *doc, const struct json_operation *operation, struct json_change *change,
                 struct err *err) MUST_USE;

/* Why a text is not a pointer to a part of a document, or NULL: a field_check. */
const char *json_pointer_check(const char *text, const char **ret_hint);

#endif
