/* See resolve_words.h. */
#include "k8s/resolve/resolve_words.h"

#include <string.h>

#include "base/attr.h"

#define PROGRAM "slipway-trainer"

/* Its commands that train or evaluate. */
static const char *const commands[] = {"train", "eval"};

static bool is_trainer(const char *program)
{
	const char *slash = program != NULL ? strrchr(program, '/') : NULL;

	return program != NULL && strcmp(slash != NULL ? slash + 1 : program, PROGRAM) == 0;
}

static void take(struct job_words *w, const struct strlist *list, size_t from)
{
	for (size_t i = from; i < list->n && w->n < ARRAY_LEN(w->at); i++)
		w->at[w->n++] = list->at[i];
}

void job_words_take(const struct resolver *r, const struct fleet_target *t, struct job_words *ret)
{
	const struct job_section *job = &r->sections->job;

	ret->n = 0;
	take(ret, &job->command, 1);
	take(ret, &job->args, 0);
	take(ret, &t->section->args, 0);
}

bool job_words_train(const struct resolver *r, const struct job_words *w)
{
	const struct strlist *command = &r->sections->job.command;

	if (!is_trainer(command->n > 0 ? command->at[0] : r->image->program))
		return false;
	for (size_t i = 0; w->n > 0 && i < ARRAY_LEN(commands); i++)
		if (strcmp(w->at[0], commands[i]) == 0)
			return true;
	return false;
}

/* What follows the option's name in a word: "", "=VALUE"; NULL when it is another. */
static const char *after_name(const char *word, const char *option)
{
	size_t n = strlen(option), k = 0;

	if (strncmp(word, "--", 2) != 0)
		return NULL;
	while (k < n && (word[k] == option[k] || (word[k] == '-' && option[k] == '_')))
		k++;
	return k == n && (word[n] == '\0' || word[n] == '=') ? word + n : NULL;
}

bool job_words_have(const struct job_words *w, const char *option, const char **ret_value)
{
	for (size_t i = 0; i < w->n; i++) {
		const char *rest = after_name(w->at[i], option);

		if (rest == NULL)
			continue;
		if (ret_value != NULL)
			*ret_value = rest[0] == '=' ? rest + 1 : i + 1 < w->n ? w->at[i + 1] : NULL;
		return true;
	}
	return false;
}

bool job_words_allow(const struct job_words *w, const char *device)
{
	const char *named = NULL;
	size_t n = strlen(device);

	return !job_words_have(w, "--device", &named) || named == NULL ||
	       strcmp(named, "auto") == 0 ||
	       (strncmp(named, device, n) == 0 && (named[n] == '\0' || named[n] == ':'));
}
