#include <string.h>

#include "builder/cli/completion.h"

/* The last lines serve both ways in: sourced, the function is bound to the command; found by
 * zsh's own search, this file is the function's first call. */
static const char tail[] = "\tesac\n}\n"
			   "if [[ $funcstack[1] == _slipway ]]; then\n\t_slipway \"$@\"\n"
			   "else\n\tcompdef _slipway slipway\nfi\n";

/* Text inside single quotes, with what _arguments reads as its own made plain. */
static void add_text(const char *text, struct strbuf *sb)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			strbuf_adds(sb, "'\\''");
		else if (strchr("[]:\\", *text) != NULL)
			strbuf_addf(sb, "\\%c", *text);
		else
			strbuf_addc(sb, *text);
	}
}

/* "[help]:METAVAR:what follows" */
static void add_meaning(const struct option *o, struct strbuf *sb)
{
	strbuf_addc(sb, '[');
	add_text(o->help, sb);
	strbuf_addc(sb, ']');
	if (o->kind == OPTION_FLAG)
		return;
	strbuf_addc(sb, ':');
	add_text(o->metavar, sb);
	strbuf_addc(sb, ':');
	if (o->complete == COMPLETE_CHOICES) {
		strbuf_addc(sb, '(');
		completion_join(o->choices, " ", sb);
		strbuf_addc(sb, ')');
	} else if (o->complete != COMPLETE_NONE) {
		strbuf_adds(sb, o->complete == COMPLETE_DIR ? "_files -/" : "_files");
	}
}

static void add_option(const struct command *c, const struct option *o, struct strbuf *sb)
{
	const char *often = o->kind == OPTION_LIST ? "*" : "";

	(void)c;
	strbuf_addf(sb, "\t\t'%s--%s%s", often, o->name, o->kind == OPTION_FLAG ? "" : "=");
	add_meaning(o, sb);
	strbuf_adds(sb, "' \\\n");
	if (o->letter == 0)
		return;
	strbuf_addf(sb, "\t\t'%s-%c%s", often, o->letter, o->kind == OPTION_FLAG ? "" : "+");
	add_meaning(o, sb);
	strbuf_adds(sb, "' \\\n");
}

static void add_command(const struct command *c, struct arena *a, struct strbuf *sb)
{
	const struct completion_arguments args = completion_arguments(c, a);

	strbuf_addf(sb, "\t%s) _arguments -s \\\n", c->name);
	completion_options(c, sb, add_option);
	strbuf_addf(sb, "\t\t'%s:argument:", args.once ? "1" : "*");
	if (args.words != NULL) {
		strbuf_addc(sb, '(');
		completion_join(args.words, " ", sb);
		strbuf_addc(sb, ')');
	} else if (args.files) {
		strbuf_adds(sb, "_files");
	}
	strbuf_adds(sb, args.once ? "' '*:argument:_files';;\n" : "';;\n");
}

void completion_zsh(struct strbuf *sb)
{
	AUTO(arena) struct arena a = {0};

	strbuf_adds(sb, "#compdef slipway\n_slipway() {\n\tif ((CURRENT == 2)); then\n\t\tlocal -a "
	                "names=(\n");
	for (size_t i = 0; commands[i] != NULL; i++) {
		strbuf_addf(sb, "\t\t\t'%s:", commands[i]->name);
		add_text(commands[i]->summary, sb);
		strbuf_adds(sb, "'\n");
	}
	strbuf_adds(sb, "\t\t)\n\t\t_describe command names\n\t\treturn\n\tfi\n"
	                "\tshift words\n\t((CURRENT--))\n\tcase ${words[1]} in\n");
	for (size_t i = 0; commands[i] != NULL; i++)
		add_command(commands[i], &a, sb);
	strbuf_adds(sb, tail);
}
