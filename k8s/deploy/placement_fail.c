/* How a placement that came to nothing is told: what happened, and the next step. */
#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "k8s/deploy/placement_internal.h"
#include "k8s/deploy/pod.h"
#include "k8s/deploy/postmortem.h"

/* What kubectl calls the job; its Service stays. */
static const char *job_resource(const struct placing *r)
{
	return kind_of(job_find(r->stage.items, r->target))->resource;
}

int placing_late(const struct placing *r, const char *cause, struct err *err)
{
	bool lack = r->machine.lack_ms != 0;

	err_set(err, lack ? ERR_CAPACITY : ERR_NETWORK, "%s: not running in time: %s",
	        r->target->name, cause);
	return err_hint(err, "The job is kept. Run the same command again to continue; a longer "
	                     "--timeout waits longer.");
}

int placing_stuck(const struct placing *r, const char *cause, struct err *err)
{
	err_set(err, r->machine.ran ? ERR_NETWORK : ERR_SERVER, "%s: %s", r->target->name, cause);
	return err_hint(err,
	                r->machine.ran
	                        ? "A job that has started stays. `kubectl get pods -n "
	                          "%s -l app.kubernetes.io/name=%s` shows its pods."
	                        : "Another target would not help. `kubectl describe pods -n %s "
	                          "-l app.kubernetes.io/name=%s` shows more.",
	                r->opts->fleet->namespace, r->target->job);
}

int placing_refused(struct placing *r, const char *cause, const char *hint, struct err *err)
{
	/* It is no reason to pass this target over the next time. */
	r->ret->state.cycle++;
	if (placing_settle(r, ATTEMPT_REFUSED, cause, err) != 0)
		return -1;
	err_set(err, ERR_SERVER, "%s: %s", r->target->name, cause);
	return err_hint(err,
	                "%s The job is kept and starts when it may; `kubectl describe -n %s %s "
	                "%s` shows what is said of it.",
	                hint != NULL ? hint : "", r->opts->fleet->namespace, job_resource(r),
	                r->target->job);
}

int placing_gone(struct placing *r, struct err *err)
{
	if (placing_settle(r, ATTEMPT_GONE, "it was deleted", err) != 0)
		return -1;
	err_set(err, ERR_CONFLICT, "%s: the job was deleted while slipway waited", r->target->name);
	return err_hint(err, "Run this again to start a new job: it continues from the "
	                     "checkpoint.");
}

/* ---- a job that failed ---- */

static void tell_log(struct placing *r, const cJSON *pod)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(POSTMORTEM_BYTES_MAX);
	const char *line;

	postmortem_log(r->k, pod, &text);
	for (line = strbuf_str(&text); *line != '\0'; line += strcspn(line, "\n") + 1) {
		char said[STATE_TEXT_MAX];

		snprintf(said, sizeof(said), "%s | %.*s", object_name(pod),
		         (int)strcspn(line, "\n"), line);
		placing_tell(r, said);
	}
}

/* Adds to the controller's word how the first pod ended, and shows the end of its log. */
static void examine(struct placing *r, char cause[STATE_TEXT_MAX])
{
	AUTO(json) cJSON *pods = NULL;
	struct err ignored = {0};
	char how[POD_TEXT_MAX];
	const cJSON *pod;
	size_t len = strlen(cause);

	if (placing_pods(r, &pods, &ignored) != 0)
		return;
	pod = postmortem_pod(pods);
	if (pod == NULL || !pod_failure(pod, how))
		return;
	snprintf(cause + len, STATE_TEXT_MAX - len, "%spod %s: %s", len > 0 ? "; " : "",
	         object_name(pod), how);
	tell_log(r, pod);
}

int placing_failed(struct placing *r, char cause[STATE_TEXT_MAX], struct err *err)
{
	examine(r, cause);
	if (state_last(&r->ret->state)->outcome != ATTEMPT_FAILED &&
	    placing_settle(r, ATTEMPT_FAILED, cause, err) != 0)
		return -1;
	err_set(err, ERR_JOB, "%s: the job has failed: %s", r->target->name,
	        cause[0] != '\0' ? cause : "no reason given");
	return err_hint(err,
	                "A changed job is started in its place by the same command. To start it "
	                "again as it is, delete it first: `kubectl delete -n %s %s %s`.",
	                r->opts->fleet->namespace, job_resource(r), r->target->job);
}

/* ---- no target left ---- */

int placing_exhausted(const struct placing *r, struct err *err)
{
	struct attempt *last = state_last(&r->ret->state);
	size_t n = r->opts->fleet->n_targets;

	if (last != NULL && last->outcome == ATTEMPT_REFUSED) {
		err_set(err, ERR_SERVER, "no target can run the job; of %s: %s", last->target,
		        last->cause);
		return err_hint(err, "Raise the ResourceQuota of the namespace, or allow targets "
		                     "in the spec that ask for something else.");
	}
	err_set(err, ERR_CAPACITY,
	        n == 1 ? "the fleet's only target has no capacity"
	               : "none of the %zu targets has capacity",
	        n);
	return err_hint(err, "Run this again later, or with --keep-trying; or allow more "
	                     "capacity types, instance types or targets in the spec.");
}
