#include "builder/cli/completion.h"

#include <string.h>

const char *const *completion_words(const struct command *c, struct arena *a)
{
	const char **names;
	size_t n = 0;

	if (!c->arg_commands)
		return c->arg_choices;
	while (commands[n] != NULL)
		n++;
	names = arena_calloc(a, n + 1, sizeof(*names));
	for (size_t i = 0; i < n; i++)
		names[i] = commands[i]->name;
	return names;
}

void completion_join(const char *const *words, struct strbuf *sb)
{
	for (; *words != NULL; words++)
		strbuf_addf(sb, "%s ", *words);
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
