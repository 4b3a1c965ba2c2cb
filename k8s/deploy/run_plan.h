/*
 * What becomes of the job of a target: it goes on as it is, or a new run takes its place. The
 * server is asked where only it knows; nothing here changes the cluster.
 */
#ifndef SLIPWAY_K8S_DEPLOY_RUN_PLAN_H
#define SLIPWAY_K8S_DEPLOY_RUN_PLAN_H

#include "k8s/deploy/runs.h"

struct run_plan {
	int64_t was;   /* the number of the live job; 0 = it has none, or there is no job */
	int64_t run;   /* that of the job as it is wanted */
	bool replaces; /* another job is there: it must go first */
};

/* `live`: the target's job as it is in the cluster; NULL = none. */
int run_plan(struct kubectl *k, const cJSON *runs, const cJSON *release, const char *target,
             const cJSON *live, struct run_plan *ret, struct err *err) MUST_USE;

/* Would the server take the stage's job if it were a new one? A dry run under a name of its own,
 * before the former job is touched. */
int run_try(struct kubectl *k, const struct stage *stage, struct err *err) MUST_USE;

/* "run 8 takes the place of run 7" */
enum { RUN_TEXT_MAX = 80 };
void run_plan_text(const struct run_plan *plan, char out[RUN_TEXT_MAX]);

/*
 * What a dry run says of the jobs stage: the objects that stay are checked like those of any stage;
 * a job whose place a new run would take is an entry of `changes` (NULL = not asked for, see
 * diff.h) and tried as a new one.
 */
struct run_preview {
	const char *namespace, *fleet, *target;
	const cJSON *release;
	const cJSON *live; /* the target's job, NULL = none */
	cJSON *changes;
	struct apply_opts apply;
};
int run_preview(struct kubectl *k, const struct run_preview *p, struct apply_counts *ret,
                struct err *err) MUST_USE;

#endif
