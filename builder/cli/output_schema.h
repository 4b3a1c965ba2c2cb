/*
 * What `--output json` prints, as JSON Schema: one row per member. A document holds no member
 * without a row, and one of its forms is always the error of a command that failed.
 */
#ifndef SLIPWAY_BUILDER_CLI_OUTPUT_SCHEMA_H
#define SLIPWAY_BUILDER_CLI_OUTPUT_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/doc/json.h"

enum output_kind {
	OUT_TEXT,
	OUT_DIGEST, /* "sha256:..." */
	OUT_COUNT,  /* a whole number from 0 */
	OUT_BOOL,
	OUT_NUMBER,
	OUT_TEXTS,  /* a list of texts */
	OUT_MAP,    /* an object with texts of any names */
	OUT_COUNTS, /* an object with counts of any names */
	OUT_OBJECT, /* its members have rows of their own */
	OUT_ANY     /* what somebody else defines, such as an image configuration */
};

enum output_presence {
	OUT_ALWAYS,
	OUT_MAYBE, /* left out where it has no sense */
	OUT_NULL   /* null where it is not known */
};

/* path: "images[].layers[].digest"; a row stands below those of the objects that hold it, of which
 * the ones that are always there need no row. */
struct output_row {
	const char *path;
	enum output_kind kind;
	enum output_presence presence;
	const char *meaning;
};

/* One form of a command's document. */
struct output_form {
	const char *command;
	const char *when; /* a clause */
	const struct output_row *rows;
	size_t n;
	const char *several; /* the member that lists these of several images, NULL = none */
};

/* Every form, by commands; `command` NULL ends the table. */
extern const struct output_form output_forms[];

/* The commands with a schema, NULL-terminated. */
extern const char *const output_commands[];

/* The schema of a command's documents; NULL for a command without one. The caller frees it. */
cJSON *output_schema(const char *command);

#endif
