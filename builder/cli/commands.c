#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "builder/cli/command.h"

extern const struct command cmd_init, cmd_build, cmd_push, cmd_copy, cmd_sign, cmd_inspect,
	cmd_verify, cmd_diff, cmd_sbom, cmd_scan, cmd_iam, cmd_schema, cmd_render, cmd_explain,
	cmd_instances, cmd_diagram, cmd_nettest, cmd_neff, cmd_deploy, cmd_rollback, cmd_undeploy,
	cmd_status, cmd_logs, cmd_rbac, cmd_index, cmd_pipeline, cmd_doctor, cmd_completion,
	cmd_version, cmd_help;

const struct command *const commands[] = {
	&cmd_init,   &cmd_build,    &cmd_push,      &cmd_copy,       &cmd_sign,    &cmd_inspect,
	&cmd_verify, &cmd_diff,     &cmd_sbom,      &cmd_scan,       &cmd_iam,     &cmd_schema,
	&cmd_render, &cmd_explain,  &cmd_instances, &cmd_diagram,    &cmd_nettest, &cmd_neff,
	&cmd_deploy, &cmd_rollback, &cmd_undeploy,  &cmd_status,     &cmd_logs,    &cmd_rbac,
	&cmd_index,  &cmd_pipeline, &cmd_doctor,    &cmd_completion, &cmd_version, &cmd_help,
	NULL,
};

static const char *const output_choices[] = {"text", "json", NULL};
static const char *const progress_choices[] = {"auto", "tty", "plain", "json", "none", NULL};

static const struct option options[] = {
	FLAG_OPTION(struct common_options, help, "help", 'h', "Show this help and exit"),
	TEXT_OPTION(struct common_options, output, "output", 0, "text|json",
                    "Format of the result on standard output", .fallback = "text",
                    .complete = COMPLETE_CHOICES, .choices = output_choices),
	TEXT_OPTION(struct common_options, progress, "progress", 0, "auto|tty|plain|json|none",
                    "How progress is shown on standard error", .fallback = "auto",
                    .complete = COMPLETE_CHOICES, .choices = progress_choices),
	FLAG_OPTION(struct common_options, quiet, "quiet", 'q',
                    "Show results and errors alone: no progress, no warnings, no notes"),
	FLAG_OPTION(struct common_options, verbose, "verbose", 'v',
                    "Show each request to a server and each call of kubectl too"),
};
const struct option_table common_options = OPTION_TABLE(struct common_options, options);

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i] != NULL; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

const char *command_nearest(const char *name)
{
	const char *names[ARRAY_LEN(commands) - 1];

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		names[i] = commands[i]->name;
	return text_nearest(name, names, ARRAY_LEN(names));
}
