/*
 * The folder that an image is built from again. A build names files relative to the folder that it
 * runs in, and some of these names enter the image; so the build goes into the folder and comes
 * back.
 */
#ifndef SLIPWAY_BUILDER_CLI_REBUILD_SOURCE_H
#define SLIPWAY_BUILDER_CLI_REBUILD_SOURCE_H

#include <limits.h>

#include "base/arena.h"
#include "base/err.h"

/* Initialise with REBUILD_SOURCE_INIT; AUTO(rebuild_source). */
struct rebuild_source {
	char dir[PATH_MAX]; /* absolute */
	int home;           /* where the process was before; -1 = it is there */
};
#define REBUILD_SOURCE_INIT                                                                        \
	{                                                                                          \
		.home = -1                                                                         \
	}

/* ERR_USAGE when it is not a folder. */
int rebuild_source_find(const char *dir, struct rebuild_source *s, struct err *err) MUST_USE;

/*
 * Copies what git would check out of the folder's repository, with changes that are not committed
 * and the repository itself, below `scratch` (absolute); the copy is the source then. Without git
 * all of the folder.
 */
int rebuild_source_copy(struct rebuild_source *s, const char *scratch, struct arena *a,
                        struct err *err) MUST_USE;

int rebuild_source_enter(struct rebuild_source *s, struct err *err) MUST_USE;

/* Goes back, if it is not there. */
void rebuild_source_done(struct rebuild_source *s);

#endif
