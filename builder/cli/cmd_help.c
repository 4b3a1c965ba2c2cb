/*
 * slipway help: the program's help, a command's help, or either as a man page.
 */
#include <string.h>

#include "builder/cli/command.h"
#include "builder/cli/environment.h"

struct help_options {
	bool man;
};

static const struct option options[] = {
	FLAG_OPTION(struct help_options, man, "man", 0, "Print a man page (troff) instead"),
};

static int unknown_command(const char *name, struct err *err)
{
	const char *near = command_nearest(name);

	err_set(err, ERR_USAGE, "unknown command '%s'", name);
	return near != NULL ? err_hint(err, "did you mean `slipway help %s`?", near)
	                    : err_hint(err, "`slipway help` lists the commands");
}

static int cmd_help_run(struct cli *cli, struct err *err)
{
	const struct help_options *o = cli->options;
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	const struct command *command = NULL;

	if (cli->args.n == 1 && strcmp(cli->args.at[0], "environment") == 0) {
		environment_markdown(&text);
		fputs(strbuf_str(&text), cli->out);
		return 0;
	}
	if (cli->args.n == 1) {
		command = command_find(cli->args.at[0]);
		if (command == NULL)
			return unknown_command(cli->args.at[0], err);
	}
	if (o->man)
		help_man(command, &text);
	else if (command != NULL)
		help_command(command, &text);
	else
		help_program(&text);
	fputs(strbuf_str(&text), cli->out);
	return 0;
}

const struct command cmd_help = {
	.name = "help",
	.summary = "Explain slipway or one of its commands",
	.synopsis = "[COMMAND|environment]",
	.details = "`slipway help environment` lists the environment variables that are read.\n",
	.options = OPTION_TABLE(struct help_options, options),
	.max_args = 1,
	.arg_commands = true,
	.run = cmd_help_run,
};
