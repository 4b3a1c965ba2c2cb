/*
 * What a tree is known by in the cache, computed without compressing anything.
 */
#ifndef SLIPWAY_BUILDER_LAYER_PACK_KEYS_H
#define SLIPWAY_BUILDER_LAYER_PACK_KEYS_H

#include <stdbool.h>

#include "base/crypto/digest.h"
#include "builder/layer/tree/tree.h"

/*
 * The stat key: everything the tar's headers say, and for contents their identity: device, inode,
 * size and times of files on disk, the bytes themselves of anything else. Equal keys mean an equal
 * tar, as far as a file cannot change without a change of its times.
 *
 * *ret_usable is false when that cannot be relied on: a file without identity, or one changed less
 * than two seconds before `now_ns`, which may change again within the clock's granularity.
 */
int keys_stat(const struct tree *t, int64_t now_ns, struct digest *ret_key, bool *ret_usable,
              struct err *err) MUST_USE;

/* The shape key: paths, types and sizes only. */
struct digest keys_shape(const struct tree *t);

#endif
