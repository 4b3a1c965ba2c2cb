/*
 * Where ranks come to rank 0: a listening socket and everybody who has not proven yet to be a rank
 * (greeting.h). All are heard at the same time, each has seconds to speak, and the oldest goes when
 * there are too many: strangers cost no rank its turn.
 *
 * Thread rule: one thread at a time.
 */
#ifndef SLIPWAY_TRAINER_COMM_DOOR_H
#define SLIPWAY_TRAINER_COMM_DOOR_H

#include "base/err.h"
#include "base/strbuf.h"

struct door; /* opaque */

/* Who was turned away, and why. */
struct door_strangers {
	unsigned silent;   /* said nothing in time, or closed */
	unsigned garbled;  /* said something else than a rank does */
	unsigned unproven; /* of another run, or what was said on another connection */
	unsigned crowded;  /* made room for others */
};

/* Listens at the port (0: any) on every address. key is borrowed. ERR_IO. */
int door_open(unsigned port, const char *key, unsigned n_ranks, struct door **ret,
              struct err *err) MUST_USE;
unsigned door_port(const struct door *d);
/* Turns away whoever stands there. NULL is fine. */
void door_close(struct door *d);

/*
 * Waits at most `ms` for somebody to prove to be a rank; its socket (blocking, the caller's) and
 * number, or -1. Call door_welcome or door_refuse then.
 */
int door_wait(struct door *d, int ms, unsigned *ret_rank);
/* Lets in the rank that door_wait returned last; false: it has gone, and fd is closed. */
bool door_welcome(struct door *d, int fd);
/* Says why not, and closes fd. */
void door_refuse(int fd, const char *why);

struct door_strangers door_strangers(const struct door *d);
/* "; turned away: 3 silent connections, 1 garbled"; nothing when there were no strangers. */
void door_describe(const struct door_strangers *s, struct strbuf *out);

#endif
