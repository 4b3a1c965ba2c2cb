/*
 * Shell completion scripts, made from the command and option tables.
 */
#include <ctype.h>
#include <string.h>

#include "builder/cli/command.h"

static void bash_words(const struct option_table *table, struct strbuf *sb)
{
	const struct option *rows = table->at;

	for (size_t i = 0; i < table->n; i++)
		strbuf_addf(sb, "--%s ", rows[i].name);
}

/* "--progress) COMPREPLY=(...)" rows for options with values. */
static void bash_values(const struct option_table *table, struct strbuf *sb)
{
	const struct option *rows = table->at;

	for (size_t i = 0; i < table->n; i++) {
		if (rows[i].kind == OPTION_FLAG)
			continue;
		strbuf_addf(sb, "\t--%s", rows[i].name);
		if (rows[i].letter != 0)
			strbuf_addf(sb, "|-%c", rows[i].letter);
		strbuf_adds(sb, ") COMPREPLY=(");
		if (rows[i].complete == COMPLETE_CHOICES) {
			strbuf_adds(sb, "$(compgen -W \"");
			for (size_t c = 0; rows[i].choices[c] != NULL; c++)
				strbuf_addf(sb, "%s ", rows[i].choices[c]);
			strbuf_adds(sb, "\" -- \"$cur\")");
		} else if (rows[i].complete == COMPLETE_DIR) {
			strbuf_adds(sb, "$(compgen -d -- \"$cur\")");
		} else if (rows[i].complete == COMPLETE_FILE) {
			strbuf_adds(sb, "$(compgen -f -- \"$cur\")");
		}
		strbuf_adds(sb, "); return;;\n");
	}
}

static void bash_command(const struct command *c, struct strbuf *sb)
{
	strbuf_addf(sb, "_slipway_%s() {\n\tcase \"$prev\" in\n", c->name);
	bash_values(&c->options, sb);
	bash_values(&common_options, sb);
	strbuf_adds(sb, "\tesac\n\tif [[ $cur == -* ]]; then\n\t\tCOMPREPLY=($(compgen -W \"");
	bash_words(&c->options, sb);
	bash_words(&common_options, sb);
	strbuf_adds(sb, "\" -- \"$cur\"))\n\telse\n\t\tCOMPREPLY=($(compgen ");
	if (c->arg_choices != NULL) {
		strbuf_adds(sb, "-W \"");
		for (size_t i = 0; c->arg_choices[i] != NULL; i++)
			strbuf_addf(sb, "%s ", c->arg_choices[i]);
		strbuf_adds(sb, "\"");
	} else {
		strbuf_adds(sb, "-f");
	}
	strbuf_adds(sb, " -- \"$cur\"))\n\tfi\n}\n");
}

static void bash_script(struct strbuf *sb)
{
	strbuf_adds(sb, "# bash completion for slipway: source <(slipway completion bash)\n");
	for (size_t i = 0; commands[i] != NULL; i++)
		bash_command(commands[i], sb);
	strbuf_adds(
		sb,
		"_slipway() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} "
		"prev=${COMP_WORDS[COMP_CWORD-1]}\n"
		"\tCOMPREPLY=()\n\tif ((COMP_CWORD == 1)); then\n\t\tCOMPREPLY=($(compgen -W \"");
	for (size_t i = 0; commands[i] != NULL; i++)
		strbuf_addf(sb, "%s ", commands[i]->name);
	strbuf_adds(sb, "\" -- \"$cur\"))\n\t\treturn\n\tfi\n\tcase \"${COMP_WORDS[1]}\" in\n");
	for (size_t i = 0; commands[i] != NULL; i++)
		strbuf_addf(sb, "\t%s) _slipway_%s;;\n", commands[i]->name, commands[i]->name);
	strbuf_adds(sb, "\tesac\n}\ncomplete -o filenames -F _slipway slipway\n");
}

/* Single-quoted text with ' and [ ] : made safe for zsh's _arguments. */
static void zsh_text(const char *text, struct strbuf *sb)
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

