/* What fleets share: who uses it, who installed it, and whose configuration is whose. */
#include "tests/fleet_make.h"

#include "k8s/deploy/found.h"
#include "k8s/deploy/program.h"
#include "k8s/deploy/shared.h"
#include "k8s/deploy/volcano.h"

#define LABELS(owner)                                                                              \
	"\"labels\":{\"slipway/owner\":\"" owner "\",\"app.kubernetes.io/part-of\":\"p\"}"
#define DAEMONSET(metadata, image, tolerations)                                                    \
	"{\"apiVersion\":\"apps/v1\",\"kind\":\"DaemonSet\",\"metadata\":{\"namespace\":\"s\","    \
	"" metadata "},\"spec\":{\"template\":{\"spec\":{\"tolerations\":[" tolerations            \
	"],\"containers\":[{\"name\":\"a\",\"image\":\"" image "\"}]}}}}"
#define NVIDIA_TAINT "{\"key\":\"nvidia.com/gpu\",\"operator\":\"Exists\"}"
#define OURS                                                                                       \
	DAEMONSET("\"name\":\"nvidia-device-plugin\"," LABELS("shared.fleets"),                    \
	          "nvcr.io/nvidia/k8s-device-plugin:v0.20.0", NVIDIA_TAINT)

static void users_are_annotations(void)
{
	AUTO(json)
	cJSON *o = cJSON_Parse("{\"metadata\":{" LABELS(
		"shared.fleets") ",\"annotations\":{"
	                         "\"used-by.slipway/a\":\"x\",\"used-by.slipway/"
	                         "b\":\"x\",\"other\":\"c\"}}}");
	AUTO(strbuf) struct strbuf names = STRBUF_INIT(100);

	CHECK(object_is_shared(o));
	CHECK_STR(shared_part(o), "p");
	CHECK(shared_used_by(o, "a") && shared_used_by(o, "b") && !shared_used_by(o, "c"));
	CHECK_INT((int)shared_others(o, "a", &names), 1);
	CHECK_STR(strbuf_str(&names), "b");
	CHECK_INT((int)shared_others(o, "c", NULL), 2);
	CHECK(!shared_used_by(NULL, "a"));
}

struct installation {
	const char *live; /* one object */
	bool used;
};

static const struct installation installations[] = {
	/* A chart in another namespace, from a mirror, by digest. */
	{DAEMONSET("\"name\":\"x\"", "mirror:5000/k8s-device-plugin@sha256:00", ""), true},
	{DAEMONSET("\"name\":\"x\"", "k8s-device-plugin", ""), true},
	{DAEMONSET("\"name\":\"x\"", "nvidia/k8s-device-plugin-2:v1", ""), false},
	{DAEMONSET("\"name\":\"x\"", "k8s-device-plugin/other:v1", ""), false},
	/* Of the same name, whatever it runs. */
	{DAEMONSET("\"name\":\"nvidia-device-plugin\"", "other", ""), true},
	/* Slipway's own, of this fleet or another. */
	{OURS, false},
	{DAEMONSET("\"name\":\"x\"," LABELS("b"), "k8s-device-plugin", ""), false},
	{"{\"apiVersion\":\"apps/v1\",\"kind\":\"DaemonSet\",\"spec\":7}", false},
	{"{\"apiVersion\":\"apps/v1\",\"kind\":\"DaemonSet\",\"metadata\":{\"name\":\"x\"}}",
         false},
};

static void others_are_found_by_their_program(void)
{
	AUTO(json) cJSON *item = cJSON_Parse(OURS);

	for (size_t i = 0; i < ARRAY_LEN(installations); i++) {
		AUTO(json) cJSON *live = cJSON_CreateArray();

		cJSON_AddItemToArray(live, cJSON_Parse(installations[i].live));
		if ((found_for(item, live) != NULL) != installations[i].used)
			CHECK_STR(installations[i].live, "judged otherwise");
	}
	CHECK(found_for(item, NULL) == NULL);
	CHECK(!is_program(NULL, "a") && !is_program("", "a") && is_program("r:5/b/a:1", "a"));
}

