/*
 * slipway schema: the form of slipway.yaml, for editors and for readers.
 */
#include <string.h>

#include "builder/cli/command.h"
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

static int cmd_schema_run(struct cli *cli, struct err *err UNUSED)
{
	const struct schema_options *o = cli->options;

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
	.summary = "Print the JSON Schema of slipway.yaml",
	.synopsis = "",
	.details = "Generated from the parser's own tables, so it is never out of date.\n",
	.examples = "slipway schema > slipway.schema.json\tFor an editor's YAML language server\n",
	.options = OPTION_TABLE(struct schema_options, options),
	.run = cmd_schema_run,
};
