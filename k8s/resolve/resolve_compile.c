/*
 * What is compiled ahead of a target's job. Devices with a compiler of their own run nothing else,
 * and compiling takes longer than a node full of them should wait: so a job of our trainer there
 * must say who compiles. Other programs do by `compiler.command`.
 */
#include <string.h>

#include "k8s/job/compile.h"
#include "k8s/job/scheduler.h"
#include "k8s/resolve/resolve_words.h"

/* Karpenter 1.x: pools of other APIs are not made for it, and ordinary nodes compile. */
static bool has_pool(const struct resolver *r)
{
	return r->fleet->karpenter == KARPENTER_V1;
}

/* The trainer computes there unless its words name another device. */
static bool trains_there(const struct resolver *r, const struct fleet_target *t,
                         const struct job_words *w)
{
	if (t->accelerator->trainer_device == NULL || !job_words_train(r, w))
		return false;
	return job_words_allow(w, t->accelerator->trainer_device);
}

/* What slipway-trainer compiles for: the run's own words, as many ranks, these devices. */
static void take_words(struct resolver *r, struct fleet_target *t, const struct job_words *w)
{
	enum { OWN = 8 };
	struct strlist *words = &t->compile.words;

	*words = (struct strlist){arena_calloc(r->arena, OWN + w->n, sizeof(*words->at)), 0};
	words->at[words->n++] = "compile";
	words->at[words->n++] = "--target";
	words->at[words->n++] = t->shape->target;
	words->at[words->n++] = "--ranks";
	words->at[words->n++] =
		arena_printf(r->arena, "%lld", (long long)(t->nodes * t->processes));
	if (!job_words_have(w, "--cache_dir", NULL)) {
		words->at[words->n++] = "--cache_dir";
		words->at[words->n++] = t->compile.cache;
	}
	/* A Job is started when somebody asks for it, again after a failure, too. */
	if (!t->section->compiler.compiled)
		words->at[words->n++] = "--retry_failed";
	for (size_t i = 1; i < w->n; i++)
		words->at[words->n++] = w->at[i];
}

static void check_missing(struct resolver *r, const struct fleet_target *t)
{
	resolve_problem(r, t->section->at,
	                arena_printf(r->arena,
	                             "name an image with %s, as in compiler: {image: "
	                             "REFERENCE}; docs/TRAINIUM.md says which there are",
	                             t->accelerator->compiler),
	                "fleet.%s: slipway-trainer runs on %s devices what was compiled for "
	                "it, and nothing says who compiles",
	                t->name, t->accelerator->maker);
}

static void check_needless(struct resolver *r, const struct fleet_target *t)
{
	const struct compiler_section *c = &t->section->compiler;

	if (t->accelerator->compiler == NULL)
		resolve_problem(r, c->at, "leave it out",
		                "fleet.%s.compiler: %s devices run nothing that is compiled ahead",
		                t->name, t->accelerator->maker);
	else
		resolve_problem(r, c->at,
		                "say what compiles it in compiler.command, or leave it out",
		                "fleet.%s.compiler: the job does not run slipway-trainer train on "
		                "the devices",
		                t->name);
}

static void check_place(struct resolver *r, const struct fleet_target *t)
{
	const struct compiler_section *c = &t->section->compiler;

	if (c->slipway == NULL && r->fleet->storage.driver == NULL)
		resolve_problem(r, c->at,
		                "add storage, or name an image with slipway in compiler.slipway: "
		                "it takes them to the registry",
		                "fleet.%s.compiler: there is no place for what it compiles",
		                t->name);
	if (c->slipway != NULL && r->fleet->image != NULL && strchr(r->fleet->image, '/') == NULL)
		resolve_problem(r, c->slipway_at, "name the job's image by a registry",
		                "fleet.%s.compiler.slipway: modules go to the registry of the "
		                "job's image, and '%s' names none",
		                t->name, r->fleet->image);
}

/* ---- modules that go through a registry ---- */

/* slipway reads one configuration of docker's, and the kubelet as many as there are. */
static void check_login(struct resolver *r, const struct fleet_target *t)
{
	size_t n = r->fleet->job->pull_secrets.n;

	if (n > 1 && compile_login(r->fleet, t) != NULL)
		resolve_problem(r, t->section->compiler.slipway_at,
		                "put the logins into one Secret of the type "
		                "kubernetes.io/dockerconfigjson, and name that in job.pull_secrets",
		                "fleet.%s.compiler.slipway: it logs in to the registry of the "
		                "job's image with one pull secret, and job.pull_secrets names %zu",
		                t->name, n);
}

static void check_volumes(struct resolver *r, const struct fleet_target *t)
{
	const struct job_section *job = &r->sections->job;

	for (size_t i = 0; i < job->n_volumes && t->compile.carried; i++) {
		const struct volume_mount *v = &job->volumes[i];

		if (strcmp(v->name, COMPILE_VOLUME) == 0 || strcmp(v->name, COMPILE_LOGIN) == 0)
			resolve_problem(r, v->at, "choose another name",
			                "job.volumes.%s: on %s the pods have a volume of this "
			                "name, for what was compiled",
			                v->name, t->name);
		else if (v->mount != NULL &&
		         strcmp(resolve_plain_path(v->mount, r->arena), COMPILE_CACHE) == 0)
			resolve_problem(r, v->mount_at, "choose a folder of its own, as in /work",
			                "job.volumes.%s.mount: at " COMPILE_CACHE
			                " the pods of %s have what was compiled",
			                v->name, t->name);
	}
}

void resolve_compile(struct resolver *r, struct fleet_target *t)
{
	const struct compiler_section *c = &t->section->compiler;
	const char *mount = r->fleet->storage.mount;
	struct job_words w;

	job_words_take(r, t, &w);
	bool trains = t->accelerator->compiler != NULL && trains_there(r, t, &w);

	if (!c->set && trains)
		check_missing(r, t);
	else if (c->set && (t->accelerator->compiler == NULL || (!trains && c->command.n == 0)))
		check_needless(r, t);
	if (!c->set || t->accelerator->compiler == NULL)
		return;
	check_place(r, t);
	t->compile = (struct target_compile){
		.job = arena_printf(r->arena, "%s-compile", t->job),
		.carried = c->slipway != NULL,
		.cache = c->slipway != NULL || mount == NULL
	                         ? COMPILE_CACHE
	                         : arena_printf(r->arena, "%s%s", mount, COMPILE_CACHE)};
	check_login(r, t);
	check_volumes(r, t);
	if (trains && c->command.n == 0)
		take_words(r, t, &w);
	if (has_pool(r) && !c->compiled)
		r->fleet->compile_pool = arena_printf(r->arena, "%s-compile", r->fleet->name);
}
