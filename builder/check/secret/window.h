/*
 * The bytes around a candidate, and what every pattern asks of them. Nothing is read beyond the
 * window; bytes of a file that lie outside it are taken for absent.
 */
#ifndef SLIPWAY_BUILDER_CHECK_SECRET_WINDOW_H
#define SLIPWAY_BUILDER_CHECK_SECRET_WINDOW_H

#include <stdbool.h>
#include <stddef.h>

enum { WINDOW_RUNS = 16 };

/* A run of characters of these classes; it may go on behind `to`. */
struct window_run_memo {
	unsigned classes;
	const unsigned char *from, *to;
};

/*
 * What earlier candidates of a window came to know, so that a file full of them is not read again
 * for each: zeroed at first, good as long as the window's bytes stay where they are.
 */
struct window_memo {
	struct window_run_memo runs[WINDOW_RUNS];
	const unsigned char *keyless, *keyless_end; /* no secret key of AWS begins between them */
	const unsigned char *pem;                   /* the boundary that was judged last... */
	int pem_state;                              /* ...and what it was (pem.c) */
};

struct secret_window {
	const unsigned char *start, *end; /* end: the end of what has been read */
	struct window_memo *memo;         /* NULL = none */
};

/* Classes of characters; a set is their sum. */
enum secret_class {
	CLASS_UPPER = 1 << 0,
	CLASS_LOWER = 1 << 1,
	CLASS_DIGIT = 1 << 2,
	CLASS_HEX = 1 << 3, /* 0-9 and a-f */
	CLASS_UNDERSCORE = 1 << 4,
	CLASS_DASH = 1 << 5,
	CLASS_DOT = 1 << 6,
	CLASS_PLUS_SLASH = 1 << 7,
	CLASS_EQUALS = 1 << 8,
	CLASS_ALNUM = CLASS_UPPER | CLASS_LOWER | CLASS_DIGIT,
	CLASS_WORD = CLASS_ALNUM | CLASS_UNDERSCORE,
	CLASS_BASE64 = CLASS_ALNUM | CLASS_PLUS_SLASH | CLASS_EQUALS,
	CLASS_BASE64URL = CLASS_WORD | CLASS_DASH
};

bool secret_in_class(unsigned char c, unsigned classes);

/* Whether `text` stands at p. */
bool window_starts(const struct secret_window *w, const unsigned char *p, const char *text);

/* Length of the run of characters of the classes from p on, at most max + 1. */
size_t window_run(const struct secret_window *w, const unsigned char *p, unsigned classes,
                  size_t max);

/* Whether a word begins at p: the byte before it is neither letter, digit nor '_'. */
bool window_word_begins(const struct secret_window *w, const unsigned char *p);

/* Behind blanks, quotes, '=' and ':', at most 8 of them. */
const unsigned char *window_skip_assignment(const struct secret_window *w, const unsigned char *p);

#endif
