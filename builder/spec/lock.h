/*
 * slipway.lock: which digest each base image's tag stood for when the image was last built. Written
 * beside the spec on every build, obeyed (and never written) with --locked, so that a tag cannot
 * drift in CI. A small JSON document:
 *
 *   {"comment": "...", "version": 1, "bases": {"docker.io/library/debian:12": "sha256:..."}}
 *
 * Memory lives in the caller's arena. Thread rule: one thread.
 */
#ifndef SLIPWAY_BUILDER_SPEC_LOCK_H
#define SLIPWAY_BUILDER_SPEC_LOCK_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/crypto/digest.h"
#include "base/err.h"
#include "base/strmap.h"

/* The file explains itself where somebody finds it. */
#define LOCK_COMMENT                                                                               \
	"Written by slipway build: the digest that each base image's tag stood for. Commit it; "   \
	"`slipway build --locked` takes these and no others, a build without --locked renews "     \
	"them."

enum { LOCK_BYTES_MAX = 1 << 20, LOCK_VERSION = 1 };

struct lock {
	const char *path;
	struct strmap bases; /* canonical reference -> digest text */
	bool changed;
	bool fresh; /* there was no file */
};

/* The lock file of a spec: its path with ".lock" in place of ".yaml" or ".yml". */
char *lock_path(const char *spec_file, struct arena *a);

/* Reads path; a missing file is an empty lock. ERR_FORMAT when it is not a lock file. */
int lock_load(const char *path, struct arena *a, struct lock *ret_lock, struct err *err) MUST_USE;

/* True with *ret_digest when `reference` is locked. */
bool lock_find(const struct lock *l, const char *reference, struct digest *ret_digest);

/* Records a digest; marks the lock changed when it is news. */
void lock_set(struct lock *l, struct arena *a, const char *reference, const struct digest *digest);

/* Writes the file atomically, with sorted keys, when something changed. */
int lock_save(struct lock *l, struct err *err) MUST_USE;

#endif
