/*
 * Strict YAML (libyaml inside) as a tree of nodes, each with its position. One document; no
 * anchors, aliases, tags or merge keys (a spec is data, not a program); keys are plain text and
 * unique.
 * `${name}` may stand unquoted everywhere, in flow collections too, where plain YAML would want
 * quotes. Nodes live in the caller's arena and are immutable but for yaml_set. Does not interpret
 * scalars: the field tables do.
 */
#ifndef SLIPWAY_BASE_DOC_YAML_H
#define SLIPWAY_BASE_DOC_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/err.h"

enum { YAML_BYTES_MAX = 1 << 20, YAML_DEPTH_MAX = 32, YAML_NODES_MAX = 200000 };

enum yaml_kind { YAML_SCALAR, YAML_SEQUENCE, YAML_MAPPING };

struct yaml_node;

struct yaml_pair {
	struct yaml_node *key, *value;
};

struct yaml_node {
	enum yaml_kind kind;
	struct srcpos at;
	const char *text;         /* scalar: NUL-terminated content, no NUL inside */
	bool quoted;              /* scalar: written in quotes or as a block */
	struct yaml_node **items; /* sequence */
	size_t n_items;
	struct yaml_pair *pairs; /* mapping */
	size_t n_pairs;
};

/*
 * Parses text (len bytes). `file` names it in positions. Problems go to diags (with the text
 * registered there for quoting), then -1 and ERR_SPEC.
 */
int yaml_parse(const char *file, const char *text, size_t len, struct arena *a,
               struct yaml_node **ret_root, struct diags *d, struct err *err) MUST_USE;

/* The value of a key, or NULL. */
struct yaml_node *yaml_get(const struct yaml_node *mapping, const char *key);

/*
 * Applies "path=value" (image.tags=[v2], image.layers[0].split=64MiB) to the tree: mappings on the
 * way are made as needed, list indexes must exist. The value is YAML in flow form; positions in it
 * name the option ("--set image.tags"). Problems as yaml_parse.
 */
int yaml_set(struct yaml_node *root, const char *assignment, struct arena *a, struct diags *d,
             struct err *err) MUST_USE;

/* A quoted scalar; the value of a key of a mapping, replaced or new. For what is written neither in
 * a file nor as an assignment. */
struct yaml_node *yaml_text(const char *text, struct srcpos at, struct arena *a);
void yaml_put(struct yaml_node *mapping, struct yaml_node *key, struct yaml_node *value,
              struct arena *a);

/* A plain (unquoted) scalar that YAML 1.1 or 1.2 readers take for null or a truth value: yes, No,
 * ~, null... */
bool yaml_is_null(const struct yaml_node *node);
bool yaml_is_bool(const struct yaml_node *scalar,
                  bool *ret_value);                     /* only true and false have a value */
bool yaml_is_bool_like(const struct yaml_node *scalar); /* also yes, no, on, off */

#endif
