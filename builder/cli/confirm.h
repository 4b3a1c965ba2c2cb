/*
 * A question on the terminal, for what cannot be undone.
 */
#ifndef SLIPWAY_BUILDER_CLI_CONFIRM_H
#define SLIPWAY_BUILDER_CLI_CONFIRM_H

#include "builder/cli/command.h"

/*
 * Shows `text` (lines) and asks `question`; true for y or yes. Where nobody can answer, because
 * standard input or standard error is not a terminal, nothing is asked and `unasked` is returned.
 */
bool confirm(struct cli *cli, const char *text, const char *question, bool unasked);

#endif
