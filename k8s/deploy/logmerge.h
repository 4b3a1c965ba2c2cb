/*
 * Lines of several logs in the order of their time. Each source gives bytes as they come, every
 * line behind kubectl's timestamp; the merge gives the oldest line once every open source has one,
 * or at once when asked to hurry. Memory is bounded: a source that is far ahead is not read on.
 * Reads and prints nothing itself. Thread rule: one thread.
 */
#ifndef SLIPWAY_K8S_DEPLOY_LOGMERGE_H
#define SLIPWAY_K8S_DEPLOY_LOGMERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Longer lines are cut; a source holds at most LOG_AHEAD_MAX bytes and one piece of input. */
enum { LOG_LINE_MAX = 16 << 10, LOG_AHEAD_MAX = 256 << 10 };

struct log_line {
	size_t source;
	int64_t ns; /* since 1970; a line without a time has that of the one before; 0 = none */
	const char *text; /* without its time and newline; valid until the next call */
	size_t len;
	bool cut;
};

struct logmerge; /* opaque */

struct logmerge *logmerge_new(size_t n_sources);
void logmerge_free(struct logmerge *m); /* accepts NULL */

/* Shall more be read from a source? */
bool logmerge_wants(const struct logmerge *m, size_t source);

void logmerge_feed(struct logmerge *m, size_t source, const char *bytes, size_t len);

/* A source has ended: its last line needs no newline, and nobody waits for it. Opening it again
 * lets it go on. */
void logmerge_end(struct logmerge *m, size_t source);
void logmerge_open(struct logmerge *m, size_t source);

/* Does a line wait for another source's? */
bool logmerge_holds(const struct logmerge *m);

/* The oldest line; false if there is none, or (without hurry) an open source may have an older. */
bool logmerge_next(struct logmerge *m, bool hurry, struct log_line *ret);

#endif
