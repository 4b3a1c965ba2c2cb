/*
 * A strict, bounded JSON reader without a foreign library, for slipway-trainer: one value of at
 * most the caller's size becomes an array of nodes that point into the text. Refuses invalid UTF-8,
 * NUL, duplicate keys, more than JSONR_DEPTH_MAX levels, trailing bytes. (base/doc/json.h is the
 * builder's; it edits and needs cJSON.)
 *
 *   AUTO(jsonr) struct jsonr doc = {0};
 *   if (jsonr_parse("config.json", text, len, &doc, err) != 0) return -1;
 *   const struct jsonr_node *shape = jsonr_get(&doc, doc.nodes, "shape");
 */
#ifndef SLIPWAY_BASE_JSONR_H
#define SLIPWAY_BASE_JSONR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { JSONR_DEPTH_MAX = 32 };

enum jsonr_type { JSONR_NULL, JSONR_BOOL, JSONR_NUMBER, JSONR_STRING, JSONR_ARRAY, JSONR_OBJECT };

struct jsonr_node {
	enum jsonr_type type;
	const char *key;    /* NUL-terminated, decoded; NULL outside objects */
	const char *string; /* JSONR_STRING: NUL-terminated, decoded */
	double number;      /* JSONR_NUMBER; JSONR_BOOL: 0 or 1 */
	size_t n;           /* members of an array or object */
	size_t next;        /* index of the node after this one and all it holds */
	size_t at;          /* where it begins in the text: text_position */
};

struct jsonr {
	struct jsonr_node *nodes; /* nodes[0] is the whole value */
	size_t n, cap;
	char *strings; /* decoded strings, one after another */
};

/* ERR_FORMAT with line and column; `what` names the document. The caller: jsonr_done. */
int jsonr_parse(const char *what, const char *text, size_t len, struct jsonr *ret,
                struct err *err) MUST_USE;
void jsonr_done(struct jsonr *doc);

/* The member `key` of an object; NULL when absent or obj is NULL or no object. */
const struct jsonr_node *jsonr_get(const struct jsonr *doc, const struct jsonr_node *obj,
                                   const char *key);

/* The first member of an array or object, NULL when empty; and the one after `member`. A loop runs
 * for (i = 0, m = jsonr_first(doc, a); i < a->n; i++, m = jsonr_next(doc, m)). */
const struct jsonr_node *jsonr_first(const struct jsonr *doc, const struct jsonr_node *parent);
const struct jsonr_node *jsonr_next(const struct jsonr *doc, const struct jsonr_node *member);

/* Whether node is a whole number 0..2^53, and which. */
bool jsonr_whole(const struct jsonr_node *node, uint64_t *ret_value);

#endif
