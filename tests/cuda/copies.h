/*
 * Copies to shared memory that go on by themselves, as cp.async has them (PTX ISA, 9.7.8.22): a
 * thread's copies belong to the group that it ends after them, and are surely there when the thread
 * has waited for that group, for other threads a barrier later. Until then a device may do them at
 * any time. Here what they overwrite is gone at once (not-a-numbers), and what they bring is there
 * only behind the wait: who reads too early, and who sends while others still read, sees neither.
 */
#ifndef SLIPWAY_TESTS_CUDA_COPIES_H
#define SLIPWAY_TESTS_CUDA_COPIES_H

#include <stdbool.h>
#include <stddef.h>

/* A block begins, whose shared memory this is. */
void copies_begin(char *shared, size_t bytes);

/* `size` bytes to shared memory, 4, 8 or 16, of which `bytes` come from `from` and others are 0.
 * NULL, or what a device would not allow. */
const char *copies_send(unsigned thread, size_t to, const void *from, size_t size, size_t bytes);
void copies_end(unsigned thread); /* of a group */
/* All groups but the last `left` have landed. */
void copies_land(unsigned thread, unsigned left);

/* Whether a copy to one of these bytes was sent and nobody has waited for it. */
bool copies_are_under_way(size_t at, size_t n);
/* Whether the thread has sent copies for which it has not waited. */
bool copies_are_left(unsigned thread);

#endif
