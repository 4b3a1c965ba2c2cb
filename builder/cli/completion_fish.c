#include "builder/cli/completion.h"

static void add_text(const char *text, struct strbuf *sb)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'' || *text == '\\')
			strbuf_addc(sb, '\\');
		strbuf_addc(sb, *text);
	}
}

/* A row for what follows `slipway COMMAND`. */
static void add_row(const char *command, struct strbuf *sb)
{
	strbuf_addf(sb, "complete -c slipway -n '__fish_seen_subcommand_from %s'", command);
}

static void add_options(const char *command, const struct option_table *table, struct strbuf *sb)
{
	for (const struct option *o = table->at; o < table->at + table->n; o++) {
		add_row(command, sb);
		strbuf_addf(sb, " -l %s", o->name);
		if (o->letter != 0)
			strbuf_addf(sb, " -s %c", o->letter);
		if (o->complete == COMPLETE_CHOICES) {
			strbuf_adds(sb, " -x -a '");
			completion_join(o->choices, sb);
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
}

static void add_arguments(const struct command *c, struct arena *a, struct strbuf *sb)
{
	const char *const *words = completion_words(c, a);

	if (words == NULL && c->max_args > 0)
		return;
	add_row(c->name, sb);
	strbuf_adds(sb, " -f");
	if (words != NULL) {
		strbuf_adds(sb, " -a '");
		completion_join(words, sb);
		strbuf_addc(sb, '\'');
	}
	strbuf_addc(sb, '\n');
}

void completion_fish(struct strbuf *sb)
{
	AUTO(arena) struct arena a = {0};

	strbuf_adds(sb, "# fish completion for slipway: slipway completion fish | source\n");
	for (size_t i = 0; commands[i] != NULL; i++) {
		const struct command *c = commands[i];

		strbuf_addf(sb, "complete -c slipway -f -n '__fish_use_subcommand' -a %s -d '",
		            c->name);
		add_text(c->summary, sb);
		strbuf_adds(sb, "'\n");
		add_options(c->name, &c->options, sb);
		add_options(c->name, &common_options, sb);
		add_arguments(c, &a, sb);
	}
}
