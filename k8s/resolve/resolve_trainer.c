/*
 * The one program that slipway knows: its own trainer. On targets whose devices it computes on it
 * is told to, so that it does not quietly take the CPU where a driver is missing, and, where no
 * launcher starts a rank for each device of a pod, to do that itself; and where its modules are, if
 * they are compiled ahead. What the spec's own words say of these stands; where they name another
 * kind of device, it is told nothing.
 */
#include "k8s/job/scheduler.h"
#include "k8s/resolve/resolve_words.h"

enum { TRAINER_WORDS_MAX = 6 };

static void add(struct resolver *r, struct strlist *list, const char *option, const char *value)
{
	list->at[list->n++] = option;
	list->at[list->n++] = arena_strdup(r->arena, value);
}

void resolve_trainer(struct resolver *r, struct fleet_target *t)
{
	struct strlist args = {arena_alloc(r->arena, TRAINER_WORDS_MAX * sizeof(*args.at)), 0};
	struct job_words w;

	job_words_take(r, t, &w);
	if (t->accelerator->trainer_device == NULL || !job_words_train(r, &w) ||
	    !job_words_allow(&w, t->accelerator->trainer_device))
		return;
	if (!job_words_have(&w, "--device", NULL))
		add(r, &args, "--device", t->accelerator->trainer_device);
	/* mpirun starts a rank for each device. */
	if (t->processes > 1 && !r->fleet->scheduler->needs_command &&
	    !job_words_have(&w, "--local_ranks", NULL))
		add(r, &args, "--local_ranks",
		    arena_printf(r->arena, "%lld", (long long)t->processes));
	if (t->compile.words.n > 0 && !job_words_have(&w, "--cache_dir", NULL))
		add(r, &args, "--cache_dir", t->compile.cache);
	t->trainer_args = args;
}
