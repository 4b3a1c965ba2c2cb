/*
 * A closed list of texts, in one place: the field tables decode, describe and document a value by
 * it (base/doc/fields.h). The list is an array of names, or one member of a table of rows, so that
 * a table that has a name for each row needs no second list:
 *
 *   static const char *const sizes[] = {[SIZE_SMALL] = "small", [SIZE_LARGE] = "large"};
 *   static const struct choices size_choices = CHOICES(sizes);
 *   static const struct choices planet_choices = CHOICES_OF(planets, name);
 *
 *   static const struct choices sides = CHOICE_TEXTS("left", "right");
 *
 * Arrays are borrowed and must outlive the list. Pure functions, any thread.
 */
#ifndef SLIPWAY_BASE_DOC_CHOICES_H
#define SLIPWAY_BASE_DOC_CHOICES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/attr.h"
#include "base/strbuf.h"

struct choices {
	const char *const *first; /* the first row's text */
	size_t stride;            /* bytes from one row's text to the next */
	size_t n;                 /* of rows, at least 1 */
};

/* An array of names; an array of rows with a `const char *` member; the texts themselves (outside
 * functions only, where their array lasts). */
#define CHOICES(names)                                                                             \
	{                                                                                          \
		.first = (names), .stride = sizeof(char *), .n = ARRAY_LEN(names)                  \
	}
#define CHOICES_OF(rows, member)                                                                   \
	{                                                                                          \
		.first = &(rows)[0].member, .stride = sizeof((rows)[0]), .n = ARRAY_LEN(rows)      \
	}
#define CHOICE_TEXTS(...)                                                                          \
	{                                                                                          \
		.first = (const char *const[]){__VA_ARGS__}, .stride = sizeof(char *),             \
		.n = ARRAY_LEN(((const char *const[]){__VA_ARGS__}))                               \
	}

/* The text of row i, below n. */
const char *choices_name(const struct choices *choices, size_t i);

/* The row of the text, or -1. */
int choices_find(const struct choices *choices, const char *text);

/* Appends all of them as one reads them out: "a", "a or b", "a, b or c". */
void choices_list(const struct choices *choices, struct strbuf *sb);

#endif
