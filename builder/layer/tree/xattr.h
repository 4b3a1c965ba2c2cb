/*
 * Extended attributes on their way into a layer: which are kept, and in what form. An attribute is
 * kept only where a glob of the spec names it; security.capability is checked and brought to one
 * form, because the kernel adds the id of the user namespace it was set in, which differs from
 * machine to machine. Thread rule: no shared state.
 */
#ifndef SLIPWAY_BUILDER_LAYER_TREE_XATTR_H
#define SLIPWAY_BUILDER_LAYER_TREE_XATTR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/strlist.h"
#include "builder/layer/tree/tree.h"

/* The kernel's limits, and how many of one file are looked at. */
enum { XATTR_NAME_BYTES = 255, XATTR_VALUE_BYTES = 64 << 10, XATTR_COUNT_MAX = 1024 };

/* True when one of the globs (or plain names) matches. */
bool xattr_wanted(const struct strlist *globs, const char *name);

/*
 * Adds a copy of name and value to e, in the order of names; a second value of a name replaces the
 * first. security.capability (vfs_cap_data, linux/capability.h) becomes version 2 of 20 bytes
 * without a root id. ERR_FORMAT when it is malformed, or when the value is over the kernel's limit.
 */
int xattr_add(struct entry *e, struct arena *a, const char *name, const void *value, size_t len,
              struct err *err) MUST_USE;

/*
 * Reads the wanted attributes of the file `path` (a symbolic link itself, not its target) into e. A
 * file system without attributes has none. ERR_IO, or as xattr_add.
 */
int xattr_read(struct entry *e, struct arena *a, const char *path, const struct strlist *globs,
               struct err *err) MUST_USE;

#endif
