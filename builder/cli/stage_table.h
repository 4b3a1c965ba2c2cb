/*
 * The table of stages that deploy and undeploy show on a terminal: a row per stage with its state,
 * how long it took, what it holds, and while it runs what it waits for. Keeps and formats rows;
 * progress_view draws them. Thread rule: the caller locks.
 */
#ifndef SLIPWAY_BUILDER_CLI_STAGE_TABLE_H
#define SLIPWAY_BUILDER_CLI_STAGE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"

struct stage_row {
	char *name, *state, *detail;
	int64_t began_ms, ended_ms; /* 0 = not yet */
};

struct stage_table {
	struct stage_row *at;
	size_t n, cap;
	char *awaited; /* of the row under way; NULL = nothing */
};
void stage_table_done(struct stage_table *t);

/* A stage's state: "pending" before it begins, "ready", "gone" or "failed" when it is over,
 * anything else under way. An empty detail keeps the one before. Moments are of any one clock. */
void stage_table_set(struct stage_table *t, const char *name, const char *state, const char *detail,
                     int64_t now_ms);

/* What the stage under way waits for. */
void stage_table_await(struct stage_table *t, const char *text);

/* Appends the rows, each at most `width` bytes and a newline; returns how many. */
unsigned stage_table_text(const struct stage_table *t, int64_t now_ms, size_t width,
                          struct strbuf *sb);

/* Forgets the rows that are over: they have been printed for good. */
void stage_table_forget(struct stage_table *t);

#endif
