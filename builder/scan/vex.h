/*
 * Waivers: OpenVEX documents (https://github.com/openvex/spec, version 0.2.0, and 0.0.1's strings),
 * which say of a vulnerability in a product that it does not matter there, and why. A product is
 * named by its purl: a package, or the image, maybe with the packages in it that are meant.
 */
#ifndef SLIPWAY_BUILDER_SCAN_VEX_H
#define SLIPWAY_BUILDER_SCAN_VEX_H

#include "builder/scan/match.h"

enum { VEX_BYTES_MAX = 64 << 20, VEX_STATEMENTS_MAX = 100000 };

struct vex_product {
	struct purl purl;
	struct vex_product *parts; /* which packages of the image; none: all of them */
	size_t n_parts;
};

struct vex_statement {
	const char *place;    /* "waivers.json:12:5" */
	struct strlist names; /* of the vulnerability */
	struct vex_product *products;
	size_t n_products;
	const char *waives; /* why the vulnerability does not count; NULL: it does, or may */
	int64_t time_ms;    /* of several about the same the latest counts */
	size_t order;
	bool used;
};

/* Zero-initialise; AUTO(vex). */
struct vex {
	struct arena *arena;
	VEC(struct vex_statement) statements;
	struct vex_name *index; /* by name; owned */
	size_t n_index;
};
void vex_done(struct vex *v);

/* Adds a file's statements. Errors name file, line and column. */
int vex_read(struct vex *v, const char *path, struct err *err) MUST_USE;

/* After the last file: the statements can be asked. */
void vex_index(struct vex *v);

/* Why this vulnerability of a package of an image does not count; NULL: it does. */
const char *vex_waives(struct vex *v, const struct scan_image *image,
                       const struct scan_package *package, const struct strlist *names);

/* What the statements that would have waived something and did not are about, with their places. */
struct strlist vex_unused(const struct vex *v);

#endif
