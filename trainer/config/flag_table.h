/*
 * The option parser of the trainer's programs. A table of rows says which options there are and
 * which member of one struct each sets: --name VALUE, --name=VALUE, or a bare --name. Pure: nothing
 * is printed and no file is read.
 */
#ifndef SLIPWAY_TRAINER_CONFIG_FLAG_TABLE_H
#define SLIPWAY_TRAINER_CONFIG_FLAG_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"

enum flag_value {
	VALUE_TEXT,  /* const char *, borrowed from the words */
	VALUE_INT,   /* int64_t, from min to max */
	VALUE_COUNT, /* uint64_t, up to max */
	VALUE_FLOAT, /* double, from min to max */
	VALUE_NONE   /* bool: a bare --name sets it to true */
};

/* Rows are made by the macros below, which demand all that a row of the kind needs. */
struct flag_row {
	const char *name; /* without the dashes */
	enum flag_value kind;
	size_t offset; /* of the member */
	double min, max;
	bool unused;      /* accepted for another program's sake, and set */
	const char *help; /* one line */
	bool automatic;   /* VALUE_INT: 'auto' will do, too, and is 0 */
};

/* The member's offset; does not compile when the member has another type than the row's kind. */
#define FLAG_MEMBER(type, member, value)                                                           \
	(offsetof(type, member) + 0 * sizeof(&((type *)0)->member == (value *)0))

#define FLAG_ROW_TEXT(type, name, member, help)                                                    \
	{                                                                                          \
		name, VALUE_TEXT, FLAG_MEMBER(type, member, const char *), 0, 0, false, help,      \
			false                                                                      \
	}
#define FLAG_ROW_INT(type, name, member, min, max, help)                                           \
	{                                                                                          \
		name, VALUE_INT, FLAG_MEMBER(type, member, int64_t), min, max, false, help, false  \
	}
#define FLAG_ROW_INT_AUTO(type, name, member, min, max, help)                                      \
	{                                                                                          \
		name, VALUE_INT, FLAG_MEMBER(type, member, int64_t), min, max, false, help, true   \
	}
#define FLAG_ROW_COUNT(type, name, member, max, help)                                              \
	{                                                                                          \
		name, VALUE_COUNT, FLAG_MEMBER(type, member, uint64_t), 0, max, false, help, false \
	}
#define FLAG_ROW_FLOAT(type, name, member, min, max, help)                                         \
	{                                                                                          \
		name, VALUE_FLOAT, FLAG_MEMBER(type, member, double), min, max, false, help, false \
	}
#define FLAG_ROW_SWITCH(type, name, member, help)                                                  \
	{                                                                                          \
		name, VALUE_NONE, FLAG_MEMBER(type, member, bool), 0, 0, false, help, false        \
	}
/* kind is a VALUE_..., `value` its C type. */
#define FLAG_ROW_UNUSED(type, name, member, kind, value, min, max, why)                            \
	{                                                                                          \
		name, kind, FLAG_MEMBER(type, member, value), min, max, true, why, false           \
	}

struct flag_table {
	const struct flag_row *rows;
	size_t n;
	/* NULL: '-' and '_' in a name are one, and an unknown option gets the nearest name as a
	 * hint. Else names are exact, and the hint is the command's --help. */
	const char *command;
};

/* How the reading ended. Bad ones set err, ERR_USAGE. */
enum flag_end {
	FLAGS_READ,     /* all words */
	FLAGS_HELP,     /* at --help or -h */
	FLAGS_BAD_WORD, /* at an unknown option, a missing value or one too many */
	FLAGS_BAD_VALUE /* at a value that is no such number or out of bounds */
};

/*
 * Reads words from argv[*at] on into the members of `values`, which hold the defaults before; *at
 * becomes the word after the last one read. remarks gets a line for each unused option given; it
 * may be NULL when the table has none.
 */
enum flag_end flag_table_read(const struct flag_table *t, int argc, char **argv, int *at,
                              void *values, struct strbuf *remarks, struct err *err) MUST_USE;

/* The same, and sets given[i] for each row i that a word named; given has t->n members. */
enum flag_end flag_table_read_given(const struct flag_table *t, int argc, char **argv, int *at,
                                    void *values, bool *given, struct strbuf *remarks,
                                    struct err *err) MUST_USE;

/* The row of that name; NULL when there is none. */
const struct flag_row *flag_table_find(const struct flag_table *t, const char *name);

/* The row's member of `values` as text, "" for a NULL; texts borrow from values or from out. */
enum { FLAG_TEXT_MAX = 40 };
const char *flag_row_text(const struct flag_row *row, const void *values, char out[FLAG_TEXT_MAX]);

/* Sets one option from text; a switch's is true or false. FLAGS_READ or a bad end, as above. */
enum flag_end flag_table_set(const struct flag_table *t, const char *name, const char *text,
                             void *values, struct err *err) MUST_USE;

/* The options and what they are for, two lines each. */
void flag_table_help(const struct flag_table *t, struct strbuf *sb);

#endif
