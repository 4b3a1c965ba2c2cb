/*
 * slipway completion: tab completion for a shell.
 */
#include "builder/cli/command.h"

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

static int cmd_completion_run(struct cli *cli, struct err *err)
{
	AUTO(strbuf) struct strbuf script = STRBUF_INIT(0);

	if (completion_script(cli->args.at[0], &script, err) != 0)
		return -1;
	fputs(strbuf_str(&script), cli->out);
	return 0;
}

const struct command cmd_completion = {
	.name = "completion",
	.summary = "Print a tab completion script",
	.synopsis = "bash|zsh|fish",
	.examples = "source <(slipway completion bash)\tEnable completion in this bash\n",
	.min_args = 1,
	.max_args = 1,
	.arg_choices = shells,
	.run = cmd_completion_run,
};
