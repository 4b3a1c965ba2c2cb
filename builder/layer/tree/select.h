/*
 * Which paths an item takes: its `include` and `exclude` globs (base/text.h, text_glob), as
 * .gitignore reads them: a pattern without '/' matches a name at any depth, a leading '/' ties it
 * to the top, a trailing '/' matches folders only. What lies in an excluded or included folder is
 * excluded or included with it. Pure.
 */
#ifndef SLIPWAY_BUILDER_LAYER_TREE_SELECT_H
#define SLIPWAY_BUILDER_LAYER_TREE_SELECT_H

#include <stdbool.h>

#include "base/strlist.h"

struct selection {
	const struct strlist *include; /* empty = everything */
	const struct strlist *exclude;
};

/* True when a pattern names this very path (relative, no leading '/'). */
bool select_excludes(const struct selection *s, const char *path, bool folder);
bool select_includes(const struct selection *s, const char *path, bool folder);

/* Excludes, then includes, of the path and of every folder above it: for lists without a walk. */
bool select_path(const struct selection *s, const char *path, bool folder);

#endif
