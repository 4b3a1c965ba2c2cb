/*
 * Paragraphs of fields as Debian's control files have them (deb822(5)): "Key: value", continued by
 * lines that begin with a blank; an empty line ends a paragraph. Alpine's database has the same
 * shape with keys of one letter. Pure; borrows the text.
 */
#ifndef SLIPWAY_BUILDER_SBOM_DEB822_H
#define SLIPWAY_BUILDER_SBOM_DEB822_H

#include <stdbool.h>
#include <stddef.h>

struct deb822 {
	const char *at, *end; /* what is left */
};

/* One field; the value without blanks at its ends, continuation lines left out. */
struct deb822_field {
	const char *key, *value;
	size_t key_len, value_len;
};

enum deb822_event { DEB822_FIELD, DEB822_PARAGRAPH, DEB822_END };

/*
 * The next field, the end of a paragraph (several in a row for several empty lines), or the end of
 * the text. Lines that are none of these are passed over.
 */
enum deb822_event deb822_next(struct deb822 *d, struct deb822_field *ret_field);

bool deb822_is(const struct deb822_field *f, const char *key); /* no case */

#endif
