/*
 * From a rendered fleet to a cluster, stage by stage: what is there already, what changes, what is
 * awaited, what is no longer in the spec. Server-side apply with the field manager "slipway", so
 * that a second run changes nothing. Which job runs is the caller's choice; nothing here starts
 * two.
 */
#ifndef SLIPWAY_K8S_DEPLOY_APPLY_H
#define SLIPWAY_K8S_DEPLOY_APPLY_H

#include "k8s/deploy/kinds.h"
#include "k8s/deploy/kubectl.h"
#include "k8s/object/render.h"

/* The objects of one concern, in the order of the renderers. */
struct stage {
	const char *name; /* "namespace", "karpenter", "devices", ..., "jobs" */
	cJSON *items;     /* an array of references into the output */
};

struct stage_list {
	struct stage *at;
	size_t n, cap;
};
void stage_list_done(struct stage_list *list);

/* Is it the last one, that of the job? */
bool stage_has_job(const struct stage *stage);

/* What the renderers' rows say is deployed; of the jobs, that of `target` alone. The caller calls
 * stage_list_done. Pure. */
void stages_plan(const struct k8s_output *out, const char *target, struct stage_list *ret);

struct apply_opts {
	const char *owner;    /* value of slipway/owner */
	bool dry_run;         /* the server checks, nothing is kept */
	bool force_conflicts; /* take fields from other managers */
	int64_t deadline_ms;  /* of the clock; waiting ends here */
	/* Called for each stage that was applied, with its objects before and after (NULL: a dry
	 * run could not say). NULL = no listener. */
	void (*observe)(void *ctx, const struct stage *stage, const cJSON *before,
	                const cJSON *after);
	void *observe_ctx;
};

struct apply_counts {
	size_t created, changed, unchanged, left; /* left: a namespace of another owner */
};

/*
 * Every API group of the stages must be known to the cluster; the operators that are missing are
 * all reported at once (ERR_NOT_FOUND). *ret_resources: what the cluster knows, for owned_list.
 */
int stages_check_kinds(struct kubectl *k, const struct stage_list *stages, cJSON **ret_resources,
                       struct err *err) MUST_USE;

/*
 * Applies one stage. An object with another owner, or one that exists without an owner, is an
 * ERR_CONFLICT before anything of the stage is sent; a namespace without an owner is used and left.
 * What is on its way out is awaited first (a namespace that is Terminating). When kubectl fails in
 * the middle, the message says how many objects are as the stage has them.
 */
int stage_apply(struct kubectl *k, const struct stage *stage, const struct apply_opts *opts,
                struct apply_counts *ret, struct err *err) MUST_USE;

/*
 * Sends the objects, as a dry run where opts say so; *ret: as the server has them now. The fleet's
 * own go in one call, of the field manager "slipway"; before them the shared ones, of which each
 * fleet is a manager of its own ("slipway-OWNER"), so that its annotation stays when others apply:
 * another fleet's values yield to this one's, anybody else's are an ERR_CONFLICT. The owner is not
 * checked.
 */
int objects_send(struct kubectl *k, cJSON *items, const struct apply_opts *opts, cJSON **ret,
                 struct err *err) MUST_USE;

enum readiness { READY, NOT_YET, NEVER };

/* Is a live object what its readers need: rolled out, bound, Ready, complete? `why` says what is
 * missing, or is "". Kinds that have no such state are ready. Pure. */
enum { WHY_MAX = 400 };
enum readiness object_readiness(const cJSON *live, char why[WHY_MAX]);

/* Polls until all of the stage is ready. ERR_NETWORK at the deadline, ERR_SERVER when an object can
 * never be; both say which object and why. */
int stage_await(struct kubectl *k, const struct stage *stage, const struct apply_opts *opts,
                struct err *err) MUST_USE;

/*
 * Deletes one object and waits until it is gone; of a job, until its pods are, which get SIGTERM
 * and their grace period first. Absent is as good. An object with a uid is deleted only if it is
 * still that one (ERR_CONFLICT); one without is looked up first. ERR_NETWORK at the deadline says
 * which finalizers hold it. Of a shared one it takes the fleet's use away, and waits for nothing
 * (k8s/deploy/shared.h).
 */
int object_delete(struct kubectl *k, const cJSON *object, const struct apply_opts *opts,
                  struct err *err) MUST_USE;

/* Waits until a live object that is being deleted is gone. */
int object_await_gone(struct kubectl *k, const cJSON *object, const struct apply_opts *opts,
                      struct err *err) MUST_USE;

#endif
