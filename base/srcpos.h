/*
 * A position in a text that a person wrote. Every spec node carries one, and it is copied into
 * models wherever a later check may complain.
 */
#ifndef SLIPWAY_BASE_SRCPOS_H
#define SLIPWAY_BASE_SRCPOS_H

#include <stddef.h>

struct srcpos {
	/* Borrowed, lives as long as the arena of the parse; NULL = no position. */
	const char *file;
	unsigned line;   /* 1-based */
	unsigned column; /* 1-based, in bytes */
	unsigned span;   /* bytes to underline, at least 1 when file is set */
};

/* Where a key stands, or what is around it when it was not written. */
static inline struct srcpos srcpos_or(struct srcpos pos, struct srcpos otherwise)
{
	return pos.file != NULL ? pos : otherwise;
}

#endif
