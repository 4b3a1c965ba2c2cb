#include "builder/cli/completion.h"

#include <string.h>

static const char *const *command_names(struct arena *a)
{
	const char **names;
	size_t n = 0;

	while (commands[n] != NULL)
		n++;
	names = arena_calloc(a, n + 1, sizeof(*names));
	for (size_t i = 0; i < n; i++)
		names[i] = commands[i]->name;
	return names;
}

static const char *const *action_names(const struct command *c, struct arena *a, bool *ret_files)
{
	const char **names;
	size_t n = 0;

	while (c->actions[n].name != NULL)
		n++;
	names = arena_calloc(a, n + 1, sizeof(*names));
	for (size_t i = 0; i < n; i++) {
		names[i] = c->actions[i].name;
		*ret_files = *ret_files || c->actions[i].max_args > 0;
	}
	return names;
}

struct completion_arguments completion_arguments(const struct command *c, struct arena *a)
{
	struct completion_arguments r = {0};

	if (c->arg_commands)
		r.words = command_names(a);
	else if (c->actions != NULL)
		r.words = action_names(c, a, &r.once);
	else
		r.words = c->arg_choices;
	r.files = r.words == NULL && c->max_args > 0;
	return r;
}

void completion_join(const char *const *words, const char *between, struct strbuf *sb)
{
	for (; *words != NULL; words++)
		strbuf_addf(sb, "%s%s", *words, words[1] != NULL ? between : "");
}

void completion_options(const struct command *c, struct strbuf *sb,
                        void (*add)(const struct command *c, const struct option *o,
                                    struct strbuf *sb))
{
	const struct option_table *tables[] = {&c->options, &common_options};

	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		for (size_t i = 0; i < tables[t]->n; i++)
			add(c, &tables[t]->at[i], sb);
}

int completion_script(const char *shell, struct strbuf *sb, struct err *err)
{
	static const struct {
		const char *shell;
		void (*write)(struct strbuf *sb);
	} shells[] = {
		{"bash", completion_bash}, {"zsh", completion_zsh}, {"fish", completion_fish}};

	for (size_t i = 0; i < ARRAY_LEN(shells); i++)
		if (strcmp(shells[i].shell, shell) == 0) {
			shells[i].write(sb);
			return 0;
		}
	err_set(err, ERR_USAGE, "no completion for shell '%s'", shell);
	return err_hint(err, "known shells are bash, zsh and fish");
}
