/*
 * Sending layers while others are still being packed. Only blobs go, which no tag and no manifest
 * names: a build that fails leaves no image, and the push after it (push.h) finds them there. What
 * goes wrong here is left to that push, which says why.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_PUSH_AHEAD_H
#define SLIPWAY_BUILDER_IMAGE_PUSH_AHEAD_H

#include "builder/image/push.h"

struct push_ahead; /* opaque */

/*
 * Opens the target, creates its repository where that is wanted, and starts the threads that send.
 * NULL when the target cannot be opened, or no thread can be started: then nothing goes ahead. The
 * remote and the layout outlive it.
 */
MUST_USE struct push_ahead *push_ahead_new(const struct remote *remote, struct layout *layout,
                                           const struct image_target *target);

/* A blob of the layout that will be pushed; a copy is kept. Accepts NULL. One thread calls. */
void push_ahead_add(struct push_ahead *p, const struct descriptor *blob);

/*
 * Waits until all that was added is sent, and adds to the counts. With `stop` what has not begun is
 * dropped: the build has failed. Frees. Accepts NULL.
 */
void push_ahead_end(struct push_ahead *p, bool stop, struct push_result *result);

#endif
