/*
 * Table-driven decoding of a YAML mapping into a struct. One row per key; the same rows give the
 * decoder, the JSON schema, docs/SPEC.md and the "did you mean" hints, so they cannot disagree.
 *
 *   static const struct field rows[] = {
 *           FIELD_STRING(struct person, name, "name", "Full name.", .flags = FIELD_REQUIRED),
 *           FIELD_INT(struct person, age, "age", "Age in years.", .min = 0, .max = 150),
 *           FIELD_CHOICE(struct person, side, &sides, "side", "The better hand.",
 *                        .fallback = SIDE_RIGHT),
 *   };
 *   const struct field_table person_fields =
 *           FIELD_TABLE(struct person, "person", rows, "A person.");
 *
 * Closed lists and defaults stand in the row, and nowhere else: decoder, schema and reference take
 * them from there. A row whose kind does not fit the member's type does not compile. Decoding
 * reports every problem in diags and goes on. Decoded strings live in the context's arena.
 */
#ifndef SLIPWAY_BASE_DOC_FIELDS_H
#define SLIPWAY_BASE_DOC_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/doc/choices.h"
#include "base/doc/json.h"
#include "base/doc/yaml.h"
#include "base/strlist.h"
#include "base/strmap.h"

enum field_kind {
	FIELD_KIND_STRING,  /* const char * */
	FIELD_KIND_CHOICE,  /* an enum: one of a closed list of names */
	FIELD_KIND_BOOL,    /* bool */
	FIELD_KIND_INT,     /* int64_t, min..max */
	FIELD_KIND_MODE,    /* int64_t, octal permission bits: 0755 */
	FIELD_KIND_SIZE,    /* int64_t bytes: 512, 64KiB, 15MB */
	FIELD_KIND_STRINGS, /* struct strlist */
	FIELD_KIND_MAP,     /* struct strmap */
	FIELD_KIND_OBJECT,  /* an embedded struct with a table */
	FIELD_KIND_OBJECTS, /* pointer to structs, and a size_t count member */
	FIELD_KIND_NAMED,   /* the same, written as a mapping whose keys name them */
	FIELD_KIND_CUSTOM   /* decode() */
};

enum field_flags {
	FIELD_REQUIRED = 1 << 0,
	FIELD_LITERAL = 1 << 1, /* the same on every platform: "${" is refused */
	FIELD_ONE = 1 << 2      /* OBJECTS: one entry may stand without its list */
};

struct field;
struct fields_context;

/* Says why a text is wrong, or NULL when it is right. *ret_hint may be set to a static text. */
typedef const char *(*field_check)(const char *text, const char **ret_hint);

/* Offsets that a row may have are 0 when it has none: such a member is never the struct's first. */
struct field {
	const char *key;
	const char *doc; /* one or two sentences for docs/SPEC.md and the schema */
	enum field_kind kind;
	unsigned flags;
	size_t offset;       /* of the member */
	size_t count_offset; /* OBJECTS, NAMED: of the size_t that counts them */
	size_t name_offset;  /* NAMED: in the struct, of the const char * that gets the key */
	size_t set_offset;   /* of a bool that says whether the key was written, 0 = none */
	size_t pos_offset;   /* of a struct srcpos that gets the value's position, 0 = none */
	/* INT, SIZE; both 0 = unlimited. OBJECTS, NAMED: max = most; NAMED: min = fewest, 0 or 1 */
	int64_t min, max;
	int64_t fallback;          /* CHOICE, INT, MODE, SIZE, BOOL: value when absent */
	const char *fallback_text; /* STRING: value when absent, NULL = none */
	/* How docs name the default where the value itself does not say it; NULL = by its value. */
	const char *fallback_doc;
	const struct field_table *table; /* OBJECT, OBJECTS, NAMED */
	/* CHOICE: the names in the enum's order. STRING, every entry of STRINGS: what it may be. */
	const struct choices *choices;
	const char *complaint; /* about a text that is not among them; NULL = "is not known" */
	field_check check;     /* STRING, every entry of STRINGS, every value of MAP */
	field_check check_key; /* MAP, NAMED */
	/* CUSTOM: decodes node into member, reporting problems through fields_problem. */
	void (*decode)(struct fields_context *c, const struct yaml_node *node, void *member);
	const char *schema;   /* CUSTOM: the JSON schema of the value, as JSON text */
	const char *type_doc; /* CUSTOM: the type's name in docs */
};

