/* Stages of a fleet, when objects are ready, and what leaves with the fleet. */
#include "tests/fleet_make.h"

#include "k8s/deploy/apply.h"
#include "k8s/deploy/undeploy.h"

#define META "\"metadata\":{\"name\":\"a\",\"generation\":2}"

struct state {
	const char *json;
	enum readiness wanted;
	const char *why; /* part of it */
};

static const struct state states[] = {
	{"{\"apiVersion\":\"apps/v1\",\"kind\":\"DaemonSet\"," META
         ",\"status\":{\"observedGeneration\":1}}",
         NOT_YET, "has not seen it"},
	{"{\"apiVersion\":\"apps/v1\",\"kind\":\"DaemonSet\"," META
         ",\"status\":{\"observedGeneration\":2}}",
         READY, ""},
	{"{\"apiVersion\":\"apps/v1\",\"kind\":\"DaemonSet\"," META
         ",\"status\":{\"observedGeneration\":2,\"desiredNumberScheduled\":3,"
         "\"updatedNumberScheduled\":3,\"numberAvailable\":1}}",
         NOT_YET, "1 available"},
	{"{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"," META
         ",\"spec\":{\"replicas\":2},\"status\":{\"observedGeneration\":2,\"updatedReplicas\":2,"
         "\"availableReplicas\":2}}",
         READY, ""},
	{"{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\"," META "}", NOT_YET,
         "not bound yet"},
	{"{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\"," META
         ",\"status\":{\"phase\":\"Lost\"}}",
         NEVER, "Lost"},
	{"{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodePool\"," META
         ",\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\",\"message\":"
         "\"no subnets\"}]}}",
         NOT_YET, "no subnets"},
	{"{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\"," META
         ",\"status\":{\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\",\"message\":"
         "\"BackoffLimitExceeded\"}]}}",
         NEVER, "BackoffLimitExceeded"},
	{"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"," META "}", READY, ""},
	{"{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"status\":7}", NOT_YET, ""},
};

static void readiness_is_told_with_its_reason(void)
{
	for (size_t i = 0; i < ARRAY_LEN(states); i++) {
		AUTO(json) cJSON *live = cJSON_Parse(states[i].json);
		char why[WHY_MAX];

		CHECK_INT(object_readiness(live, why), states[i].wanted);
		if (strstr(why, states[i].why) == NULL)
			CHECK_STR(why, states[i].why);
	}
}

/* Objects of the last stage, whose name must be "jobs". */
static int jobs_of(const char *target)
{
	struct fleet_run f;
	struct stage_list list;
	int n = -1;

	CHECK_INT(fleet_run(&f, "slipway.yaml"), 0);
	stages_plan(&f.out, target, &list);
	CHECK_STR(list.at[0].name, "namespace");
	CHECK_STR(list.at[list.n - 1].name, "jobs");
	n = cJSON_GetArraySize(list.at[list.n - 1].items);
	CHECK(stage_has_job(&list.at[list.n - 1]));
	CHECK(strstr(object_name(list.at[list.n - 1].items->child), target) != NULL);
	stage_list_done(&list);
	fleet_run_done(&f);
	return n;
}

static void one_targets_job_is_the_last_stage(void)
{
	CHECK_INT(jobs_of("trn1"), 1);
	CHECK_INT(jobs_of("g5g"), 1);
}

static void a_plan_has_a_stage_per_deployed_concern(void)
{
	static const struct cluster_section cluster;
	static const struct fleet fleet = {.name = "f", .cluster = &cluster};
	struct k8s_renderer rows[20] = {{0}};
	char names[ARRAY_LEN(rows)][16];
	struct k8s_output out = {.fleet = &fleet};
	struct stage_list list;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		snprintf(names[i], sizeof(names[i]), "concern-%zu", i);
		rows[i] = (struct k8s_renderer){
			.number = "10", .name = names[i], .deployed = i % 10 != 9};
		k8s_begin(&out, &rows[i]);
		k8s_file(&out, "one.yaml", "One.");
		k8s_add(&out, "v1", "ConfigMap", "n", names[i]);
		k8s_file(&out, "two.yaml", "Two.");
		k8s_add(&out, "v1", "ConfigMap", "n", "two");
	}
	stages_plan(&out, "", &list);
	CHECK_INT(list.n, 18);
	CHECK_STR(list.at[17].name, "concern-18");
	CHECK_INT(cJSON_GetArraySize(list.at[17].items), 2);
	CHECK(!stage_has_job(&list.at[17]));
	stage_list_done(&list);
	k8s_output_done(&out);
}

static void every_kind_that_is_rendered_is_known(void)
{
	for (uint64_t seed = 0; seed < 60; seed++) {
		AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
		char path[] = "/tmp/slipway-deploy-XXXXXX";
		int fd = mkstemp(path);
		struct fleet_run f;

		random_spec(seed, &text);
		CHECK(fd >= 0 && write(fd, text.ptr, text.len) == (ssize_t)text.len);
		close(fd);
		CHECK_INT(fleet_run(&f, path), 0);
		for (size_t i = 0; i < f.out.n; i++)
			for (size_t k = 0; k < f.out.files[i].n; k++)
				if (!f.out.files[i].at[k].foreign)
					CHECK(kind_of(f.out.files[i].at[k].doc) != NULL);
		fleet_run_done(&f);
		unlink(path);
	}
}

static bool goes(const char *kind, const char *version, const char *component, bool keep_data)
{
	AUTO(json) cJSON *o = cJSON_CreateObject();
	struct undeploy_opts opts = {.keep_data = keep_data};

	json_add_string(o, "apiVersion", version);
	json_add_string(o, "kind", kind);
	json_add_string(json_add_object(json_add_object(o, "metadata"), "labels"),
	                "app.kubernetes.io/component", component);
	return undeploy_takes(o, &opts);
}

static void kept_data_keeps_what_serves_it(void)
{
	CHECK(goes("PersistentVolumeClaim", "v1", "storage", false));
	CHECK(!goes("PersistentVolumeClaim", "v1", "storage", true));
	CHECK(!goes("DaemonSet", "apps/v1", "storage", true));
	CHECK(!goes("Namespace", "v1", "namespace", true));
	CHECK(goes("DaemonSet", "apps/v1", "devices", true));
	CHECK(goes("Job", "batch/v1", "storage", true));
	CHECK(goes("NodePool", "karpenter.sh/v1", "karpenter", true));
}

int main(void)
{
	TEST("deploy: readiness is told with its reason", readiness_is_told_with_its_reason);
	TEST("deploy: one target's job is the last stage", one_targets_job_is_the_last_stage);
	TEST("deploy: a plan has a stage for each concern that is deployed",
	     a_plan_has_a_stage_per_deployed_concern);
	TEST("deploy: every kind that is rendered is known", every_kind_that_is_rendered_is_known);
	TEST("undeploy: kept data keeps what serves it", kept_data_keeps_what_serves_it);
	return test_done();
}
