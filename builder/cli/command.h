/*
 * The commands of slipway: a table row each, and what a running command is given.
 * Adding a command: write cmd_NAME.c with one `const struct command cmd_NAME`, and list it in
 * commands.c; help, man pages, completions and the Makefile follow from that list.
 */
#ifndef SLIPWAY_BUILDER_CLI_COMMAND_H
#define SLIPWAY_BUILDER_CLI_COMMAND_H

#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/doc/json.h"
#include "base/progress.h"
#include "builder/cli/exit_status.h"
#include "builder/cli/option.h"

/* What every command takes. */
struct common_options {
	bool help, quiet, verbose;
	const char *output, *progress;
};

struct cli {
	const struct command *command;
	struct common_options common;
	const void *options;       /* the command's own struct, as its option table says */
	struct strlist args;       /* positional arguments, an action's name the first */
	size_t action;             /* the row of the command's actions that was asked for */
	struct arena arena;        /* lives as long as the command */
	struct diags diags;        /* printed by main after the command, before its error */
	struct progress *progress; /* NULL = silent */
	FILE *out;                 /* results, as text that drives no terminal (terminal.h) */
	FILE *bytes;               /* standard output for exact bytes; `out` if it is a terminal */
	bool json_printed;         /* a JSON document went to `out` */
	int out_errno;             /* why `out` could not be written, 0 = it could */
	bool live;                 /* progress is redrawn on the terminal that `out` is too */
	enum exit_status verdict;  /* of a command that went well and found something to say */
};

/* One of the things that a command does, as its first argument says: `neff push DIR REF`. */
struct command_action {
	const char *name;
	const char *arguments;     /* what follows, as the usage has it; "" = nothing */
	size_t min_args, max_args; /* how many that are */
};

struct command {
	const char *name;
	const char *summary;  /* one line, no full stop */
	const char *synopsis; /* positional arguments: "[DIR]", "REF", "A B"; NULL with actions */
	const char *details;  /* paragraphs for --help and the man page */
	const char *examples; /* lines "command\tmeaning\n" */
	struct option_table options;
	const struct command_action *actions; /* end with a row without a name; NULL = none */
	size_t min_args, max_args;            /* without actions */
	bool hidden;                          /* not listed in help */
	const char *const *arg_choices;       /* completion of the first argument, NULL = files */
	bool arg_commands;                    /* its arguments are names of commands */
	int (*run)(struct cli *cli, struct err *err);
};

/* Every command, NULL-terminated, in the order of `slipway help`. */
extern const struct command *const commands[];

/* Options that every command takes: --help, --output, --progress, --quiet, --verbose. */
extern const struct option_table common_options;

/* The row of a name, or NULL. */
const struct command *command_find(const char *name);

/* The name most like this one, or NULL. */
const char *command_nearest(const char *name);

/* Appends what follows the command in its usage: its synopsis, or its actions side by side. */
void command_synopsis(const struct command *c, struct strbuf *sb);

/* Are the arguments as many as they have to be? Sets cli->action. ERR_USAGE. */
int command_check_arguments(struct cli *cli, struct err *err) MUST_USE;

/* `--output json` was asked for. */
bool cli_json(const struct cli *cli);

/* Prints a JSON document (indented) to cli->out. */
void cli_print_json(struct cli *cli, const cJSON *doc);

/* Appends help of the program, of one command, or a man page (troff). */
void help_program(struct strbuf *sb);
void help_command(const struct command *c, struct strbuf *sb);
void help_man(const struct command *c, struct strbuf *sb); /* c NULL: slipway(1) */

/* Appends a completion script; ERR_USAGE for a shell we do not know. */
int completion_script(const char *shell, struct strbuf *sb, struct err *err) MUST_USE;

#endif