/* A key that people bring along from another tool, in any case, and what to write here instead;
 * "" is a text or a list in place of the whole mapping. */
struct field_habit {
	const char *key, *hint;
};

struct field_table {
	const char *name; /* of the object in docs */
	const char *doc;
	size_t size; /* of the struct */
	const struct field *fields;
	size_t n;
	bool has_pos;      /* the struct has a struct srcpos for the whole mapping... */
	size_t pos_offset; /* ...here */
	/* a scalar in place of the mapping sets this key; NULL = not allowed */
	const char *shorthand;
	/* what other tools call things; ends with a row without a key; NULL = none */
	const struct field_habit *habits;
	/* exactly one of these two keys must be written; NULL = no such rule */
	const char *const *either;
	/* a section and a key of it: where they are written, neither of the two above is needed */
	const char *const *instead;
	/* After decoding one object: what no single row can see. Runs after problems too, so that
	 * all are reported at once: it asks node what was written. May be NULL. */
	void (*check)(struct fields_context *c, const struct yaml_node *node, void *object);
};

enum { FIELDS_MAP_MAX = 4096 /* entries of one MAP */ };

struct fields_context {
	struct arena *arena;
	struct diags *diags;
	/* Every string passes here first (variables); returns the text to keep. NULL = as it is. */
	const char *(*expand)(struct fields_context *c, const struct yaml_node *node);
	void *expand_state; /* for expand; NULL if it needs nothing */
};

/*
 * Decodes node into *object (zeroed, of table->size bytes), starting from the rows' defaults.
 * `path` is the key path for messages ("image.layers[0]", "" at the top). Problems are in c->diags.
 */
void fields_decode(struct fields_context *c, const struct field_table *table,
                   const struct yaml_node *node, const char *path, void *object);

/* Sets the rows' defaults only. */
void fields_defaults(const struct field_table *table, void *object);

/* Adds an error at node. */
struct diag *fields_problem(struct fields_context *c, const struct yaml_node *node, const char *fmt,
                            ...) PRINTF_LIKE(3, 4);

/* A scalar as text (expanded), NULL after a problem: not a scalar, or a plain null or truth value.
 * Messages show node->text instead: what the environment put in may be a secret. */
const char *fields_text(struct fields_context *c, const struct yaml_node *node, const char *what);

/* The row of a scalar's text among the choices, or -1 after a problem that names them all. */
int fields_choice(struct fields_context *c, const struct yaml_node *node, const char *what,
                  const struct choices *choices);

/* "512", "64KiB", "15MB", "1.5GiB"; false when it is not a size or overflows. */
bool fields_parse_size(const char *text, int64_t *ret_bytes);

/*
 * JSON Schema (draft 2020-12) of the table; caller owns. Markdown reference of it and all below it.
 */
cJSON *fields_schema(const struct field_table *table);
void fields_markdown(const struct field_table *table, struct strbuf *sb);

/* ---- row builders: the member's type is proved at compile time; after the key come the
 * doc text and any further designated initialisers ---- */

#define FIELD_MEMBER(object, member, type)                                                         \
	(offsetof(object, member) + 0 * sizeof(&((object *)0)->member == (type *)0))

#define FIELD_STRING(object, member, key_, ...)                                                    \
	{                                                                                          \
		.key = (key_), .kind = FIELD_KIND_STRING,                                          \
		.offset = FIELD_MEMBER(object, member, const char *), .doc = __VA_ARGS__           \
	}
