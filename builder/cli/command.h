/*
 * The commands of slipway: a table row each, and what a running command is given.
 * Adding a command: write cmd_NAME.c with one `const struct command`, and list it in commands.c.
 */
#ifndef SLIPWAY_BUILDER_CLI_COMMAND_H
#define SLIPWAY_BUILDER_CLI_COMMAND_H

#include <stdio.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/doc/json.h"
#include "base/progress.h"
#include "builder/cli/option.h"

/* Exit statuses (design: stable, scripts switch on them). */
enum exit_status {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_REFUSED = 3,  /* the spec is wrong, or the image check refused the image */
	EXIT_DENIED = 4,   /* the server refused: credentials or permission */
	EXIT_NETWORK = 5,  /* network trouble, worth a retry */
	EXIT_CAPACITY = 6, /* no target of the fleet has machines for the job */
	EXIT_BUSY = 7,     /* another deploy or undeploy is at work on the fleet */
	EXIT_JOB = 8,      /* the job has failed */
	EXIT_WAITING = 9,  /* status: something is deployed, the job does not run yet */
	EXIT_ABSENT = 10,  /* status: nothing is deployed */
	EXIT_UNKNOWN = 11  /* deploy --diff, where 1 means differences: what is 1 elsewhere */
};

struct cli {
	const struct command *command;
	struct options options;
	struct strlist args;       /* positional arguments */
	struct arena arena;        /* lives as long as the command */
	struct diags diags;        /* printed by main after the command, before its error */
	struct progress *progress; /* NULL = silent */
	FILE *out;                 /* results */
	bool json_printed;         /* a JSON document went to `out` */
	bool live;                 /* progress is redrawn on the terminal that `out` is too */
	enum exit_status verdict;  /* of a command that went well and found something to say */
};

struct command {
	const char *name;
	const char *summary;  /* one line, no full stop */
	const char *synopsis; /* positional arguments: "[DIR]", "REF", "A B" */
	const char *details;  /* paragraphs for --help and the man page */
	const char *examples; /* lines "command\tmeaning\n" */
	const struct option *options;
	size_t n_options;
	size_t min_args, max_args;
	bool hidden;                    /* not listed in help */
	const char *const *arg_choices; /* completion of the first argument, NULL = files */
	int (*run)(struct cli *cli, struct err *err);
};

/* Every command, NULL-terminated, in the order of `slipway help`. */
extern const struct command *const commands[];

/* Options that every command takes: --help, --output, --progress. */
extern const struct option common_options[];
extern const size_t n_common_options;

/* The row of a name, or NULL. */
const struct command *command_find(const char *name);

/* `--output json` was asked for. */
bool cli_json(const struct cli *cli);

/* Prints a JSON document (indented) to cli->out. */
void cli_print_json(struct cli *cli, const cJSON *doc);

enum exit_status cli_exit_status(const struct err *err);

/* Appends help of the program, of one command, or a man page (troff). */
void help_program(struct strbuf *sb);
void help_command(const struct command *c, struct strbuf *sb);
void help_man(const struct command *c, struct strbuf *sb); /* c NULL: slipway(1) */

/* Appends a completion script; ERR_USAGE for a shell we do not know. */
int completion_script(const char *shell, struct strbuf *sb, struct err *err) MUST_USE;

extern const struct command cmd_build, cmd_push, cmd_index, cmd_inspect, cmd_verify, cmd_diff,
	cmd_scan, cmd_iam, cmd_schema, cmd_doctor, cmd_completion, cmd_version, cmd_help;
extern const struct command cmd_render, cmd_explain, cmd_instances, cmd_diagram, cmd_nettest,
	cmd_pipeline;
extern const struct command cmd_deploy, cmd_undeploy, cmd_status, cmd_logs;

#endif
