/*
 * Splitting text into words as a POSIX shell quotes them (POSIX.1-2017, XCU 2.2), and no further:
 * no variable, no glob, no comment, no operator. The results are those of Python's shlex.split(),
 * by which the AWS CLI reads credential_process and the names of sections. Pure.
 */
#ifndef SLIPWAY_BUILDER_AWS_WORDS_H
#define SLIPWAY_BUILDER_AWS_WORDS_H

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

enum { WORDS_MAX = 64 };

struct word_list {
	const char *at[WORDS_MAX + 1]; /* in the arena; at[n] is NULL */
	size_t n;
};

/*
 * ERR_FORMAT for an open quotation mark or a backslash at the end, ERR_LIMIT beyond WORDS_MAX. The
 * message does not quote the text.
 */
int words_split(const char *text, struct arena *a, struct word_list *ret_words,
                struct err *err) MUST_USE;

#endif
