#include <string.h>

#include "base/attr.h"
#include "builder/cli/command.h"

const struct command *const commands[] = {
	&cmd_build,    &cmd_push,   &cmd_inspect,    &cmd_verify,  &cmd_diff,      &cmd_scan,
	&cmd_iam,      &cmd_schema, &cmd_render,     &cmd_explain, &cmd_instances, &cmd_diagram,
	&cmd_nettest,  &cmd_deploy, &cmd_undeploy,   &cmd_status,  &cmd_logs,      &cmd_index,
	&cmd_pipeline, &cmd_doctor, &cmd_completion, &cmd_version, &cmd_help,      NULL,
};

static const char *const output_choices[] = {"text", "json", NULL};
static const char *const progress_choices[] = {"auto", "tty", "plain", "json", "none", NULL};

const struct option common_options[] = {
	FLAG_OPTION("help", 'h', help, "Show this help and exit"),
	TEXT_OPTION("output", 0, output, "text|json", "Form of the result on standard output",
                    .fallback = "text", .complete = COMPLETE_CHOICES, .choices = output_choices),
	TEXT_OPTION("progress", 0, progress, "auto|tty|plain|json|none",
                    "How progress is shown on standard error", .fallback = "auto",
                    .complete = COMPLETE_CHOICES, .choices = progress_choices),
};
const size_t n_common_options = ARRAY_LEN(common_options);

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i] != NULL; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}
