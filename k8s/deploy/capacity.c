#include "k8s/deploy/capacity.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "k8s/deploy/pod.h"

/* ---- signs in texts ---- */

struct sign {
	const char *word;
	bool cloud_only; /* the word means something else in other mouths */
	bool follows;    /* from launches that failed, whose own codes say more */
};

/* EC2's codes and Karpenter's reasons; the specific ones first. */
static const struct sign signs[] = {
	{"InsufficientInstanceCapacity", false, false},
	{"MaxSpotInstanceCountExceeded", false, false},
	{"VcpuLimitExceeded", false, false},
	{"UnfulfillableCapacity", false, false},
	{"ReservationCapacityExceeded", false, false},
	{"MaxFleetCountExceeded", false, false},
	{"InsufficientFreeAddressesInSubnet", false, false},
	{"InsufficientCapacityError", false, false},
	{"InsufficientCapacity", false, false},
	{"NoCompatibleInstanceTypes", false, true},
	{"insufficient capacity", true, false},
	{"filtered out all compatible available instance types", true, true},
	{"no instance type satisfied", true, true},
	{"Unsupported", true, false},
	/* kube-scheduler's is normal while a node boots; Karpenter's is not */
	{"FailedScheduling", true, true},
};

/* The sign of missing capacity that a text names, or NULL. `cloud`: the text is Karpenter's or
 * EC2's, in which more words are signs. */
static const struct sign *sign_in(const char *text, bool cloud)
{
	for (size_t i = 0; text != NULL && i < ARRAY_LEN(signs); i++)
		if ((cloud || !signs[i].cloud_only) && strstr(text, signs[i].word) != NULL)
			return &signs[i];
	return NULL;
}

/* "WORD: TEXT", or the one that is there; printable, for it becomes part of an object. */
static void set_why(struct observation *o, const char *word, const char *text)
{
	/* What ends the waiting is not hidden behind what another pod waits for. */
	if (o->no_image)
		return;
	word = word != NULL ? word : "";
	text = text != NULL ? text : "";
	snprintf(o->why, sizeof(o->why), "%s%s%s", word,
	         word[0] != '\0' && text[0] != '\0' ? ": " : "", text);
	for (char *p = o->why; *p != '\0'; p++)
		if (*p < ' ' || *p > '~')
			*p = *p == '\n' || *p == '\t' ? ' ' : '?';
}

/* A text that names the code itself does not need it twice. What follows from a lack hides nothing
 * that was said of it, whichever came last. */
static void set_lack(struct observation *o, const struct sign *sign, const char *text)
{
	if (o->lack && sign->follows)
		return;
	o->lack = true;
	set_why(o, text != NULL && strstr(text, sign->word) != NULL ? NULL : sign->word, text);
}

/* ---- pods ---- */

static bool is_image_gone(const char *reason, const char *message)
{
	return (strcmp(reason, "ErrImagePull") == 0 || strcmp(reason, "ImagePullBackOff") == 0 ||
	        strcmp(reason, "InvalidImageName") == 0) &&
	       (image_is_refused(message) || strcmp(reason, "InvalidImageName") == 0);
}

/* What a pod that has a node waits for: an image, a volume. */
static void see_waiting(const cJSON *pod, struct observation *o)
{
	const char *reason, *message;

	for (const cJSON *c = NULL; (c = pod_next_status(pod, c)) != NULL;) {
		if (!container_waits(c, &reason, &message))
			continue;
		set_why(o, reason, message);
		o->no_image = o->no_image || is_image_gone(reason, message);
	}
}

static void see_failed(const cJSON *pod, struct observation *o)
{
	char text[POD_TEXT_MAX];

	o->rejected = o->rejected || pod_rejected(pod);
	if (pod_failure(pod, text))
		set_why(o, object_name(pod), text);
}

