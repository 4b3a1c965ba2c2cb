/* Patches of rendered objects, and the pods of ready images: the traps that goldens do not show. */
#include "k8s/object/pods.h"
#include "k8s/object/quantity.h"
#include "tests/render_make.h"

static void quantities(void)
{
	static const struct {
		const char *text;
		int64_t thousandths;
	} rows[] = {{"0", 0},      {"2", 2000},      {"1.5", 1500},         {"0.25", 250},
	            {"500m", 500}, {"1Ki", 1024000}, {"2G", 2000000000000}, {"1Gi", 1073741824000}};
	static const char *const bad[] = {"",   "m",   "-1", "1 Gi", "1.",
	                                  ".5", "1gi", "1e", "x",    "99999999999999Ti"};
	int64_t got;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CHECK(quantity_parse(rows[i].text, &got));
		CHECK_INT(got, rows[i].thousandths);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK(!quantity_parse(bad[i], &got));
}

/* Kubernetes: the containers together with the sidecars, or an init container with those before
 * it. */
static void requests(void)
{
	static const char text[] =
		"{\"initContainers\":["
		"{\"name\":\"s\",\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{"
		"\"cpu\":\"1\"}}},"
		"{\"name\":\"i\",\"resources\":{\"requests\":{\"cpu\":\"4\"}}}],"
		"\"containers\":[{\"name\":\"a\",\"resources\":{\"limits\":{\"cpu\":2}}}]}";
	AUTO(json) cJSON *pod = cJSON_Parse(text);
	int64_t cpu;

	CHECK(pod_requests(pod, "cpu", &cpu));
	CHECK_INT(cpu, 5000);
	CHECK(pod_requests(pod, "memory", &cpu));
	CHECK_INT(cpu, 0);
}

/* The first remark at the member, NULL = none. */
static const char *note_at(const struct fleet_run *f, const cJSON *object, const char *key)
{
	for (size_t i = 0; i < f->out.n_notes; i++)
		if (f->out.notes[i].item == json_get(object, key))
			return f->out.notes[i].text;
	return NULL;
}

static void remarks_name_patch(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "patches",
	       "patches=[{kind: NodePool, name: '*-g5', merge: {spec: {weight: 7}}}]");
	const cJSON *spec = json_get(find(&f, "NodePool", "perceiver-g5"), "spec");

	CHECK_STR(note_at(&f, spec, "weight"), "--set patches");
	spec = json_get(find(&f, "NodePool", "perceiver-trn1"), "spec");
	CHECK_STR(note_at(&f, spec, "weight"), "patches.yaml:7 fleet.trn1.weight");
}

static void only_names_what_it_says(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "patches",
	       "patches=[{kind: Job, apiVersion: batch/v1, name: p*r-*n1, merge: {spec: {suspend: "
	       "true}}}]");
	CHECK(holds(&f, find(&f, "Job", "perceiver-trn1"), "\"suspend\":true"));
	CHECK(!holds(&f, find(&f, "Job", "perceiver-g5"), "suspend"));
}

/* What slipway render --only shows is patched, too, and a patch of what is not shown is no fault. */
static void parts_are_patched(void)
{
	AUTO(fleet_run) struct fleet_run f;
	AUTO(k8s_output) struct k8s_output some = {0};
	const char *names[] = {"karpenter"};

	RENDER(&f, "patches", "job.nodes=2");
	CHECK_OK(k8s_render(&renderers, &f.spec->fleet, &(struct strlist){names, 1}, &some, &f.err),
	         &f.err);
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	k8s_stream(&some, K8S_JSON, (struct k8s_scope){0}, &text);
	CHECK(strstr(strbuf_str(&text), "\"terminationGracePeriod\": \"10m\"") != NULL);
}

static void home_follows_image(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "ready-image", "job.retries=1");
	CHECK(holds(&f, find(&f, "Job", "torch-p4d"), "{\"name\":\"HOME\",\"value\":\"/tmp\"}"));
	fleet_run_done(&f);
	RENDER(&f, "ready-image", "job.writable_root=\"pip installs what the spec names\"");
	CHECK(!holds(&f, find(&f, "Job", "torch-p4d"), "HOME"));
	fleet_run_done(&f);
	RENDER(&f, "ready-image", "job.home=/work/scratch");
	CHECK(holds(&f, find(&f, "Job", "torch-p4d"),
	            "{\"name\":\"HOME\",\"value\":\"/work/scratch\"}"));
}

static const cJSON *pod_of(const struct fleet_run *f, const char *job)
{
	return json_get(json_get(json_get(find(f, "Job", job), "spec"), "template"), "spec");
}

/* What a sidecar takes is not asked for twice. */
static void sidecars_take_their_share(void)
{
	AUTO(fleet_run) struct fleet_run with, without;
	int64_t sum = 0, alone = 0;

	RENDER(&with, "ready-image", "job.sidecars=[{name: a, cpu: 2, memory: 2Gi}]");
	RENDER(&without, "ready-image", "job.sidecars=[]");
	CHECK(pod_requests(pod_of(&with, "torch"), "cpu", &sum));
	CHECK(pod_requests(pod_of(&without, "torch"), "cpu", &alone));
	CHECK_INT(sum, alone);
	struct pod_walk walk = pod_walk(pod_of(&with, "torch"));

	CHECK_STR(json_string(pod_walk_next(&walk), "name"), "a");
}

static void shares_have_their_plugin(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "shares", "job.nodes=2");
	const cJSON *plugin = find(&f, "DaemonSet", "nvidia-device-plugin-slices-4");

	CHECK(holds(&f, plugin, "\"slipway/time-slices\":\"4\""));
	CHECK(holds(&f, plugin, "used-by.slipway/notebooks"));
	CHECK(holds(&f, find(&f, "NodePool", "notebooks-g5"), "\"slipway/time-slices\":\"4\""));
	CHECK(!holds(&f, find(&f, "NodePool", "notebooks-g6"), "slipway/time-slices"));
	CHECK(holds(&f, find(&f, "ConfigMap", "slices-4"), "replicas: 4"));
	CHECK(holds(&f, find(&f, "Job", "notebooks-g5"), "\"nvidia.com/gpu.shared\":\"1\""));
	CHECK(holds(&f, find(&f, "Job", "notebooks-g6"), "\"nvidia.com/gpu\":\"1\""));
	/* A share of the node's CPU and memory goes with it. */
	CHECK(f.spec->fleet.targets[0].cpu_milli < 2000);
}

int main(void)
{
	TEST("quantities: every form of an amount is read, and nothing else", quantities);
	TEST("pods: a pod asks for what Kubernetes counts", requests);
	TEST("patches: remarks name the patch, and others stay", remarks_name_patch);
	TEST("patches: kind, apiVersion and name choose the objects", only_names_what_it_says);
	TEST("patches: a part that is rendered alone is patched", parts_are_patched);
	TEST("ready image: HOME is where the program may write", home_follows_image);
	TEST("ready image: what sidecars ask for is taken from the job's share",
	     sidecars_take_their_share);
	TEST("shares: a plugin for each number of turns, on its own nodes",
	     shares_have_their_plugin);
	return test_done();
}
