/*
 * Help texts and man pages, made from the command and option tables.
 */
#include <string.h>

#include "builder/cli/command.h"
#include "builder/cli/environment.h"

enum { SYNOPSIS_MAX = 4096 };

static void option_label(const struct option *o, struct strbuf *sb)
{
	if (o->letter != 0)
		strbuf_addf(sb, "-%c, ", o->letter);
	else
		strbuf_adds(sb, "    ");
	strbuf_addf(sb, "--%s", o->name);
	if (o->metavar != NULL)
		strbuf_addf(sb, " %s", o->metavar);
}

static void option_rows(const struct option_table *table, struct strbuf *sb)
{
	const struct option *rows = table->at;

	for (size_t i = 0; i < table->n; i++) {
		AUTO(strbuf) struct strbuf label = STRBUF_INIT(256);

		option_label(&rows[i], &label);
		strbuf_addf(sb, "  %-34s ", strbuf_str(&label));
		if (label.len > 34)
			strbuf_addf(sb, "\n  %-34s ", "");
		strbuf_adds(sb, rows[i].help);
		if (rows[i].fallback != NULL)
			strbuf_addf(sb, " (default %s)", rows[i].fallback);
		if (rows[i].kind == OPTION_LIST)
			strbuf_adds(sb, " (may be repeated)");
		strbuf_addc(sb, '\n');
	}
}

void help_program(struct strbuf *sb)
{
	strbuf_adds(sb,
	            "slipway builds and pushes reproducible multi-arch images from one spec.\n\n"
	            "Usage: slipway COMMAND [OPTIONS] [ARGUMENTS]\n\nCommands:\n");
	for (size_t i = 0; commands[i] != NULL; i++)
		if (!commands[i]->hidden)
			strbuf_addf(sb, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
	strbuf_adds(sb,
	            "\n`slipway COMMAND --help` explains a command, `slipway help environment` the "
	            "environment variables.\n\nExit status:\n");
	for (int i = 0; i < EXIT_STATUSES; i++)
		strbuf_addf(sb, "  %2d  %-9s %s\n", i, exit_statuses[i].name,
		            exit_statuses[i].meaning);
}

/* Lines "command\tmeaning\n". */
static void example_rows(const char *examples, struct strbuf *sb)
{
	while (*examples != '\0') {
		const char *tab = strchr(examples, '\t');
		const char *end = strchr(examples, '\n');

		if (tab == NULL || end == NULL || tab > end)
			BUG("example without tab or newline: %s", examples);
		strbuf_addf(sb, "  # %.*s\n  %.*s\n", (int)(end - tab - 1), tab + 1,
		            (int)(tab - examples), examples);
		examples = end + 1;
	}
}

void help_command(const struct command *c, struct strbuf *sb)
{
	AUTO(strbuf) struct strbuf synopsis = STRBUF_INIT(SYNOPSIS_MAX);

	command_synopsis(c, &synopsis);
	strbuf_addf(sb, "%s.\n\nUsage: slipway %s [OPTIONS]%s%s\n", c->summary, c->name,
	            synopsis.len > 0 ? " " : "", strbuf_str(&synopsis));
	if (c->details != NULL)
		strbuf_addf(sb, "\n%s", c->details);
	strbuf_adds(sb, "\nOptions:\n");
	option_rows(&c->options, sb);
	option_rows(&common_options, sb);
	if (c->examples != NULL) {
		strbuf_adds(sb, "\nExamples:\n");
		example_rows(c->examples, sb);
	}
}

/* Text for troff: backslashes, leading dots and quotes, and hyphens made plain. */
static void roff_text(const char *text, struct strbuf *sb)
{
	bool line_start = true;

	for (; *text != '\0'; text++) {
		if (line_start && (*text == '.' || *text == '\''))
			strbuf_adds(sb, "\\&");
		if (*text == '\\')
			strbuf_adds(sb, "\\e");
		else if (*text == '-')
			strbuf_adds(sb, "\\-");
		else
			strbuf_addc(sb, *text);
		line_start = *text == '\n';
	}
}

static void roff_options(const struct option_table *table, struct strbuf *sb)
{
	const struct option *rows = table->at;

	for (size_t i = 0; i < table->n; i++) {
		strbuf_adds(sb, ".TP\n.B ");
		if (rows[i].letter != 0)
			strbuf_addf(sb, "\\-%c, ", rows[i].letter);
		strbuf_adds(sb, "\\-\\-");
		roff_text(rows[i].name, sb);
		if (rows[i].metavar != NULL) {
			strbuf_adds(sb, " \\fI");
			roff_text(rows[i].metavar, sb);
			strbuf_adds(sb, "\\fR");
		}
		strbuf_addc(sb, '\n');
		roff_text(rows[i].help, sb);
		if (rows[i].fallback != NULL)
			strbuf_addf(sb, " (default %s)", rows[i].fallback);
		strbuf_addc(sb, '\n');
	}
}

static void man_program(struct strbuf *sb)
{
	strbuf_adds(sb,
	            ".TH SLIPWAY 1 \"\" \"slipway " SLIPWAY_VERSION "\" \"User Commands\"\n"
	            ".SH NAME\nslipway \\- build and push reproducible multi\\-arch images from "
	            "one spec\n"
	            ".SH SYNOPSIS\n.B slipway\n.I COMMAND\n[OPTIONS] [ARGUMENTS]\n.SH COMMANDS\n");
	for (size_t i = 0; commands[i] != NULL; i++) {
		if (commands[i]->hidden)
			continue;
		strbuf_addf(sb, ".TP\n.BR slipway\\-%s (1)\n", commands[i]->name);
		roff_text(commands[i]->summary, sb);
		strbuf_addc(sb, '\n');
	}
	strbuf_adds(sb, ".SH EXIT STATUS\n");
	for (int i = 0; i < EXIT_STATUSES; i++) {
		strbuf_addf(sb, ".TP\n.B %d\n%s: ", i, exit_statuses[i].name);
		roff_text(exit_statuses[i].meaning, sb);
		strbuf_addc(sb, '\n');
	}
	environment_man(sb);
}

void help_man(const struct command *c, struct strbuf *sb)
{
	if (c == NULL) {
		man_program(sb);
		return;
	}
	strbuf_addf(sb,
	            ".TH SLIPWAY\\-%s 1 \"\" \"slipway " SLIPWAY_VERSION "\" \"User Commands\"\n",
	            c->name);
	strbuf_addf(sb, ".SH NAME\nslipway\\-%s \\- ", c->name);
	roff_text(c->summary, sb);
	strbuf_addf(sb, "\n.SH SYNOPSIS\n.B slipway %s\n[OPTIONS] ", c->name);
	AUTO(strbuf) struct strbuf synopsis = STRBUF_INIT(SYNOPSIS_MAX);

	command_synopsis(c, &synopsis);
	roff_text(strbuf_str(&synopsis), sb);
	if (c->details != NULL) {
		strbuf_adds(sb, "\n.SH DESCRIPTION\n");
		roff_text(c->details, sb);
	}
	strbuf_adds(sb, "\n.SH OPTIONS\n");
	roff_options(&c->options, sb);
	roff_options(&common_options, sb);
	if (c->examples != NULL) {
		AUTO(strbuf) struct strbuf rows = STRBUF_INIT(16 << 10);

		example_rows(c->examples, &rows);
		strbuf_adds(sb, ".SH EXAMPLES\n.nf\n");
		roff_text(strbuf_str(&rows), sb);
		strbuf_adds(sb, ".fi\n");
	}
	strbuf_adds(sb, ".SH SEE ALSO\n.BR slipway (1)\n");
}