static void see_pod(const cJSON *pod, struct observation *o)
{
	const char *phase = object_phase(pod);

	if (phase != NULL && strcmp(phase, "Failed") == 0)
		see_failed(pod, o);
	else if (!pod_runs(pod) && pod_node(pod) != NULL)
		see_waiting(pod, o);
	else if (!pod_runs(pod))
		o->unplaced = true;
	if (pod_node(pod) == NULL && pod_unplaced(pod) != NULL)
		set_why(o, NULL, pod_unplaced(pod));
}

static void see_pods(const cJSON *pods, const struct job_view *job, struct observation *o)
{
	for (const cJSON *pod = object_first(pods); pod != NULL; pod = pod->next)
		see_pod(pod, o);
	/* A gang's controller makes no pod before it has room. */
	if (job->alive < job->wanted)
		o->unplaced = true;
	if (job->pods == 0)
		set_why(o, NULL, "it has no pods yet");
}

/* ---- nodes ---- */

/* Karpenter has asked for the machine, and not been told anything. */
static bool is_launching(const cJSON *launched)
{
	return launched == NULL || object_says(launched, "reason", "AwaitingReconciliation");
}

static void see_claim(const cJSON *claim, struct observation *o)
{
	static const char *const steps[] = {"Launched", "Registered", "Initialized"};

	if (json_get(json_get(claim, "metadata"), "deletionTimestamp") != NULL ||
	    object_holds(claim, "Initialized"))
		return;
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		const cJSON *step = object_condition(claim, steps[i]);
		const char *message = json_string(step, "message");
		const char *reason = json_string(step, "reason");
		const struct sign *sign;

		if (object_says(step, "status", "True")) {
			o->node_coming = true;
			continue;
		}
		sign = sign_in(message, true);
		if (sign == NULL)
			sign = sign_in(reason, true);
		if (i == 0 && sign != NULL)
			set_lack(o, sign, message);
		else if (i == 0)
			o->launching = o->launching || is_launching(step);
		else if (o->node_coming && message != NULL && message[0] != '\0')
			set_why(o, steps[i], message);
		return;
	}
}

/* ---- events ---- */

/* "JOB", or "JOB-..." as its pods, its child Job and its pod group are called. */
static bool is_named_after(const char *name, const char *job)
{
	size_t len = strlen(job);

	return strncmp(name, job, len) == 0 && (name[len] == '\0' || name[len] == '-');
}

/* Of the pool, of one of its claims, which are called POOL-SUFFIX, or of what the job owns; of the
 * job itself, not of a former one of its name. */
static bool concerns(const cJSON *event, const struct fleet_target *target, const cJSON *job)
{
	const cJSON *about = json_get(event, "involvedObject");
	const char *name = json_string(about, "name"), *uid = json_string(about, "uid");
	size_t len = strlen(target->pool);

	if (name == NULL)
		return false;
	if (object_is(about, "NodePool"))
		return strcmp(name, target->pool) == 0;
	if (object_is(about, "NodeClaim"))
		return strncmp(name, target->pool, len) == 0 && name[len] == '-' &&
		       strchr(name + len + 1, '-') == NULL;
	if (strcmp(name, target->job) == 0 && uid != NULL && object_uid(job) != NULL &&
	    object_is(about, json_string(job, "kind") != NULL ? json_string(job, "kind") : ""))
		return strcmp(uid, object_uid(job)) == 0;
	return is_named_after(name, target->job);
}

static int64_t last_seen(const cJSON *event)
{
	int64_t times[] = {object_time(event, "lastTimestamp"), object_time(event, "eventTime"),
	                   object_time(json_get(event, "series"), "lastObservedTime"),
	                   object_time(json_get(event, "metadata"), "creationTimestamp")};
	int64_t last = 0;

	for (size_t i = 0; i < ARRAY_LEN(times); i++)
		last = times[i] > last ? times[i] : last;
	return last;
}

static bool by_karpenter(const cJSON *event)
{
	return object_says(json_get(event, "source"), "component", "karpenter") ||
	       object_says(event, "reportingComponent", "karpenter");
}

