/*
 * Completion scripts, one file per shell, made from the command and option tables.
 */
#ifndef SLIPWAY_BUILDER_CLI_COMPLETION_H
#define SLIPWAY_BUILDER_CLI_COMPLETION_H

#include "builder/cli/command.h"

/* What a command's arguments may be. */
struct completion_arguments {
	const char *const *words; /* choices, NULL-terminated, in the arena; NULL = it has none */
	bool once;                /* the first argument is one of them, what follows are files */
	bool files;               /* there are no words, and arguments are files */
};
struct completion_arguments completion_arguments(const struct command *c, struct arena *a);

/* Appends words with `between` after each but the last. */
void completion_join(const char *const *words, const char *between, struct strbuf *sb);

/* Calls `add` for every option of a command, those of all commands the last. */
void completion_options(const struct command *c, struct strbuf *sb,
                        void (*add)(const struct command *c, const struct option *o,
                                    struct strbuf *sb));

/* Appends the script of one shell. */
void completion_bash(struct strbuf *sb);
void completion_zsh(struct strbuf *sb);
void completion_fish(struct strbuf *sb);

#endif
