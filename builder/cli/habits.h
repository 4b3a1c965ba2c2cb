/*
 * The commands and options of other tools that people type here at first.
 */
#ifndef SLIPWAY_BUILDER_CLI_HABITS_H
#define SLIPWAY_BUILDER_CLI_HABITS_H

/* What to write here in place of a command ("login") or an option ("--build-arg") of another tool;
 * NULL for one that the table does not have. */
const char *habit_of(const char *word);

#endif