/* Is a pod missing because the cluster refused it? */
static bool see_refusal(const cJSON *event, struct observation *o)
{
	const char *message = json_string(event, "message"), *hint = NULL;
	bool failed_create = object_says(event, "reason", "FailedCreate");
	enum refusal refusal = refusal_of(message, &hint);

	if (refusal == REFUSAL_NONE && !failed_create)
		return false;
	if (refusal == REFUSAL_NONE)
		refusal = REFUSAL_PASSING;
	if (refusal < o->refusal || last_seen(event) < o->refused_ms)
		return true;
	o->refusal = refusal;
	o->refused_ms = last_seen(event);
	o->refusal_hint = hint;
	set_why(o, NULL, message);
	return true;
}

/* What became of a pod that has a node: its volume, its image. */
static void see_pod_event(const cJSON *event, struct observation *o)
{
	const char *reason = json_string(event, "reason"), *message = json_string(event, "message");

	if (reason == NULL || text_has_prefix(reason, "FailedScheduling") || o->unplaced)
		return;
	if (strcmp(reason, "Failed") == 0 && message != NULL &&
	    text_has_prefix(message, "Failed to pull image") && image_is_refused(message)) {
		set_why(o, reason, message);
		o->no_image = true;
	} else if (text_has_prefix(reason, "Failed")) {
		set_why(o, reason, message);
	}
}

/* Does it come from a controller that makes pods? A pod that exists was not refused. */
static bool may_refuse(const cJSON *event, bool karpenter)
{
	const cJSON *about = json_get(event, "involvedObject");

	return !karpenter && !object_is(about, "NodePool") && !object_is(about, "NodeClaim") &&
	       !object_is(about, "Pod");
}

static void see_event(const cJSON *event, bool missing, struct observation *o)
{
	const char *reason = json_string(event, "reason"), *message = json_string(event, "message");
	bool karpenter = by_karpenter(event);
	const struct sign *sign = sign_in(message, karpenter);

	if (missing && may_refuse(event, karpenter) && see_refusal(event, o))
		return;
	if (o->refusal > REFUSAL_PASSING)
		return;
	if (sign == NULL)
		sign = sign_in(reason, karpenter);
	if (sign != NULL)
		set_lack(o, sign, message);
	else if (object_is(json_get(event, "involvedObject"), "Pod") && !o->lack)
		see_pod_event(event, o);
}

/* ---- all of it ---- */

static void see_end(const struct job_view *job, struct observation *o)
{
	if (!job_has_ended(job->phase))
		return;
	o->phase = job->phase;
	set_why(o, NULL, job->why != NULL && job->why[0] != '\0' ? job->why : job->reason);
}

void capacity_observe(const struct fleet_target *target, const struct sight *sight, int64_t now_ms,
                      struct observation *ret)
{
	struct job_view job;
	int64_t since;

	job_read(target, sight->job, sight->pods, &job);
	*ret = (struct observation){.now_ms = now_ms,
	                            .phase = job.phase,
	                            .ran = job.ran,
	                            .running = (int64_t)job.running,
	                            .wanted = (int64_t)job.wanted};
	if (job.phase == JOB_ABSENT)
		return;
	/* Volcano calls a gang running, and a Job makes its pods one by one, before each node has
	 * its own: here the job runs when all of them do. */
	ret->phase = job.running >= job.wanted ? JOB_RUNNING : JOB_WAITING;
	see_pods(sight->pods, &job, ret);
	for (const cJSON *c = object_first(sight->claims); c != NULL; c = c->next)
		see_claim(c, ret);
	/* Events outlive the job of an earlier attempt, and what hindered pods that ran since. */
	since = object_time(json_get(sight->job, "metadata"), "creationTimestamp");
	if (job.running == 0 && since < sight->since_ms)
		since = sight->since_ms;
	for (const cJSON *e = object_first(sight->events); e != NULL; e = e->next)
		if (concerns(e, target, sight->job) && last_seen(e) >= since)
			see_event(e, job.alive < job.wanted, ret);
	see_end(&job, ret);
}
