/*
 * The arguments of a command: how many there are, and which of its actions the first one names.
 */
#include <string.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "builder/cli/command.h"

enum { USAGE_MAX = 4096 };

static void add_action(const struct command_action *a, struct strbuf *sb)
{
	strbuf_addf(sb, "%s%s%s", a->name, a->arguments[0] != '\0' ? " " : "", a->arguments);
}

void command_synopsis(const struct command *c, struct strbuf *sb)
{
	if (c->actions == NULL) {
		strbuf_adds(sb, c->synopsis);
		return;
	}
	for (const struct command_action *a = c->actions; a->name != NULL; a++) {
		strbuf_adds(sb, a > c->actions ? " | " : "");
		add_action(a, sb);
	}
}

static int wrong_number(const struct command *c, const struct command_action *a, bool few,
                        struct err *err)
{
	AUTO(strbuf) struct strbuf usage = STRBUF_INIT(USAGE_MAX);

	if (a != NULL)
		add_action(a, &usage);
	else
		command_synopsis(c, &usage);
	err_set(err, ERR_USAGE, "%s arguments", few ? "missing" : "too many");
	return err_hint(err, "usage: slipway %s [OPTIONS]%s%s", c->name, usage.len > 0 ? " " : "",
	                strbuf_str(&usage));
}

static int unknown_action(struct cli *cli, size_t n, struct err *err)
{
	AUTO(strbuf) struct strbuf all = STRBUF_INIT(USAGE_MAX);
	const struct command *c = cli->command;
	const char **names = arena_calloc(&cli->arena, n, sizeof(*names));

	for (size_t i = 0; i < n; i++) {
		names[i] = c->actions[i].name;
		strbuf_adds(&all, i == 0 ? "" : ", ");
		strbuf_addf(&all, "`slipway %s ", c->name);
		add_action(&c->actions[i], &all);
		strbuf_adds(&all, "`");
	}
	const char *near = text_nearest(cli->args.at[0], names, n);

	err_set(err, ERR_USAGE, "unknown command '%s %s'", c->name, cli->args.at[0]);
	return near != NULL ? err_hint(err, "did you mean `slipway %s %s`?", c->name, near)
	                    : err_hint(err, "write %s", strbuf_str(&all));
}

int command_check_arguments(struct cli *cli, struct err *err)
{
	const struct command *c = cli->command;
	size_t n = cli->args.n, i = 0;

	if (c->actions == NULL)
		return n >= c->min_args && n <= c->max_args
		               ? 0
		               : wrong_number(c, NULL, n < c->min_args, err);
	if (n == 0)
		return wrong_number(c, NULL, true, err);
	for (; c->actions[i].name != NULL; i++) {
		const struct command_action *a = &c->actions[i];

		if (strcmp(a->name, cli->args.at[0]) != 0)
			continue;
		cli->action = i;
		return n - 1 >= a->min_args && n - 1 <= a->max_args
		               ? 0
		               : wrong_number(c, a, n - 1 < a->min_args, err);
	}
	return unknown_action(cli, i, err);
}
