/* What a cluster and a registry say when there are no pods, and how a pod that failed is told. */
#include "tests/harness.h"

#include "k8s/deploy/pod.h"
#include "k8s/deploy/postmortem.h"
#include "k8s/deploy/ready_job.h"
#include "k8s/deploy/refusal.h"

struct said {
	const char *message;
	enum refusal wanted;
};

static const struct said sentences[] = {
	{"Error creating: pods \"a\" is forbidden: exceeded quota: q, requested: pods=1, used: "
         "pods=1, limited: pods=1",
         REFUSAL_QUOTA},
	{"Error creating: pods \"a\" is forbidden: exceeded quota: q, requested: "
         "requests.aws.amazon.com/neuron=16, used: requests.aws.amazon.com/neuron=0, limited: "
         "requests.aws.amazon.com/neuron=0",
         REFUSAL_TARGET},
	{"pods \"a\" is forbidden: failed quota: q: must specify limits.cpu for: trainer",
         REFUSAL_FINAL},
	{"pods \"a\" is forbidden: violates PodSecurity \"restricted:latest\": hostPath volumes",
         REFUSAL_FINAL},
	{"admission webhook \"validate.kyverno.svc-fail\" denied the request: no", REFUSAL_FINAL},
	{"pods \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: "
         "no",
         REFUSAL_FINAL},
	{"pods \"a\" is forbidden: no PriorityClass with name high was found", REFUSAL_FINAL},
	{"Pod \"a\" is invalid: spec.containers[0].image: Required value", REFUSAL_FINAL},
	{"Internal error occurred: failed calling webhook \"x\": Post: connection refused",
         REFUSAL_PASSING},
	{"pods \"a\" is forbidden: error looking up service account n/a: not found",
         REFUSAL_PASSING},
	{"0/3 nodes are available", REFUSAL_NONE},
	{"", REFUSAL_NONE},
	{NULL, REFUSAL_NONE},
};

static void sentences_are_taken_for_what_they_mean(void)
{
	for (size_t i = 0; i < ARRAY_LEN(sentences); i++) {
		const char *hint = NULL;

		CHECK_INT(refusal_of(sentences[i].message, &hint), sentences[i].wanted);
		CHECK((hint != NULL) == (sentences[i].wanted != REFUSAL_NONE));
	}
}

static void an_image_that_may_still_come_is_waited_for(void)
{
	CHECK(image_is_refused("failed to resolve reference \"r@sha256:0\": not found"));
	CHECK(image_is_refused("pull access denied, repository does not exist"));
	CHECK(image_is_refused("unexpected status from HEAD request: 403 Forbidden"));
	CHECK(!image_is_refused("dial tcp: lookup r: no such host"));
	CHECK(!image_is_refused("429 Too Many Requests"));
	CHECK(!image_is_refused("Back-off pulling image"));
	CHECK(!image_is_refused(NULL));
}

struct failed {
	const char *pod;
	const char *how; /* NULL = it has not failed */
};

#define TERMINATED(text)                                                                           \
	"{\"status\":{\"phase\":\"Failed\",\"containerStatuses\":[{\"state\":{\"terminated\":"     \
	"{" text "}}}]}}"

static const struct failed pods[] = {
	{TERMINATED("\"exitCode\":137,\"reason\":\"OOMKilled\""), "OOMKilled, exit status 137"},
	{TERMINATED("\"exitCode\":79,\"reason\":\"Error\""),
         "Error, exit status 79: damaged input: a shard, a dataset or a checkpoint"},
	{TERMINATED("\"exitCode\":2"), "exit status 2"},
	{TERMINATED("\"exitCode\":0"), NULL},
	{TERMINATED("\"exitCode\":1e300"), NULL},
	{"{\"status\":{\"phase\":\"Failed\",\"reason\":\"Evicted\",\"message\":\"low "
         "on\\nmemory\"}}",
         "Evicted: low on memory"},
	{"{\"status\":{\"phase\":\"Running\"}}", NULL},
	{"7", NULL},
};

