/*
 * How a rank and rank 0 recognise each other, as lines of text; knows no sockets.
 *
 *   rank 0:  slipway-ranks 1 NONCE
 *   a rank:  rank R of N nonce NONCE proof PROOF
 *   rank 0:  welcome PROOF                          (or a sentence that says why not)
 *
 * Each side proves with HMAC-SHA256 over both nonces that it has the run's key, which is never
 * sent. A nonce is good for one connection: what was said on another one proves nothing. Without a
 * key (an empty one) only that is left: strangers who do not speak this are told from ranks.
 */
#ifndef SLIPWAY_TRAINER_COMM_GREETING_H
#define SLIPWAY_TRAINER_COMM_GREETING_H

#include <stdbool.h>

#include "base/err.h"

enum { GREETING_LINE_MAX = 256, GREETING_NONCE_MAX = 33 };

/* What both sides know of one connection when the rank has spoken. */
struct greeting {
	unsigned rank, n_ranks;
	char leader[GREETING_NONCE_MAX]; /* rank 0's nonce */
	char rank_nonce[GREETING_NONCE_MAX];
};

/* 32 hex digits from the kernel's generator. ERR_IO when it gives none. */
int greeting_nonce(char ret[GREETING_NONCE_MAX], struct err *err) MUST_USE;

/* Lines end in '\n' and fit into GREETING_LINE_MAX bytes, NUL included. */
void greeting_challenge(const struct greeting *g, char *line);
void greeting_answer(const struct greeting *g, const char *key, char *line);
void greeting_welcome(const struct greeting *g, const char *key, char *line);

/* Takes the nonce of rank 0's first line; false: not such a line. */
bool greeting_read_challenge(const char *line, struct greeting *g);

enum greeting_end { GREETING_PROVEN, GREETING_UNPROVEN, GREETING_GARBLED };

/* Takes rank, number and nonce from the answer (set unless it is garbled) and checks the proof. */
enum greeting_end greeting_read_answer(const char *line, const char *key, struct greeting *g);

/* Garbled: rank 0 says something else, a refusal for people to read. */
enum greeting_end greeting_read_welcome(const char *line, const char *key,
                                        const struct greeting *g);

#endif
