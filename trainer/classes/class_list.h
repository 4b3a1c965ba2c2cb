/*
 * The classes of a dataset or of a model's label head: names, numbered from 0. Two of them are
 * compared by name, never by number: each split numbers its own folders.
 */
#ifndef SLIPWAY_TRAINER_CLASSES_CLASS_LIST_H
#define SLIPWAY_TRAINER_CLASSES_CLASS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"

enum { CLASSES_MAX = 1 << 16, CLASS_NAME_MAX = 1024 };
#define CLASS_NONE SIZE_MAX

struct class_rank; /* opaque */

struct class_list {
	char **at; /* owned; class i's name */
	size_t n, cap;
	struct class_rank *sorted; /* owned; made by class_list_seal */
};

/* Copies the name. Any number of them, then class_list_seal; a list is only read after it. */
void class_list_add(struct class_list *list, const char *name);

/*
 * Checks the names: not empty, UTF-8 without control characters, at most CLASS_NAME_MAX bytes, each
 * once, CLASSES_MAX in all. ERR_FORMAT or ERR_LIMIT naming `what` and the class.
 */
int class_list_seal(struct class_list *list, const char *what, struct err *err) MUST_USE;

/*
 * The number of a class in a sealed list; CLASS_NONE when it is not there. Where the very name is
 * not, one with blanks for its underscores, or the other way round, is taken: Kinetics' folders are
 * often renamed so ("air drumming", "air_drumming").
 */
size_t class_list_find(const struct class_list *list, const char *name);

/* *ret: a sealed list of the same names. */
void class_list_copy(const struct class_list *from, struct class_list *ret);

/* Appends "4: ball ... motion (9f86d081884c7d65)": number, ends, and a digest of all names in their
 * order, so that two lists are the same where their lines are. */
void class_list_summary(const struct class_list *list, struct strbuf *sb);

void class_list_done(struct class_list *list); /* for AUTO(class_list) */

#endif
