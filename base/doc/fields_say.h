/*
 * The words of decoding: each function adds one error at a node, with the next step as its hint.
 * base/doc/fields.c alone includes this. `what` and `path` are key paths, as in "image.layers[0]".
 */
#ifndef SLIPWAY_BASE_DOC_FIELDS_SAY_H
#define SLIPWAY_BASE_DOC_FIELDS_SAY_H

#include "base/doc/fields.h"

#define FIELDS_HOW_TO_LIST                                                                         \
	"write a list: each item on a line of its own that begins with '- ', or [ITEM, ITEM]"
#define FIELDS_HOW_TO_MAP "write KEY: VALUE, each on a line of its own, indented by spaces"

/* The text of a scalar, else what it is: "a list". */
const char *fields_found(const struct yaml_node *node);

/* `want` is "a string", "a list" or "a mapping". */
void fields_wrong_kind(struct fields_context *c, const struct yaml_node *node, const char *what,
                       const char *want, const char *hint);

/* A list of strings; a single one is told as an item. */
void fields_not_a_list(struct fields_context *c, const struct yaml_node *node, const char *path);
/* A mapping from names to objects of the row's table, with one entry at least. */
void fields_not_named(struct fields_context *c, const struct field *f, const struct yaml_node *node,
                      const char *path);
/* A number or a size beyond the row's limits. */
void fields_not_between(struct fields_context *c, const struct field *f,
                        const struct yaml_node *node, const char *path);
/* `complaint` NULL is "is not known"; the hint lists what may be written. */
void fields_not_a_choice(struct fields_context *c, const struct yaml_node *node, const char *what,
                         const struct choices *choices, const char *complaint);
/* What another tool's word is called here; NULL for a word of no tool that the table knows. */
const char *fields_habit(const struct field_table *table, const char *key);

void fields_unknown_key(struct fields_context *c, const struct field_table *table,
                        const struct yaml_node *key, const char *path);
/* The hint is the first sentence of the key's description. */
void fields_missing(struct fields_context *c, const struct field_table *table,
                    const struct yaml_node *node, const char *path, const char *key);

#endif
