#include "builder/cli/completion.h"

/* fish's own functions look for a command among all words; `slipway neff push` is no push. */
static const char head[] =
	"# fish completion for slipway: slipway completion fish | source\n"
	"function __slipway_is\n\tset -l words (commandline -opc)\n"
	"\ttest (count $words) -gt 1; and test $words[2] = $argv[1]\nend\n"
	"function __slipway_has\n\tset -l words (commandline -opc)\n"
	"\tfor word in $words[3..-1]\n\t\tcontains -- $word $argv; and return 0\n\tend\n"
	"\treturn 1\nend\n"
	"function __slipway_is_bare\n\ttest (count (commandline -opc)) -eq 1\nend\n";

static void add_text(const char *text, struct strbuf *sb)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'' || *text == '\\')
			strbuf_addc(sb, '\\');
		strbuf_addc(sb, *text);
	}
}

static void add_option(const struct command *c, const struct option *o, struct strbuf *sb)
{
	strbuf_addf(sb, "complete -c slipway -n '__slipway_is %s' -l %s", c->name, o->name);
	if (o->letter != 0)
		strbuf_addf(sb, " -s %c", o->letter);
	if (o->complete == COMPLETE_CHOICES) {
		strbuf_adds(sb, " -x -a '");
		completion_join(o->choices, " ", sb);
		strbuf_addc(sb, '\'');
	} else if (o->complete == COMPLETE_DIR) {
		strbuf_adds(sb, " -x -a '(__fish_complete_directories)'");
	} else if (o->kind != OPTION_FLAG) {
		strbuf_adds(sb, o->complete == COMPLETE_FILE ? " -r -F" : " -x");
	}
	strbuf_adds(sb, " -d '");
	add_text(o->help, sb);
	strbuf_adds(sb, "'\n");
}

/* Files are what fish offers by itself. */
static void add_arguments(const struct command *c, struct arena *a, struct strbuf *sb)
{
	const struct completion_arguments args = completion_arguments(c, a);

	if (args.files)
		return;
	strbuf_addf(sb, "complete -c slipway -n '__slipway_is %s", c->name);
	if (args.once) {
		strbuf_adds(sb, "; and not __slipway_has ");
		completion_join(args.words, " ", sb);
	}
	strbuf_adds(sb, "' -f");
	if (args.words != NULL) {
		strbuf_adds(sb, " -a '");
		completion_join(args.words, " ", sb);
		strbuf_addc(sb, '\'');
	}
	strbuf_addc(sb, '\n');
}

void completion_fish(struct strbuf *sb)
{
	AUTO(arena) struct arena a = {0};

	strbuf_adds(sb, head);
	for (size_t i = 0; commands[i] != NULL; i++) {
		const struct command *c = commands[i];

		strbuf_addf(sb, "complete -c slipway -f -n '__slipway_is_bare' -a %s -d '",
		            c->name);
		add_text(c->summary, sb);
		strbuf_adds(sb, "'\n");
		completion_options(c, sb, add_option);
		add_arguments(c, &a, sb);
	}
}