static void zsh_options(const struct option_table *table, struct strbuf *sb)
{
	const struct option *rows = table->at;

	for (size_t i = 0; i < table->n; i++) {
		strbuf_addf(sb, "\t\t'%s--%s%s[", rows[i].kind == OPTION_LIST ? "*" : "",
		            rows[i].name, rows[i].kind == OPTION_FLAG ? "" : "=");
		zsh_text(rows[i].help, sb);
		strbuf_addc(sb, ']');
		if (rows[i].kind != OPTION_FLAG) {
			strbuf_addc(sb, ':');
			zsh_text(rows[i].metavar, sb);
			strbuf_addc(sb, ':');
			if (rows[i].complete == COMPLETE_CHOICES) {
				strbuf_addc(sb, '(');
				for (size_t c = 0; rows[i].choices[c] != NULL; c++)
					strbuf_addf(sb, "%s ", rows[i].choices[c]);
				strbuf_addc(sb, ')');
			} else if (rows[i].complete != COMPLETE_NONE) {
				strbuf_adds(sb, "_files");
			}
		}
		strbuf_adds(sb, "' \\\n");
	}
}

static void zsh_script(struct strbuf *sb)
{
	strbuf_adds(sb, "#compdef slipway\n_slipway() {\n\tif ((CURRENT == 2)); then\n\t\tlocal -a "
	                "names=(\n");
	for (size_t i = 0; commands[i] != NULL; i++) {
		strbuf_addf(sb, "\t\t\t'%s:", commands[i]->name);
		zsh_text(commands[i]->summary, sb);
		strbuf_adds(sb, "'\n");
	}
	strbuf_adds(
		sb,
		"\t\t)\n\t\t_describe command names\n\t\treturn\n\tfi\n\tcase ${words[2]} in\n");
	for (size_t i = 0; commands[i] != NULL; i++) {
		strbuf_addf(sb, "\t%s) _arguments -s \\\n", commands[i]->name);
		zsh_options(&commands[i]->options, sb);
		zsh_options(&common_options, sb);
		strbuf_adds(sb, "\t\t'*:argument:");
		if (commands[i]->arg_choices != NULL) {
			strbuf_addc(sb, '(');
			for (size_t c = 0; commands[i]->arg_choices[c] != NULL; c++)
				strbuf_addf(sb, "%s ", commands[i]->arg_choices[c]);
			strbuf_adds(sb, ")';;\n");
		} else {
			strbuf_adds(sb, "_files';;\n");
		}
	}
	strbuf_adds(sb, "\tesac\n}\ncompdef _slipway slipway\n");
}

static void fish_text(const char *text, struct strbuf *sb)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'' || *text == '\\')
			strbuf_addc(sb, '\\');
		strbuf_addc(sb, *text);
	}
}

static void fish_options(const char *command, const struct option_table *table, struct strbuf *sb)
{
	const struct option *rows = table->at;

	for (size_t i = 0; i < table->n; i++) {
		strbuf_addf(sb, "complete -c slipway -n '__fish_seen_subcommand_from %s' -l %s",
		            command, rows[i].name);
		if (rows[i].letter != 0)
			strbuf_addf(sb, " -s %c", rows[i].letter);
		if (rows[i].kind != OPTION_FLAG)
			strbuf_adds(sb, " -r");
		if (rows[i].complete == COMPLETE_CHOICES) {
			strbuf_adds(sb, " -f -a '");
			for (size_t c = 0; rows[i].choices[c] != NULL; c++)
				strbuf_addf(sb, "%s ", rows[i].choices[c]);
			strbuf_addc(sb, '\'');
		}
		strbuf_adds(sb, " -d '");
		fish_text(rows[i].help, sb);
		strbuf_adds(sb, "'\n");
	}
}

static void fish_script(struct strbuf *sb)
{
	strbuf_adds(sb, "# fish completion for slipway: slipway completion fish | source\n");
	for (size_t i = 0; commands[i] != NULL; i++) {
		const struct command *c = commands[i];

		strbuf_addf(sb, "complete -c slipway -f -n '__fish_use_subcommand' -a %s -d '",
		            c->name);
		fish_text(c->summary, sb);
		strbuf_adds(sb, "'\n");
		fish_options(c->name, &c->options, sb);
		fish_options(c->name, &common_options, sb);
		for (size_t k = 0; c->arg_choices != NULL && c->arg_choices[k] != NULL; k++)
			strbuf_addf(sb,
			            "complete -c slipway -f -n '__fish_seen_subcommand_from %s' -a "
			            "%s\n",
			            c->name, c->arg_choices[k]);
	}
}

int completion_script(const char *shell, struct strbuf *sb, struct err *err)
{
	static const struct {
		const char *shell;
		void (*write)(struct strbuf *sb);
	} shells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

	for (size_t i = 0; i < ARRAY_LEN(shells); i++)
		if (strcmp(shells[i].shell, shell) == 0) {
			shells[i].write(sb);
			return 0;
		}
	err_set(err, ERR_USAGE, "no completion for shell '%s'", shell);
	return err_hint(err, "known shells are bash, zsh and fish");
}
