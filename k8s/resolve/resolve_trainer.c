/*
 * The one program that slipway knows: its own trainer. On targets whose devices it computes on it
 * is told to, so that it does not quietly take the CPU where a driver is missing, and, where no
 * launcher starts a rank for each device of a pod, to do that itself. What the spec's own words say
 * of either stands.
 */
#include <string.h>

#include "base/attr.h"
#include "k8s/job/scheduler.h"
#include "k8s/resolve/resolve_internal.h"

#define PROGRAM "slipway-trainer"

/* Its commands that train or evaluate. */
static const char *const commands[] = {"train", "eval"};

static bool is_trainer(const char *program)
{
	const char *slash = program != NULL ? strrchr(program, '/') : NULL;

	return program != NULL && strcmp(slash != NULL ? slash + 1 : program, PROGRAM) == 0;
}

/* The words of the job after its program, in the order of the container's. */
struct job_words {
	const char *at[3 * 256];
	size_t n;
};

static void take(struct job_words *w, const struct strlist *list, size_t from)
{
	for (size_t i = from; i < list->n && w->n < ARRAY_LEN(w->at); i++)
		w->at[w->n++] = list->at[i];
}

/* Options may be written with '-' or '_', with '=' or without. */
static bool has_option(const struct job_words *w, const char *option)
{
	size_t n = strlen(option);

	for (size_t i = 0; i < w->n; i++) {
		const char *word = w->at[i];
		size_t k = 0;

		if (strncmp(word, "--", 2) != 0)
			continue;
		while (k < n && (word[k] == option[k] || (word[k] == '-' && option[k] == '_')))
			k++;
		if (k == n && (word[n] == '\0' || word[n] == '='))
			return true;
	}
	return false;
}

static bool is_run(const struct job_words *w)
{
	for (size_t i = 0; w->n > 0 && i < ARRAY_LEN(commands); i++)
		if (strcmp(w->at[0], commands[i]) == 0)
			return true;
	return false;
}

static void add(struct resolver *r, struct strlist *list, const char *option, const char *value)
{
	list->at[list->n++] = option;
	list->at[list->n++] = arena_strdup(r->arena, value);
}

void resolve_trainer(struct resolver *r, struct fleet_target *t)
{
	const struct job_section *job = &r->sections->job;
	struct strlist args = {arena_alloc(r->arena, 4 * sizeof(*args.at)), 0};
	struct job_words w = {.n = 0};

	take(&w, &job->command, 1);
	take(&w, &job->args, 0);
	take(&w, &t->section->args, 0);
	if (t->accelerator->trainer_device == NULL || !is_run(&w) ||
	    !is_trainer(job->command.n > 0 ? job->command.at[0] : r->image->program))
		return;
	if (!has_option(&w, "--device"))
		add(r, &args, "--device", t->accelerator->trainer_device);
	/* mpirun starts a rank for each device. */
	if (t->processes > 1 && !r->fleet->scheduler->needs_command &&
	    !has_option(&w, "--local_ranks"))
		add(r, &args, "--local_ranks",
		    arena_printf(r->arena, "%lld", (long long)t->processes));
	t->trainer_args = args;
}
