#include "k8s/deploy/run_plan.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "k8s/deploy/apply_jobs.h"
#include "k8s/deploy/diff.h"
#include "k8s/job/scheduler.h"

static const struct apply_opts dry_run = {.dry_run = true, .force_conflicts = true};

static bool is_job(const cJSON *object)
{
	for (size_t i = 0; i < SCHEDULERS; i++)
		if (kind_of(object) == &schedulers[i].object)
			return true;
	return false;
}

/* The job alone of a stage, or all but the job: references. */
static struct stage part_of(const struct stage *stage, bool job)
{
	struct stage part = {stage->name, cJSON_CreateArray()};

	for (cJSON *o = stage->items->child; o != NULL; o = o->next)
		if (is_job(o) == job)
			cJSON_AddItemReferenceToArray(part.items, o);
	return part;
}

/* ---- the same? ---- */

/* A job of which no record tells, such as one that kubectl applied: applying must change nothing of
 * its pods. What the server refuses would be another. */
static int ask_same(struct kubectl *k, const cJSON *release, const char *target, const cJSON *live,
                    bool *ret, struct err *err)
{
	struct stage stage = release_stage(release, target), job = part_of(&stage, true);
	AUTO(json) cJSON *after = NULL;
	int rc = objects_send(k, job.items, &dry_run, &after, err);

	stage_done(&job);
	stage_done(&stage);
	*ret = rc == 0 && object_first(after) != NULL &&
	       cJSON_Compare(json_get(after->child, "spec"), json_get(live, "spec"), true);
	if (rc == 0 || err->code == ERR_NETWORK || err->code == ERR_DENIED ||
	    err->code == ERR_INTERRUPTED)
		return rc;
	*err = (struct err){0};
	return 0;
}

int run_plan(struct kubectl *k, const cJSON *runs, const cJSON *release, const char *target,
             const cJSON *live, struct run_plan *ret, struct err *err)
{
	struct run_plan plan = {.run = runs_number_for(runs, release, target)};
	const cJSON *row;
	bool same;

	if (live == NULL || object_leaves(live)) {
		*ret = plan;
		return 0;
	}
	plan.was = run_number(live);
	row = plan.was > 0 ? runs_find(runs, plan.was) : NULL;
	if (row != NULL)
		same = release_same(runs_release(row), release, target);
	else if (ask_same(k, release, target, live, &same, err) != 0)
		return -1;
	plan.replaces = !same;
	if (same && plan.was > 0)
		plan.run = plan.was;
	else if (!same && plan.run <= plan.was)
		plan.run = plan.was + 1;
	*ret = plan;
	return 0;
}

void run_plan_text(const struct run_plan *plan, char out[RUN_TEXT_MAX])
{
	if (plan->was > 0)
		snprintf(out, RUN_TEXT_MAX, "run %lld takes the place of run %lld",
		         (long long)plan->run, (long long)plan->was);
	else
		snprintf(out, RUN_TEXT_MAX, "run %lld takes the place of the job that is there",
		         (long long)plan->run);
}

/* ---- tried before ---- */

int run_try(struct kubectl *k, const struct stage *stage, struct err *err)
{
	struct stage job = part_of(stage, true);
	AUTO(json) cJSON *copies = cJSON_Duplicate(job.items, true), *after = NULL;
	int rc;

	stage_done(&job);
	for (cJSON *o = copies->child; o != NULL; o = o->next) {
		cJSON *metadata = cJSON_GetObjectItemCaseSensitive(o, "metadata");

		cJSON_DeleteItemFromObjectCaseSensitive(metadata, "name");
		json_add_string(metadata, "name", TRIAL_NAME);
	}
	rc = objects_send(k, copies, &dry_run, &after, err);
	return rc == 0 ? 0 : err_wrap(err, "the new job");
}

/* ---- a dry run ---- */

/* The job is new, or as it was but for what it takes in place. */
static int preview_kept(struct kubectl *k, const struct run_preview *p, const struct run_plan *plan,
                        struct apply_counts *ret, struct err *err)
{
	struct stage stage = release_stage(p->release, p->target);
	struct stage stamped = run_stage(&stage, plan->run);
	int rc = stage_apply(k, &stamped, &p->apply, ret, err);

	stage_done(&stamped);
	stage_done(&stage);
	return rc;
}

static void note_replacement(const struct run_preview *p, const struct run_plan *plan,
                             const cJSON *runs, const struct stage *job)
{
	struct stage was = release_stage(runs_release(runs_find(runs, plan->was)), p->target);
	char text[RUN_TEXT_MAX];

	run_plan_text(plan, text);
	if (p->changes != NULL)
		diff_replaced(job, was.items, text, p->changes);
	stage_done(&was);
}

static int preview_replaced(struct kubectl *k, const struct run_preview *p,
                            const struct run_plan *plan, const cJSON *runs,
                            struct apply_counts *ret, struct err *err)
{
	struct stage stage = release_stage(p->release, p->target);
	struct stage job = part_of(&stage, true), others = part_of(&stage, false);
	int rc = run_try(k, &stage, err);

	if (rc == 0)
		rc = stage_apply(k, &others, &p->apply, ret, err);
	if (rc == 0) {
		ret->created++;
		note_replacement(p, plan, runs, &job);
	}
	stage_done(&job);
	stage_done(&others);
	stage_done(&stage);
	return rc;
}

int run_preview(struct kubectl *k, const struct run_preview *p, struct apply_counts *ret,
                struct err *err)
{
	AUTO(json) cJSON *runs = NULL;
	struct run_plan plan;

	if (runs_read(k, p->namespace, p->fleet, &runs, err) != 0 ||
	    run_plan(k, runs, p->release, p->target, p->live, &plan, err) != 0)
		return -1;
	return plan.replaces ? preview_replaced(k, p, &plan, runs, ret, err)
	                     : preview_kept(k, p, &plan, ret, err);
}