static void a_failed_pod_is_told_by_its_reason(void)
{
	for (size_t i = 0; i < ARRAY_LEN(pods); i++) {
		AUTO(json) cJSON *pod = cJSON_Parse(pods[i].pod);
		char how[POD_TEXT_MAX];

		CHECK_INT(pod_failure(pod, how), pods[i].how != NULL);
		CHECK_STR(how, pods[i].how != NULL ? pods[i].how : "");
	}
}

static void the_first_pod_to_fail_is_examined(void)
{
	AUTO(json)
	cJSON *list = cJSON_Parse(
		"[{\"metadata\":{\"name\":\"a\"},\"status\":{\"phase\":\"Failed\","
		"\"containerStatuses\":[{\"state\":{\"terminated\":{\"exitCode\":76,"
		"\"finishedAt\":\"2026-01-01T00:00:09Z\"}}}]}},"
		"{\"metadata\":{\"name\":\"b\"},\"status\":{\"phase\":\"Failed\","
		"\"containerStatuses\":[{\"state\":{\"terminated\":{\"exitCode\":1,"
		"\"finishedAt\":\"2026-01-01T00:00:03Z\"}}}]}},"
		"{\"metadata\":{\"name\":\"c\"},\"status\":{\"phase\":\"Running\"}},7]");

	CHECK_STR(object_name(postmortem_pod(list)), "b");
	CHECK(postmortem_pod(NULL) == NULL);
}

struct prepared {
	const char *pods, *events;
	enum readiness wanted;
	const char *why;
};

static const struct prepared jobs[] = {
	{"[]", "[]", NOT_YET, "not done"},
	{"[]",
         "[{\"reason\":\"FailedCreate\",\"message\":\"admission webhook \\\"k\\\" denied the "
         "request: no\"}]",
         NEVER, "not done: the cluster refuses its pod: admission webhook \"k\" denied"},
	{"[]",
         "[{\"reason\":\"FailedCreate\",\"message\":\"is forbidden: exceeded quota: q, requested: "
         "pods=1, used: pods=1\"}]",
         NOT_YET, "exceeded quota"},
	{"[{\"status\":{\"phase\":\"Pending\",\"containerStatuses\":[{\"state\":{\"waiting\":{"
         "\"reason\":\"ImagePullBackOff\",\"message\":\"manifest unknown\"}}}]}}]",
         "[]", NEVER, "ImagePullBackOff: manifest unknown"},
	{"[{\"status\":{\"phase\":\"Pending\",\"containerStatuses\":[{\"state\":{\"waiting\":{"
         "\"reason\":\"ContainerCreating\"}}}]}}]",
         "[]", NOT_YET, "ContainerCreating"},
	{"[{\"status\":{\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\","
         "\"status\":"
         "\"False\",\"message\":\"0/2 nodes\"}]}}]",
         "[]", NOT_YET, "its pod has no node: 0/2 nodes"},
	{"{}", "7", NOT_YET, "not done"},
};

static void a_preparation_says_what_keeps_it(void)
{
	for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
		AUTO(json) cJSON *list = cJSON_Parse(jobs[i].pods);
		AUTO(json) cJSON *events = cJSON_Parse(jobs[i].events);
		char why[WHY_MAX] = "not done";

		CHECK_INT(ready_job_judge(list, events, NOT_YET, why), jobs[i].wanted);
		if (strstr(why, jobs[i].why) == NULL)
			CHECK_STR(why, jobs[i].why);
	}
}

int main(void)
{
	TEST("refusal: sentences are taken for what they mean",
	     sentences_are_taken_for_what_they_mean);
	TEST("refusal: an image that may still come is waited for",
	     an_image_that_may_still_come_is_waited_for);
	TEST("pod: one that failed is told by its reason", a_failed_pod_is_told_by_its_reason);
	TEST("postmortem: the first pod to fail is examined", the_first_pod_to_fail_is_examined);
	TEST("ready: a preparation says what keeps it", a_preparation_says_what_keeps_it);
	return test_done();
}
