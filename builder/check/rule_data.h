/*
 * What known programs read at run time and no ELF header names: a table of triggers and of what
 * must then be in the image. rule_data_rows.c has the rows, rule_data.c finds out which of them an
 * image triggers and reports what is missing. Ownership: everything lives in the image's arena.
 */
#ifndef SLIPWAY_BUILDER_CHECK_RULE_DATA_H
#define SLIPWAY_BUILDER_CHECK_RULE_DATA_H

#include "builder/check/linkage.h"

enum {
	DATA_ROWS_MAX = 64,       /* a bit each */
	DATA_STEPS_MAX = 4 << 20, /* files looked at for globs, of one platform */
	DATA_CAPTURE_MAX = 24
};

/* How bad it is. What cannot be proved is never an error. */
enum data_kind {
	DATA_NOTE,    /* it may well not matter */
	DATA_WARNING, /* something that the program was made for does not work */
	DATA_STOPS    /* the program stops at start: an error for the one that the image starts */
};

/* Where a symbol counts as called. */
enum data_caller {
	DATA_BODY, /* by a program itself, or by the library that is its body, as libpython */
	DATA_ANY   /* by any file that is loaded, plug-ins too */
};

/*
 * One need. It is triggered by any of `programs`, of `libraries` or of `symbols`; where both
 * libraries and symbols are given, by such a library that needs such a symbol. Globs of names may
 * hold one '%', which stands for a version, digits and dots; in `wanted` it is that version.
 */
struct data_row {
	enum rule_id rule;
	enum data_kind kind;
	const char *programs[5];  /* globs of file names */
	const char *libraries[5]; /* globs of sonames */
	const char *symbols[8];
	enum data_caller caller;
	const char *beside;   /* only when the program loads this library, too */
	unsigned glibc_below; /* 2.N: only with an older glibc; 0 = any */
	bool ranks;           /* only where ranks meet (check_opts) */
	/*
	 * Globs of which one must match. One that does not begin with '/' is tried from each folder
	 * above the program and above the library, then from /usr and /usr/local.
	 */
	const char *wanted[10];
	const char *variables[4]; /* of the environment: any that names what is there will do */
	const char *home; /* of the environment: when set, relative globs begin there alone */
	const char *text; /* what follows: "... and TEXT" */
	const char *hint;
};

extern const struct data_row data_rows[];
extern const size_t data_rows_n;

/* Globs of libraries that are the body of programs. */
extern const char *const data_bodies[];
extern const size_t data_bodies_n;

/* Globs of libraries that call such functions for others: of their own they need nothing. */
extern const char *const data_offerers[];
extern const size_t data_offerers_n;

/* What triggered a row first; the program that the image starts comes before others. */
struct data_hit {
	struct view_node *program; /* NULL: not triggered */
	struct view_node *object;  /* the library or plug-in; the program itself */
	const char *symbol;        /* NULL if it was not a symbol */
	char version[DATA_CAPTURE_MAX];
	bool is_started; /* `program` is what the image starts (start.h), or one of them */
	size_t n;        /* programs */
};

struct data_symbol {
	const char *name;
	uint64_t rows;
};

/* What is known of an image after its programs have been loaded. */
struct data_facts {
	struct data_symbol *symbols; /* of the rows, sorted */
	size_t n_symbols;
	struct data_hit hits[DATA_ROWS_MAX];
	bool has_glibc;       /* a program has glibc's loader */
	unsigned glibc_minor; /* of its libc.so.6, as its newest version says; 0 = not known */
	size_t steps;         /* left for globs */
};

/* Takes note of what the program at work triggers. */
void data_take_program(struct linkage *l);

/* Reports what files of the program at work load on demand and do not get (rule_dlopen.c). */
void linkage_check_dlopen(struct linkage *l);

/* Whether a variable names something that is in the image; items stand between ':'. */
bool data_variable_holds(const struct check_image *image, const char *name);

/* Whether a path or glob is in the image, or might be: true when the steps are used up. */
bool data_exists(struct check_image *image, struct view_node *dir, const char *glob);

#endif
