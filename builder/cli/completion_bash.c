#include "builder/cli/completion.h"

/*
 * bash breaks words at '=' too, so that "--progress=pl" comes as three: the option then stands
 * before the '='. Only names of files get a '/' or quotes from bash: a command may be called as a
 * folder is.
 */
static const char head[] = "# bash completion for slipway: source <(slipway completion bash)\n"
			   "_slipway_files() {\n"
			   "\tcompopt -o filenames\n"
			   "\tmapfile -t COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n"
			   "}\n"
			   "_slipway_words() {\n"
			   "\tmapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
			   "}\n";

static const char entry[] =
	"_slipway() {\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	"\tCOMPREPLY=()\n"
	"\tif [[ $cur == = ]]; then\n\t\tcur=\n"
	"\telif [[ $prev == = ]]; then\n\t\tprev=${COMP_WORDS[COMP_CWORD-2]}\n\tfi\n";

static void add_name(const struct command *c, const struct option *o, struct strbuf *sb)
{
	(void)c;
	strbuf_addf(sb, "--%s ", o->name);
}

/* "	--progress) _slipway_words ...; return;;" for an option with a value. */
static void add_value(const struct command *c, const struct option *o, struct strbuf *sb)
{
	(void)c;
	if (o->kind == OPTION_FLAG)
		return;
	strbuf_addf(sb, "\t--%s", o->name);
	if (o->letter != 0)
		strbuf_addf(sb, "|-%c", o->letter);
	strbuf_adds(sb, ") ");
	if (o->complete == COMPLETE_CHOICES) {
		strbuf_adds(sb, "_slipway_words \"");
		completion_join(o->choices, " ", sb);
		strbuf_adds(sb, "\"; ");
	} else if (o->complete != COMPLETE_NONE) {
		strbuf_addf(sb, "_slipway_files -%c; ", o->complete == COMPLETE_DIR ? 'd' : 'f');
	}
	strbuf_adds(sb, "return;;\n");
}

/* Words; once one of them stands there, files where these follow. */
static void add_arguments(const struct command *c, struct arena *a, struct strbuf *sb)
{
	const struct completion_arguments args = completion_arguments(c, a);

	if (args.once) {
		strbuf_adds(sb, "\telif [[ \" ${COMP_WORDS[*]:2:COMP_CWORD-2} \" =~ \\ (");
		completion_join(args.words, "|", sb);
		strbuf_adds(sb, ")\\  ]]; then\n\t\t_slipway_files -f\n");
	}
	if (args.words != NULL) {
		strbuf_adds(sb, "\telse\n\t\t_slipway_words \"");
		completion_join(args.words, " ", sb);
		strbuf_adds(sb, "\"\n");
	} else if (args.files) {
		strbuf_adds(sb, "\telse\n\t\t_slipway_files -f\n");
	}
}

static void add_command(const struct command *c, struct arena *a, struct strbuf *sb)
{
	strbuf_addf(sb, "_slipway_%s() {\n\tcase \"$prev\" in\n", c->name);
	completion_options(c, sb, add_value);
	strbuf_adds(sb, "\tesac\n\tif [[ $cur == -* ]]; then\n\t\t_slipway_words \"");
	completion_options(c, sb, add_name);
	strbuf_adds(sb, "\"\n");
	add_arguments(c, a, sb);
	strbuf_adds(sb, "\tfi\n}\n");
}

void completion_bash(struct strbuf *sb)
{
	AUTO(arena) struct arena a = {0};

	strbuf_adds(sb, head);
	for (size_t i = 0; commands[i] != NULL; i++)
		add_command(commands[i], &a, sb);
	strbuf_adds(sb, entry);
	strbuf_adds(sb, "\tif ((COMP_CWORD == 1)); then\n\t\t_slipway_words \"");
	for (size_t i = 0; commands[i] != NULL; i++)
		strbuf_addf(sb, "%s ", commands[i]->name);
	strbuf_adds(sb, "--help --version\"\n\t\treturn\n\tfi\n\tcase \"${COMP_WORDS[1]}\" in\n");
	for (size_t i = 0; commands[i] != NULL; i++)
		strbuf_addf(sb, "\t%s) _slipway_%s;;\n", commands[i]->name, commands[i]->name);
	strbuf_adds(sb, "\tesac\n}\ncomplete -F _slipway slipway\n");
}
