#include "k8s/deploy/capacity.h"

#include <stdio.h>
#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "base/timestamp.h"

/* ---- signs in texts ---- */

struct sign {
	const char *word;
	bool cloud_only; /* the word means something else in other mouths */
};

/* EC2's codes and Karpenter's reasons; the telling ones first. */
static const struct sign signs[] = {
	{"InsufficientInstanceCapacity", false},
	{"MaxSpotInstanceCountExceeded", false},
	{"VcpuLimitExceeded", false},
	{"UnfulfillableCapacity", false},
	{"ReservationCapacityExceeded", false},
	{"MaxFleetCountExceeded", false},
	{"InsufficientFreeAddressesInSubnet", false},
	{"InsufficientCapacityError", false},
	{"InsufficientCapacity", false},
	{"NoCompatibleInstanceTypes", false},
	{"insufficient capacity", true},
	{"filtered out all compatible available instance types", true},
	{"no instance type satisfied", true},
	{"Unsupported", true},
};

const char *capacity_sign(const char *text, bool cloud)
{
	for (size_t i = 0; text != NULL && i < ARRAY_LEN(signs); i++)
		if ((cloud || !signs[i].cloud_only) && strstr(text, signs[i].word) != NULL)
			return signs[i].word;
	return NULL;
}

/* "WORD: TEXT", or the one that is there; printable, for it becomes part of an object. */
static void set_why(struct observation *o, const char *word, const char *text)
{
	word = word != NULL ? word : "";
	text = text != NULL ? text : "";
	snprintf(o->why, sizeof(o->why), "%s%s%s", word,
	         word[0] != '\0' && text[0] != '\0' ? ": " : "", text);
	for (char *p = o->why; *p != '\0'; p++)
		if (*p < ' ' || *p > '~')
			*p = *p == '\n' || *p == '\t' ? ' ' : '?';
}

/* A text that tells the code itself needs it not twice. */
static void set_lack(struct observation *o, const char *sign, const char *text)
{
	o->lack = true;
	set_why(o, text != NULL && strstr(text, sign) != NULL ? NULL : sign, text);
}

/* ---- pieces of objects ---- */

static int64_t number(const cJSON *object, const char *key)
{
	const cJSON *item = json_get(object, key);

	return cJSON_IsNumber(item) ? (int64_t)item->valuedouble : 0;
}

static bool is(const char *a, const char *b)
{
	return a != NULL && strcmp(a, b) == 0;
}

static int64_t time_of(const cJSON *object, const char *key)
{
	const char *text = json_string(object, key);
	int64_t ms;

	return text != NULL && timestamp_iso8601(text, &ms) ? ms : 0;
}

static const cJSON *first(const cJSON *list)
{
	return cJSON_IsArray(list) ? list->child : NULL;
}

/* ---- the job ---- */

static void see_end(const cJSON *job, struct observation *o)
{
	const cJSON *said;
	enum job_phase phase = job_end(job, &said);
	const char *message = json_string(said, "message");

	if (phase == JOB_WAITING)
		return;
	o->phase = phase;
	set_why(o, NULL,
	        message != NULL && message[0] != '\0' ? message : json_string(said, "reason"));
}

/* Pods may be gone whose job remembers them. */
static bool remembers_pods(const cJSON *job)
{
	static const char *const counters[] = {"ready",      "running",  "succeeded",  "failed",
	                                       "retryCount", "restarts", "terminating"};

	for (size_t i = 0; i < ARRAY_LEN(counters); i++)
		if (number(json_get(job, "status"), counters[i]) > 0)
			return true;
	return false;
}

/* ---- pods ---- */

static const cJSON *container_of(const cJSON *pod)
{
	return first(json_get(json_get(pod, "status"), "containerStatuses"));
}

static bool pod_ran(const cJSON *pod)
{
	const char *phase = json_string(json_get(pod, "status"), "phase");

	if (is(phase, "Running") || is(phase, "Succeeded") || is(phase, "Failed"))
		return true;
	for (const cJSON *c = container_of(pod); c != NULL; c = c->next)
		if (number(c, "restartCount") > 0 ||
		    json_get(json_get(c, "state"), "running") != NULL ||
		    json_get(json_get(c, "state"), "terminated") != NULL ||
		    json_get(json_get(c, "lastState"), "terminated") != NULL)
			return true;
	return false;
}

/* What a pod that has a node waits for: an image, a volume. */
static void see_waiting(const cJSON *pod, struct observation *o)
{
	for (const cJSON *c = container_of(pod); c != NULL; c = c->next) {
		const cJSON *waiting = json_get(json_get(c, "state"), "waiting");
		const char *reason = json_string(waiting, "reason");
		const char *message = json_string(waiting, "message");

		if (reason != NULL)
			set_why(o, reason, message);
	}
}

