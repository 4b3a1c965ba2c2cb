/*
 * Files whose name says that credentials belong in them: which they are, and whether any are in
 * them. Nobody outside this room includes it.
 */
#ifndef SLIPWAY_BUILDER_CHECK_SECRET_NAMED_H
#define SLIPWAY_BUILDER_CHECK_SECRET_NAMED_H

#include <stdbool.h>
#include <stddef.h>

#include "builder/check/secret/kinds.h"

struct secret_named {
	const char *path; /* the last segments of the path, as a glob */
	enum secret_kind kind;
	/* text is NUL-terminated and may hold NULs */
	bool (*judge)(const struct secret_named *row, const char *text, size_t len);
	const char *keys; /* of judge_keys: "password token", any of them with a value counts */
};

/* The row for a path in the image, NULL if none. */
const struct secret_named *secret_named_find(const char *path);

bool secret_named_judge(const struct secret_named *row, const char *text, size_t len);

#endif
