/*
 * What commands print on standard output. Names, annotations, logs and messages come from images,
 * registries and clusters of other people: nothing of them may drive the terminal.
 */
#ifndef SLIPWAY_BUILDER_CLI_TERMINAL_H
#define SLIPWAY_BUILDER_CLI_TERMINAL_H

#include <stdio.h>

/*
 * A stream of text before `to`: what is written there reaches `to` with every control character but
 * newline and tab as '?' (text_filter). It is flushed with fflush, and closed by the caller, which
 * leaves `to` open. NULL when there is no memory. *ret_errno, which may be NULL and outlives the
 * stream, says why `to` could not be written; stdio itself forgets it.
 */
FILE *terminal_filter(FILE *to, int *ret_errno);

/* Our own control sequence, written to `to` after what stands in the filter before it. */
void terminal_control(FILE *filter, FILE *to, const char *sequence);

#endif
