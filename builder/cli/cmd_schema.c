/*
 * slipway schema: the form of slipway.yaml, for editors and for readers.
 */
#include <string.h>

#include "builder/cli/command.h"
#include "builder/cli/output_schema.h"
#include "builder/spec/spec.h"

static const char *const format_choices[] = {"json", "markdown", NULL};

struct schema_options {
	const char *format;
};

static const struct option options[] = {
	TEXT_OPTION(struct schema_options, format, "format", 0, "json|markdown",
                    "Print a JSON Schema, or a reference in Markdown", .fallback = "json",
                    .complete = COMPLETE_CHOICES, .choices = format_choices),
};

static int print_output_schema(struct cli *cli, const char *command, struct err *err)
{
	AUTO(json) cJSON *doc = output_schema(command);

	if (doc == NULL) {
		AUTO(strbuf) struct strbuf all = STRBUF_INIT(1024);

		for (size_t i = 0; output_commands[i] != NULL; i++)
			strbuf_addf(&all, "%s%s", i > 0 ? ", " : "", output_commands[i]);
		err_set(err, ERR_USAGE, "there is no schema for the output of '%s'", command);
		return err_hint(err, "these commands have one: %s", strbuf_str(&all));
	}
	cli_print_json(cli, doc);
	return 0;
}

static int cmd_schema_run(struct cli *cli, struct err *err)
{
	const struct schema_options *o = cli->options;

	if (cli->args.n == 1)
		return print_output_schema(cli, cli->args.at[0], err);
	if (strcmp(o->format, "markdown") == 0) {
		AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

		schema_markdown(&text);
		fputs(strbuf_str(&text), cli->out);
		return 0;
	}
	AUTO(json) cJSON *doc = schema_json();

	cli_print_json(cli, doc);
	return 0;
}

const struct command cmd_schema = {
	.name = "schema",
	.summary = "Print the JSON Schema of slipway.yaml, or of a command's JSON output",
	.synopsis = "[COMMAND]",
	.details =
		"Generated from the parser's own tables, so it is never out of date. With the "
		"name of a command:\nthe schema of what that command prints with --output json.\n",
	.examples = "slipway schema > slipway.schema.json\tFor an editor's YAML language server\n"
		    "slipway schema build\tWhat `slipway build --output json` prints\n",
	.options = OPTION_TABLE(struct schema_options, options),
	.max_args = 1,
	.arg_choices = output_commands,
	.run = cmd_schema_run,
};
