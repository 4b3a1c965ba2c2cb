/*
 * Command-line options as tables: one row per option serves parsing, --help, completion and the man
 * pages, so they cannot drift apart.
 * Accepts --name VALUE, --name=VALUE, -x VALUE, -xVALUE, bundled flags (-qv) and "--" as in GNU
 * programs.
 *
 * A command has a struct for its options, and a row per member:
 *
 *   struct diff_options {
 *           bool exit_code;
 *           struct remote_options remote;
 *   };
 *   static const struct option options[] = {
 *           FLAG_OPTION(struct diff_options, exit_code, "exit-code", 0, "Exit 1 when ..."),
 *           REMOTE_OPTIONS(struct diff_options, remote),
 *   };
 *
 * What several commands take is a struct of its own that they embed, and a macro with its rows,
 * made by the builders with _IN. A member is called what its option is called.
 */
#ifndef SLIPWAY_BUILDER_CLI_OPTION_H
#define SLIPWAY_BUILDER_CLI_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/strlist.h"

enum option_kind {
	OPTION_FLAG,   /* bool */
	OPTION_TEXT,   /* const char * */
	OPTION_NUMBER, /* int64_t, from 0 */
	OPTION_SIZE,   /* int64_t, bytes: "2GiB", "500MB", from 1 */
	OPTION_LIST    /* struct strlist, may be repeated */
};

/* What a shell completes after the option. */
enum option_complete { COMPLETE_NONE, COMPLETE_FILE, COMPLETE_DIR, COMPLETE_CHOICES };

struct option {
	const char *name; /* without "--" */
	char letter;      /* 0 = none */
	enum option_kind kind;
	size_t offset;        /* of the member */
	const char *metavar;  /* NULL for flags */
	const char *help;     /* one line, no full stop */
	const char *fallback; /* value shown and used when absent, NULL = none */
	enum option_complete complete;
	const char *const
		*choices; /* NULL-terminated, for COMPLETE_CHOICES: anything else is refused; of
	                   * a list they are what shells propose, and the command checks it */
};

/* Row builders: a member of the wrong type does not compile. After the help text come further
 * designated initialisers. */
#define OPTION_MEMBER(object, member, type)                                                        \
	(offsetof(object, member) + 0 * sizeof(&((object *)0)->member == (type *)0))
#define FLAG_OPTION(object, member, ...)   FLAG_OPTION_IN(0, object, member, __VA_ARGS__)
#define TEXT_OPTION(object, member, ...)   TEXT_OPTION_IN(0, object, member, __VA_ARGS__)
#define NUMBER_OPTION(object, member, ...) NUMBER_OPTION_IN(0, object, member, __VA_ARGS__)
#define SIZE_OPTION(object, member, ...)   SIZE_OPTION_IN(0, object, member, __VA_ARGS__)
#define LIST_OPTION(object, member, ...)   LIST_OPTION_IN(0, object, member, __VA_ARGS__)

/* The same for a struct that lies `base` bytes into the command's. */
#define FLAG_OPTION_IN(base, object, member, name_, letter_, help_)                                \
	{                                                                                          \
		.name = (name_), .letter = (letter_), .kind = OPTION_FLAG,                         \
		.offset = (base) + OPTION_MEMBER(object, member, bool), .help = (help_)            \
	}
#define TEXT_OPTION_IN(base, object, member, name_, letter_, metavar_, ...)                        \
	{                                                                                          \
		.name = (name_), .letter = (letter_), .kind = OPTION_TEXT,                         \
		.offset = (base) + OPTION_MEMBER(object, member, const char *),                    \
		.metavar = (metavar_), .help = __VA_ARGS__                                         \
	}
#define NUMBER_OPTION_IN(base, object, member, name_, letter_, metavar_, ...)                      \
	{                                                                                          \
		.name = (name_), .letter = (letter_), .kind = OPTION_NUMBER,                       \
		.offset = (base) + OPTION_MEMBER(object, member, int64_t), .metavar = (metavar_),  \
		.help = __VA_ARGS__                                                                \
	}
#define SIZE_OPTION_IN(base, object, member, name_, help_)                                         \
	{                                                                                          \
		.name = (name_), .kind = OPTION_SIZE,                                              \
		.offset = (base) + OPTION_MEMBER(object, member, int64_t), .metavar = "SIZE",      \
		.help = (help_)                                                                    \
	}
#define LIST_OPTION_IN(base, object, member, name_, letter_, metavar_, ...)                        \
	{                                                                                          \
		.name = (name_), .letter = (letter_), .kind = OPTION_LIST,                         \
		.offset = (base) + OPTION_MEMBER(object, member, struct strlist),                  \
		.metavar = (metavar_), .help = __VA_ARGS__                                         \
	}

struct option_table {
	const struct option *at;
	size_t n;
	size_t size; /* of the struct that the rows are about */
};
#define OPTION_TABLE(object, rows)                                                                 \
	{                                                                                          \
		.at = (rows), .n = sizeof(rows) / sizeof((rows)[0]), .size = sizeof(object)        \
	}

/* A table, and the struct that gets its values. */
struct option_target {
	const struct option_table *table;
	void *object; /* zeroed, table->size bytes */
};

/*
 * Parses argv[0..argc-1] (after the command's name) by the rows of the n tables, into their
 * structs. Values are borrowed from argv; lists and *ret_args live in the arena. ERR_USAGE names
 * the option, with the nearest known one as hint; the structs then hold what was read before it.
 */
int options_parse(const struct option_target *targets, size_t n, int argc, char **argv,
                  struct arena *a, struct strlist *ret_args, struct err *err) MUST_USE;

/* The row of a long name, or NULL. */
const struct option *option_find(const struct option_table *table, const char *name, size_t len);

#endif