/* An enum whose values are 0, 1, 2...: such a type is unsigned int to gcc and clang. */
#define FIELD_CHOICE(object, member, choices_, key_, ...)                                          \
	{                                                                                          \
		.key = (key_), .kind = FIELD_KIND_CHOICE, .choices = (choices_),                   \
		.offset = FIELD_MEMBER(object, member, unsigned), .doc = __VA_ARGS__               \
	}
#define FIELD_BOOL(object, member, key_, ...)                                                      \
	{                                                                                          \
		.key = (key_), .kind = FIELD_KIND_BOOL,                                            \
		.offset = FIELD_MEMBER(object, member, bool), .doc = __VA_ARGS__                   \
	}
#define FIELD_INT(object, member, key_, ...)                                                       \
	{                                                                                          \
		.key = (key_), .kind = FIELD_KIND_INT,                                             \
		.offset = FIELD_MEMBER(object, member, int64_t), .doc = __VA_ARGS__                \
	}
#define FIELD_MODE(object, member, key_, ...)                                                      \
	{                                                                                          \
		.key = (key_), .kind = FIELD_KIND_MODE,                                            \
		.offset = FIELD_MEMBER(object, member, int64_t), .doc = __VA_ARGS__                \
	}
#define FIELD_SIZE(object, member, key_, ...)                                                      \
	{                                                                                          \
		.key = (key_), .kind = FIELD_KIND_SIZE,                                            \
		.offset = FIELD_MEMBER(object, member, int64_t), .doc = __VA_ARGS__                \
	}
#define FIELD_STRINGS(object, member, key_, ...)                                                   \
	{                                                                                          \
		.key = (key_), .kind = FIELD_KIND_STRINGS,                                         \
		.offset = FIELD_MEMBER(object, member, struct strlist), .doc = __VA_ARGS__         \
	}
#define FIELD_MAP(object, member, key_, ...)                                                       \
	{                                                                                          \
		.key = (key_), .kind = FIELD_KIND_MAP,                                             \
		.offset = FIELD_MEMBER(object, member, struct strmap), .doc = __VA_ARGS__          \
	}
#define FIELD_OBJECT(object, member, type, table_, key_, ...)                                      \
	{                                                                                          \
		.key = (key_), .kind = FIELD_KIND_OBJECT, .table = (table_),                       \
		.offset = FIELD_MEMBER(object, member, type), .doc = __VA_ARGS__                   \
	}
#define FIELD_OBJECTS(object, member, count, type, table_, key_, ...)                              \
	{                                                                                          \
		.key = (key_), .kind = FIELD_KIND_OBJECTS, .table = (table_),                      \
		.offset = FIELD_MEMBER(object, member, type *),                                    \
		.count_offset = FIELD_MEMBER(object, count, size_t), .doc = __VA_ARGS__            \
	}
#define FIELD_NAMED(object, member, count, type, name, table_, key_, ...)                          \
	{                                                                                          \
		.key = (key_), .kind = FIELD_KIND_NAMED, .table = (table_),                        \
		.offset = FIELD_MEMBER(object, member, type *),                                    \
		.count_offset = FIELD_MEMBER(object, count, size_t),                               \
		.name_offset = FIELD_MEMBER(type, name, const char *), .doc = __VA_ARGS__          \
	}
#define FIELD_CUSTOM(object, member, decode_, schema_, key_, ...)                                  \
	{                                                                                          \
		.key = (key_), .kind = FIELD_KIND_CUSTOM, .decode = (decode_),                     \
		.schema = (schema_), .offset = offsetof(object, member), .doc = __VA_ARGS__        \
	}

#define FIELD_TABLE(object, name_, rows, ...)                                                      \
	{                                                                                          \
		.name = (name_), .size = sizeof(object), .fields = (rows),                         \
		.n = sizeof(rows) / sizeof((rows)[0]), .doc = __VA_ARGS__                          \
	}

#endif
