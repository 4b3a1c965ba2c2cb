/*
 * Lines of text over a TCP connection between ranks. No wait here is longer than the caller allows,
 * and every one ends within a fraction of a second when the process is told to stop.
 */
#ifndef SLIPWAY_TRAINER_COMM_LINES_H
#define SLIPWAY_TRAINER_COMM_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* All of it, or false. Blocks when the socket does and the peer does not read. */
bool lines_send(int fd, const char *text);

/* A line with its '\n' and nothing after it, until `end` of clock_seconds(); false at the peer's
 * end, too late, too long, or told to stop. */
bool lines_read(int fd, char *line, size_t size, double end);

/* The kernel finds out within 15 seconds that a silent peer's machine has gone. */
void lines_keep_alive(int fd);

/*
 * Connects to a host's port, trying each of its addresses, until `end`. The socket, or -1 when
 * nobody answered yet (or told to stop).
 */
int lines_connect(const char *host, unsigned port, double end);

/* Who meets rank 0, and where. */
struct lines_call {
	const char *host; /* rank 0's */
	unsigned port;
	const char *key; /* greeting.h */
	unsigned rank, n_ranks;
};

/*
 * One try to become a rank at rank 0's door, until `end`. *ret_fd is the caller's; -1: nobody
 * answered, try again. ERR_DENIED with rank 0's words when it refuses, or when it cannot prove to
 * be of this run.
 */
int lines_introduce(const struct lines_call *call, double end, int *ret_fd,
                    struct err *err) MUST_USE;

#endif
