/*
 * What a person or a CI log sees of long work: live bars with rates on a terminal, plain lines
 * elsewhere, JSON lines for programs, or nothing. Thread-safe.
 */
#ifndef SLIPWAY_BUILDER_CLI_PROGRESS_VIEW_H
#define SLIPWAY_BUILDER_CLI_PROGRESS_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "base/progress.h"

struct progress_view; /* opaque */

/* mode: auto, tty, plain, json or none; auto = tty when `to` is a terminal, else plain.
 * verbose: details are shown too. */
struct progress_view *progress_view_new(const char *mode, bool verbose, FILE *to);

/* The interface that libraries report to; NULL for mode none. */
struct progress *progress_view_progress(struct progress_view *view);

/* Is it redrawn in place? */
bool progress_view_live(const struct progress_view *view);

/* Ends the display (bars of unfinished tasks are removed, a table of stages stays) and frees it;
 * accepts NULL. */
void progress_view_free(struct progress_view *view);

/* True when colours are wanted: a terminal, TERM is not dumb, NO_COLOR is unset or empty. */
bool progress_colour(FILE *to);

#endif
