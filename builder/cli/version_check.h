/*
 * Whether there is a newer release: one small file is asked for, by whoever asks for it, and never
 * by itself.
 */
#ifndef SLIPWAY_BUILDER_CLI_VERSION_CHECK_H
#define SLIPWAY_BUILDER_CLI_VERSION_CHECK_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/progress.h"

struct version_check {
	const char *latest; /* in the arena */
	bool current;       /* this program is it, or is later */
};

/* Reads URL/latest, of $SLIPWAY_RELEASES or of the build, in ten seconds at most. ERR_USAGE where
 * no address is known; ERR_NETWORK offline; ERR_FORMAT for what is not a version. */
int version_check(struct progress *progress, struct arena *a, struct version_check *ret,
                  struct err *err) MUST_USE;

#endif
