/*
 * Completion scripts, one file per shell, made from the command and option tables.
 */
#ifndef SLIPWAY_BUILDER_CLI_COMPLETION_H
#define SLIPWAY_BUILDER_CLI_COMPLETION_H

#include "builder/cli/command.h"

/* The words that a command takes as its arguments: its choices, or the names of all commands;
 * NULL-terminated, in the arena. NULL = it has no such words. */
const char *const *completion_words(const struct command *c, struct arena *a);

/* Appends them, or any others, with a space after each. */
void completion_join(const char *const *words, struct strbuf *sb);

/* Appends the script of one shell. */
void completion_bash(struct strbuf *sb);
void completion_zsh(struct strbuf *sb);
void completion_fish(struct strbuf *sb);

#endif