/* One target with the taint nvidia.com/gpu. */
static const char *missed_by(const char *tolerations)
{
	struct fleet_target target = {.name = "p4d",
	                              .shape = instance_find("p4d.24xlarge"),
	                              .taints = {{"nvidia.com/gpu", "present", "NoSchedule"}},
	                              .n_taints = 1};
	struct fleet fleet = {.targets = &target, .n_targets = 1};
	AUTO(json) cJSON *item = cJSON_Parse(OURS), *found = cJSON_Parse(OURS);
	cJSON *spec = cJSON_GetObjectItem(cJSON_GetObjectItem(found, "spec"), "template");
	const struct fleet_target *whose = NULL;

	cJSON_ReplaceItemInObject(cJSON_GetObjectItem(spec, "spec"), "tolerations",
	                          cJSON_Parse(tolerations));
	return found_misses(item, found, &fleet, &whose) != NULL ? whose->name : "";
}

static void foreign_plugins_must_tolerate_the_taints(void)
{
	CHECK_STR(missed_by("[]"), "p4d");
	CHECK_STR(missed_by("[" NVIDIA_TAINT "]"), "");
	CHECK_STR(missed_by("[{\"operator\":\"Exists\"}]"), "");
	CHECK_STR(missed_by("[{\"key\":\"nvidia.com/gpu\",\"value\":\"present\"}]"), "");
	CHECK_STR(missed_by("[{\"key\":\"nvidia.com/gpu\",\"value\":\"absent\"}]"), "p4d");
	CHECK_STR(missed_by("[{\"key\":\"nvidia.com/gpu\",\"operator\":\"Exists\","
	                    "\"effect\":\"NoExecute\"}]"),
	          "p4d");
	CHECK_STR(missed_by("[{\"key\":\"CriticalAddonsOnly\",\"operator\":\"Exists\"}]"), "p4d");
}

static void other_slipways_yield(void)
{
	CHECK(shared_conflict_is_ours(
		"Apply failed with 1 conflict: conflict with \"slipway-b\": .spec.x"));
	CHECK(shared_conflict_is_ours(
		"Apply failed with 1 conflict: conflict with \"slipway\": .x"));
	CHECK(!shared_conflict_is_ours("conflict with \"slipways\": .x"));
	CHECK(!shared_conflict_is_ours(
		"conflicts with \"slipway-b\": .x conflicts with \"helm\": .y"));
	CHECK(!shared_conflict_is_ours(
		"conflict with \"slipway-b\": .metadata.annotations.eks.amazonaws.com/role-arn"));
	CHECK(!shared_conflict_is_ours("the object has been modified"));
}

#define TIERS(plugins) "tiers:\n- plugins:\n  - name: gang\n- plugins:\n" plugins

static void volcano_is_told_what_holds_jobs_back(void)
{
	const char *stock = "actions: \"enqueue, allocate, backfill\"\n" TIERS(
		"  - name: overcommit\n  - name: proportion\n");

	CHECK_STR(volcano_holds_back(stock), "overcommit");
	CHECK_STR(volcano_holds_back(TIERS("  - name: capacity\n")), "capacity");
	CHECK(volcano_holds_back(
		      "actions: \"allocate, backfill\"\n" TIERS("  - name: overcommit\n")) == NULL);
	CHECK(volcano_holds_back("actions: \"enqueue, allocate\"\n" TIERS("  - name: drf\n")) ==
	      NULL);
	CHECK(volcano_holds_back(TIERS("  - name: proportion\n    enableJobEnqueued: false\n")) ==
	      NULL);
	CHECK(volcano_holds_back(NULL) == NULL && volcano_holds_back("") == NULL);
	CHECK(volcano_holds_back("tiers: [7, {plugins: 7}]") == NULL);
	CHECK(volcano_holds_back("{") == NULL);
}

int main(void)
{
	TEST("shared: each fleet that uses an object is an annotation", users_are_annotations);
	TEST("shared: what others installed is found by its program or its name",
	     others_are_found_by_their_program);
	TEST("shared: a foreign plugin must tolerate the taints of the fleet's nodes",
	     foreign_plugins_must_tolerate_the_taints);
	TEST("shared: values of another slipway yield, those of anybody else and roles do not",
	     other_slipways_yield);
	TEST("volcano: a configuration that holds jobs back is told by the plugin that does",
	     volcano_is_told_what_holds_jobs_back);
	return test_done();
}
