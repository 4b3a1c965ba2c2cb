/*
 * INI text as the AWS CLI reads it: Python's configparser.RawConfigParser in its strict mode
 * (docs.python.org/3/library/configparser, "Supported INI File Structure"), and botocore's one
 * level of nesting. Pure: the text is passed in. The rules that surprise:
 *
 * - '=' or ':' ends a key, whichever comes first; keys are in lower case
 * - a line that is indented deeper than the property before it goes on with that property's value;
 *   one indented as deep, or the first below a header, is a property of its own
 * - a comment has a line of its own, indented or not: '#' and ';' behind a value belong to the
 *   value
 * - a value that begins on the next line is a block of KEY = VALUE lines
 * - a section, or a key of one section, that comes twice is an error
 * - what [DEFAULT] (in capitals) has, every section of the file has
 */
#ifndef SLIPWAY_BUILDER_AWS_INI_H
#define SLIPWAY_BUILDER_AWS_INI_H

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"

enum { INI_BYTES_MAX = 1 << 20, INI_SECTIONS_MAX = 10000, INI_KEYS_MAX = 1000 };

struct ini_section {
	const char *name; /* as it is written between the brackets */
	unsigned line;    /* of the header */
	struct strmap values;
	struct strmap places; /* key -> "FILE:LINE:COLUMN", for messages */
};

/* Zero-initialise; AUTO(ini). */
struct ini {
	struct arena arena; /* owns all texts */
	VEC(struct ini_section) sections;
	struct ini_section defaults;
};
void ini_done(struct ini *ini); /* wipes the values, then frees */

/*
 * Reads a whole text into an empty *ini. ERR_FORMAT with file, line and column in the message,
 * which quotes no value; ERR_LIMIT beyond the caps.
 */
int ini_parse(struct ini *ini, const char *file, const char *text, size_t len,
              struct err *err) MUST_USE;

/* The section's value of a key, or the file's default; NULL if absent. */
const char *ini_get(const struct ini *ini, const struct ini_section *section, const char *key);

/* Where that value stands, "FILE:LINE:COLUMN"; NULL if absent. */
const char *ini_place(const struct ini *ini, const struct ini_section *section, const char *key);

/* A word's value in a nested block ("\nendpoint_url = ..."), in the arena; NULL if absent. */
const char *ini_nested(const char *block, const char *key, struct arena *a);

#endif