static void see_pods(const cJSON *pods, struct observation *o)
{
	int64_t n = 0;

	for (const cJSON *pod = first(pods); pod != NULL; pod = pod->next) {
		const char *phase = json_string(json_get(pod, "status"), "phase");
		const cJSON *scheduled = object_condition(pod, "PodScheduled");
		bool placed = json_string(json_get(pod, "spec"), "nodeName") != NULL;

		n++;
		o->ran = o->ran || pod_ran(pod);
		if (is(phase, "Running") || is(phase, "Succeeded"))
			o->running++;
		else if (placed)
			see_waiting(pod, o);
		else
			o->unplaced = true;
		if (!placed && json_string(scheduled, "message") != NULL)
			set_why(o, NULL, json_string(scheduled, "message"));
	}
	/* A gang's controller makes no pod before it has room. */
	if (n < o->wanted)
		o->unplaced = true;
	if (n == 0)
		set_why(o, NULL, "it has no pods yet");
}

/* ---- nodes ---- */

static void see_claim(const cJSON *claim, struct observation *o)
{
	static const char *const steps[] = {"Launched", "Registered", "Initialized"};

	if (json_get(json_get(claim, "metadata"), "deletionTimestamp") != NULL ||
	    object_holds(claim, "Initialized"))
		return;
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		const cJSON *step = object_condition(claim, steps[i]);
		const char *message = json_string(step, "message");
		const char *reason = json_string(step, "reason"), *sign;

		if (is(json_string(step, "status"), "True")) {
			o->node_coming = true;
			continue;
		}
		sign = capacity_sign(message, true);
		if (sign == NULL)
			sign = capacity_sign(reason, true);
		if (i == 0 && sign != NULL)
			set_lack(o, sign, message);
		else if (o->node_coming && message != NULL && message[0] != '\0')
			set_why(o, steps[i], message);
		return;
	}
}

/* ---- events ---- */

/* Of our pods, of the pool, or of one of its claims, which are called POOL-SUFFIX. */
static bool concerns(const cJSON *event, const struct fleet_target *target)
{
	const cJSON *about = json_get(event, "involvedObject");
	const char *kind = json_string(about, "kind"), *name = json_string(about, "name");
	size_t len = strlen(target->pool);

	if (kind == NULL || name == NULL)
		return false;
	if (is(kind, "NodePool"))
		return is(name, target->pool);
	if (is(kind, "NodeClaim"))
		return strncmp(name, target->pool, len) == 0 && name[len] == '-' &&
		       strchr(name + len + 1, '-') == NULL;
	return is(kind, "Pod") && strncmp(name, target->job, strlen(target->job)) == 0 &&
	       name[strlen(target->job)] == '-';
}

static int64_t last_seen(const cJSON *event)
{
	int64_t times[] = {time_of(event, "lastTimestamp"), time_of(event, "eventTime"),
	                   time_of(json_get(event, "series"), "lastObservedTime"),
	                   time_of(json_get(event, "metadata"), "creationTimestamp")};
	int64_t last = 0;

	for (size_t i = 0; i < ARRAY_LEN(times); i++)
		last = times[i] > last ? times[i] : last;
	return last;
}

static bool by_karpenter(const cJSON *event)
{
	return is(json_string(json_get(event, "source"), "component"), "karpenter") ||
	       is(json_string(event, "reportingComponent"), "karpenter");
}

static void see_event(const cJSON *event, struct observation *o)
{
	const char *reason = json_string(event, "reason"), *message = json_string(event, "message");
	bool karpenter = by_karpenter(event);
	const char *sign = capacity_sign(message, karpenter);

	if (sign == NULL)
		sign = capacity_sign(reason, karpenter);
	if (sign != NULL)
		set_lack(o, sign, message);
	else if (karpenter && is(reason, "FailedScheduling") && !o->lack)
		/* kube-scheduler's own is normal while a node boots; Karpenter's is not. */
		set_lack(o, "FailedScheduling", message);
}

/* ---- all of it ---- */

void capacity_observe(const struct fleet_target *target, const struct sight *sight, int64_t now_ms,
                      struct observation *ret)
{
	struct observation o = {.now_ms = now_ms, .phase = JOB_WAITING, .wanted = target->nodes};
	int64_t since;

	*ret = o;
	if (sight->job == NULL) {
		ret->phase = JOB_ABSENT;
		return;
	}
	o.ran = remembers_pods(sight->job);
	see_pods(sight->pods, &o);
	if (o.running >= o.wanted)
		o.phase = JOB_RUNNING;
	for (const cJSON *c = first(sight->claims); c != NULL; c = c->next)
		see_claim(c, &o);
	/* Events outlive the job of an earlier attempt. */
	since = time_of(json_get(sight->job, "metadata"), "creationTimestamp");
	for (const cJSON *e = first(sight->events); e != NULL; e = e->next)
		if (concerns(e, target) && last_seen(e) >= since)
			see_event(e, &o);
	see_end(sight->job, &o);
	*ret = o;
}
