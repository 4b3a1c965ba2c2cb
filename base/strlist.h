/*
 * A list of strings whose memory belongs to somebody's arena.
 */
#ifndef SLIPWAY_BASE_STRLIST_H
#define SLIPWAY_BASE_STRLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct strlist {
	const char **at;
	size_t n;
};

static inline bool strlist_has(const struct strlist *list, const char *text)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->at[i], text) == 0)
			return true;
	return false;
}

#endif
