/*
 * slipway help: the program's help, a command's help, or either as a man page.
 */
#include "builder/cli/command.h"

struct help_options {
	bool man;
};

static const struct option options[] = {
	FLAG_OPTION(struct help_options, man, "man", 0, "Print a man page (troff) instead"),
};

static int cmd_help_run(struct cli *cli, struct err *err)
{
	const struct help_options *o = cli->options;
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	const struct command *command = NULL;

	if (cli->args.n == 1) {
		command = command_find(cli->args.at[0]);
		if (command == NULL)
			return err_set(err, ERR_USAGE, "unknown command '%s'", cli->args.at[0]);
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
	.synopsis = "[COMMAND]",
	.options = OPTION_TABLE(struct help_options, options),
	.max_args = 1,
	.run = cmd_help_run,
};
