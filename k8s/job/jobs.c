/*
 * 60-jobs: the one job section as one job per target, since no pod can ask for "a Neuron device or
 * a GPU".
 */
#include "base/attr.h"
#include "k8s/job/job.h"
#include "k8s/job/scheduler.h"

static const char *about(const struct fleet *fleet, const struct fleet_target *target, size_t place,
                         struct arena *a)
{
	const char *what = arena_printf(a, "The job on %s: %lld x %s with %lld x %s each.",
	                                target->name, (long long)target->nodes, target->shape->type,
	                                (long long)target->devices, target->resource);

	if (fleet->scheduler->image_note != NULL)
		what = arena_printf(a, "%s\n%s", what, fleet->scheduler->image_note);
	if (fleet->n_targets == 1)
		return what;
	return arena_printf(a,
	                    "%s\nChoice %zu of %zu by weight. Apply one: all of them at once "
	                    "would all start.",
	                    what, place + 1, fleet->n_targets);
}

static void render_jobs(const struct fleet *fleet, struct k8s_output *out)
{
	for (size_t i = 0; i < fleet->n_targets; i++) {
		const struct fleet_target *target = &fleet->targets[i];

		k8s_file(out, arena_printf(&out->arena, "%s.yaml", target->name),
		         about(fleet, target, i, &out->arena));
		k8s_choice(out, target->name);
		fleet->scheduler->render(fleet, target, out);
	}
}

const struct k8s_renderer jobs_renderer = {
	.number = "60",
	.name = "jobs",
	.summary = "the job, once per target",
	.deployed = true,
	.wanted = fleet_has_job,
	.render = render_jobs,
};
