/* When an object is what its readers need, and waiting until it is. */
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "k8s/deploy/apply.h"
#include "k8s/deploy/ready_job.h"
#include "k8s/deploy/shared.h"

enum { POLL_MS = 5000, POLL_MAX_MS = 30000 }; /* what takes long is looked at more seldom */

static enum readiness rolled_out(const cJSON *live, int64_t wanted, int64_t updated,
                                 int64_t available, char why[WHY_MAX])
{
	const cJSON *status = json_get(live, "status");

	if (object_number(status, "observedGeneration") <
	    object_number(json_get(live, "metadata"), "generation")) {
		snprintf(why, WHY_MAX, "its controller has not seen it yet");
		return NOT_YET;
	}
	if (updated >= wanted && available >= wanted)
		return READY;
	snprintf(why, WHY_MAX, "%lld of %lld pods are up to date, %lld available",
	         (long long)updated, (long long)wanted, (long long)available);
	return NOT_YET;
}

static enum readiness daemonset(const cJSON *live, char why[WHY_MAX])
{
	const cJSON *s = json_get(live, "status");

	/* Its pods may stand on another fleet's nodes, which this one does not wait for. */
	if (object_is_shared(live))
		return rolled_out(live, 0, 0, 0, why);
	return rolled_out(live, object_number(s, "desiredNumberScheduled"),
	                  object_number(s, "updatedNumberScheduled"),
	                  object_number(s, "numberAvailable"), why);
}

static enum readiness deployment(const cJSON *live, char why[WHY_MAX])
{
	const cJSON *s = json_get(live, "status");

	return rolled_out(live, object_number(json_get(live, "spec"), "replicas"),
	                  object_number(s, "updatedReplicas"),
	                  object_number(s, "availableReplicas"), why);
}

static enum readiness claim(const cJSON *live, char why[WHY_MAX])
{
	const char *phase = object_phase(live);

	if (phase != NULL && strcmp(phase, "Bound") == 0)
		return READY;
	snprintf(why, WHY_MAX, "it is %s", phase != NULL ? phase : "not bound yet");
	return phase != NULL && strcmp(phase, "Lost") == 0 ? NEVER : NOT_YET;
}

/* NodePool, EC2NodeClass: Ready is the sum of their conditions. */
static enum readiness conditioned(const cJSON *live, char why[WHY_MAX])
{
	const cJSON *ready = object_condition(live, "Ready");
	const char *message = json_string(ready, "message");

	if (object_holds(live, "Ready"))
		return READY;
	snprintf(why, WHY_MAX, "not Ready: %s",
	         message != NULL && message[0] != '\0' ? message : "its controller gave no reason");
	return NOT_YET;
}

static enum readiness ended(const cJSON *live, const char *well, char why[WHY_MAX])
{
	const char *message = json_string(object_condition(live, "Failed"), "message");

	if (object_holds(live, well))
		return READY;
	if (object_holds(live, "Failed")) {
		snprintf(why, WHY_MAX, "it failed: %s",
		         message != NULL ? message : "no reason given");
		return NEVER;
	}
	snprintf(why, WHY_MAX, "it has not finished");
	return NOT_YET;
}

/* Jobs of the storage stage: they prepare the file system. */
static enum readiness prepared(const cJSON *live, char why[WHY_MAX])
{
	return ended(live, "Complete", why);
}

/* The network test. */
static enum readiness tested(const cJSON *live, char why[WHY_MAX])
{
	return ended(live, "Succeeded", why);
}

static const struct {
	const char *resource;
	enum readiness (*judge)(const cJSON *live, char why[WHY_MAX]);
} judges[] = {
	{"daemonsets.apps", daemonset},
	{"deployments.apps", deployment},
	{"persistentvolumeclaims", claim},
	{"nodepools.karpenter.sh", conditioned},
	{"ec2nodeclasses.karpenter.k8s.aws", conditioned},
	{"jobs.batch", prepared},
	{"mpijobs.kubeflow.org", tested},
};

enum readiness object_readiness(const cJSON *live, char why[WHY_MAX])
{
	const struct kind_row *row = kind_of(live);

	why[0] = '\0';
	for (size_t i = 0; row != NULL && i < ARRAY_LEN(judges); i++)
		if (strcmp(judges[i].resource, row->resource) == 0)
			return judges[i].judge(live, why);
	return READY;
}

/* The first object that is not ready, or cannot be; READY when there is none. */
static enum readiness stage_readiness(struct kubectl *k, const struct stage *stage,
                                      const cJSON *live, const cJSON **ret_item,
                                      struct strbuf *ret_why)
{
	enum readiness worst = READY;

	for (const cJSON *item = stage->items->child; item != NULL; item = item->next) {
		const cJSON *there = object_find(live, item);
		char why[WHY_MAX] = "it was deleted while slipway waited";
		enum readiness now = there != NULL ? object_readiness(there, why) : NEVER;

		if (now <= worst)
			continue;
		if (there != NULL && object_is(there, "Job"))
			now = ready_job_look(k, there, now, why);
		worst = now;
		*ret_item = item;
		strbuf_reset(ret_why);
		strbuf_addf(ret_why, "%s '%s': %s", json_string(item, "kind"), object_name(item),
		            why);
	}
	return worst;
}

static int tell_never(const cJSON *item, const char *why, struct err *err)
{
	err_set(err, ERR_SERVER, "%s", why);
	if (!object_is(item, "Job"))
		return -1;
	return err_hint(err,
	                "Repair the cause; a Job is started again after `kubectl delete -n %s "
	                "%s %s`.",
	                object_namespace(item), kind_of(item)->resource, object_name(item));
}

static int await_items(struct kubectl *k, const struct stage *stage, const struct apply_opts *opts,
                       struct err *err)
{
	AUTO(strbuf)
	struct strbuf why = STRBUF_INIT(1024), said = STRBUF_INIT(1024);
	const cJSON *item = NULL;

	for (int64_t pause = POLL_MS;; pause = pause < POLL_MAX_MS ? pause + 1000 : pause) {
		AUTO(json) cJSON *live = NULL;

		if (kubectl_look(k, stage->items, &live, err) != 0)
			return -1;
		switch (stage_readiness(k, stage, live, &item, &why)) {
		case READY:
			return 0;
		case NEVER:
			return tell_never(item, strbuf_str(&why), err);
		case NOT_YET:
			break;
		}
		if (k->clock->now_ms(k->clock) >= opts->deadline_ms) {
			err_set(err, ERR_NETWORK, "not ready in time: %s", strbuf_str(&why));
			return err_hint(err, "Run the same command again to continue; a longer "
			                     "--timeout waits longer.");
		}
		if (strcmp(strbuf_str(&why), strbuf_str(&said)) != 0)
			progress_await(k->progress, "%s", strbuf_str(&why));
		strbuf_reset(&said);
		strbuf_adds(&said, strbuf_str(&why));
		k->clock->sleep_ms(k->clock, pause);
	}
}

int stage_await(struct kubectl *k, const struct stage *stage, const struct apply_opts *opts,
                struct err *err)
{
	int rc;

	progress_stage(k->progress, stage->name, "waiting", "%s", "");
	rc = await_items(k, stage, opts, err);
	progress_stage(k->progress, stage->name, rc == 0 ? "ready" : "failed", "%s", "");
	return rc;
}
