/*
 * The parts that files are made of: texts of builder/init/parts, which the assembler has taken in.
 * A word between two '@' is a value. A line with a value that is not there is left out, so that a
 * part holds every line that it can have.
 */
#ifndef SLIPWAY_BUILDER_INIT_PARTS_H
#define SLIPWAY_BUILDER_INIT_PARTS_H

#include "base/strbuf.h"

/* A value's name, and the value; NULL = it is not there. */
struct init_value {
	const char *key, *text;
};

struct init_values {
	const struct init_value *at;
	size_t n;
};

/* The text of a part by its name: "head". */
const char *init_part(const char *name);

/* Appends the text with the values put in. A word that is no value's name is a bug of ours. */
void init_fill(const char *text, const struct init_values *values, struct strbuf *sb);

#endif
