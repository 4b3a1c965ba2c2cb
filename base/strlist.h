/*
 * A list of strings whose memory belongs to somebody's arena.
 */
#ifndef SLIPWAY_BASE_STRLIST_H
#define SLIPWAY_BASE_STRLIST_H

#include <stddef.h>

struct strlist {
	const char **at;
	size_t n;
};

#endif
