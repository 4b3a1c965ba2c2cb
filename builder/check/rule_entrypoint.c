/* The program that the image starts: followed as far as the kernel goes (start.h). */
#include <string.h>

#include "builder/check/start.h"

/* The entrypoint with the default arguments behind it; without an entrypoint these alone. */
static struct strlist command_line(const struct check_image *image)
{
	const struct strlist *entrypoint = &image->config.entrypoint, *cmd = &image->config.cmd;
	struct strlist all = {
		arena_calloc(image->run->arena, entrypoint->n + cmd->n + 1, sizeof(*all.at)), 0};

	for (size_t i = 0; i < entrypoint->n; i++)
		all.at[all.n++] = entrypoint->at[i];
	for (size_t i = 0; i < cmd->n; i++)
		all.at[all.n++] = cmd->at[i];
	return all;
}

static void report_no_entrypoint(struct check_image *image)
{
	struct diag *diag;

	if (image->run->opts->program_elsewhere)
		return;
	diag = rule_report(image, RULE_NO_ENTRYPOINT, NO_PLACE,
	                   "has neither an entrypoint nor a command: whoever runs it must name "
	                   "the program");
	rule_at(diag, image->run->opts->at.image);
	rule_hint(image, diag,
	          "set `entrypoint:`, or turn the rule off for what is only a base of others");
}

static bool mark(struct check_image *image, const char *path)
{
	struct view_node *n = view_find(&image->view, path, true);

	if (n != NULL)
		n->marks |= MARK_STARTED;
	return n != NULL;
}

/* What is started instead of the entrypoint. A volume may bring it: its absence is no problem. */
static void mark_program(struct check_image *image)
{
	const char *name = image->run->opts->program;
	struct strlist folders;

	if (name == NULL)
		return;
	folders = rule_search_path(image);
	if (strchr(name, '/') != NULL) {
		mark(image, name);
		return;
	}
	for (size_t i = 0; i < folders.n; i++)
		if (mark(image, arena_printf(image->run->arena, "%s/%s", folders.at[i], name)))
			return;
}

void rule_check_entrypoint(struct check_image *image)
{
	const struct check_at *at = &image->run->opts->at;
	const struct strlist args = command_line(image);
	struct starter s;

	mark_program(image);
	if (!image->has_config)
		return;
	if (args.n == 0) {
		report_no_entrypoint(image);
		return;
	}
	s = start_init(image, image->config.entrypoint.n > 0 ? at->entrypoint : at->cmd);
	start_command_line(&s, &args, "the program to start");
	if (s.n_steps > START_STEPS_MAX)
		start_problem(&s, NULL,
		              "what the program takes lies behind links that pass more than %d "
		              "folders: not all was looked at",
		              START_STEPS_MAX);
	if (s.linkage_exhausted)
		start_problem(
			&s, NULL,
			"the programs that it starts need too many libraries: the user's right "
			"to read them was not checked for all");
}
