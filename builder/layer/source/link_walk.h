/*
 * Symbolic links of an absolute path followed one by one (path_resolution(7)), over whatever tells
 * where a link leads: a sysroot on this machine, or a base image that lies on no disk. An absolute
 * target starts again at the root of that tree, and ".." never leads out of it.
 */
#ifndef SLIPWAY_BUILDER_LAYER_SOURCE_LINK_WALK_H
#define SLIPWAY_BUILDER_LAYER_SOURCE_LINK_WALK_H

#include "base/arena.h"
#include "base/err.h"

enum { LINK_WALK_MAX = 40 /* links of one path, as Linux has it */ };

struct link_reader {
	/*
	 * *ret_target is where the link at `path` (free of links) leads, NULL when it is no link;
	 * -1 ends the walk. A reader may say "no link" of what is not there: the walk then goes on
	 * by names alone, as for a path that is yet to be made.
	 */
	int (*read)(void *ctx, const char *path, struct arena *a, const char **ret_target,
	            struct err *err);
	void *ctx;
};

/*
 * *ret_path, in the arena, is free of links. ERR_FORMAT for more than LINK_WALK_MAX links,
 * ERR_LIMIT for a path that is too long, or the reader's own error.
 */
int link_walk(const struct link_reader *reader, const char *path, struct arena *a,
              const char **ret_path, struct err *err) MUST_USE;

#endif
