/*
 * A position in a text that a person wrote. Every spec node carries one, and it is copied into
 * models wherever a later check may complain.
 */
#ifndef SLIPWAY_BASE_SRCPOS_H
#define SLIPWAY_BASE_SRCPOS_H

struct srcpos {
	const char
		*file;   /* borrowed, lives as long as the arena of the parse; NULL = no position */
	unsigned line;   /* 1-based */
	unsigned column; /* 1-based, in bytes */
	unsigned span;   /* bytes to underline, at least 1 when file is set */
};

#endif
