/* What the renderers make of a spec: the traps that a manifest does not show. */
#include "tests/render_make.h"

/* The first document of a file for a person to apply. */
static const cJSON *patch_of(const struct fleet_run *f, const char *name)
{
	for (size_t i = 0; i < f->out.n; i++)
		if (strcmp(f->out.files[i].name, name) == 0 && f->out.files[i].at[0].foreign)
			return f->out.files[i].at[0].doc;
	return NULL;
}

static void volcano_scales_from_zero(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "all", "job.retries=4");
	const cJSON *config = patch_of(&f, "volcano.yaml");

	CHECK(find(&f, "ConfigMap", "volcano-scheduler-configmap") == NULL);

	CHECK(holds(&f, config, "allocate, backfill"));
	CHECK(!holds(&f, config, "enqueue"));
	CHECK(!holds(&f, config, "overcommit"));
	CHECK(!holds(&f, config, "proportion"));
	const cJSON *job = find(&f, "Job", "perceiver-trn1");

	CHECK(holds(&f, job, "\"maxRetry\":4"));
	CHECK(holds(&f, job, "--disable-network-policy=true"));
	CHECK(holds(&f, job, "{\"event\":\"PodEvicted\",\"action\":\"RestartJob\"}"));
	CHECK(holds(&f, job, "\"policies\":[{\"exitCode\":2,\"action\":\"TerminateJob\"},"));
}

static void nvidia_plugin_follows_pools(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "bottlerocket", "job.nodes=1");
	CHECK(find(&f, "DaemonSet", "nvidia-device-plugin") == NULL);
	fleet_run_done(&f);
	RENDER(&f, "bottlerocket", "fleet.p4d.ami=al2023@latest");
	const cJSON *plugin = find(&f, "DaemonSet", "nvidia-device-plugin");

	CHECK(holds(&f, plugin,
	            "{\"key\":\"slipway/devices\",\"operator\":\"NotIn\","
	            "\"values\":[\"claims\",\"node\",\"shares\"]}"));
	CHECK(holds(&f, find(&f, "NodePool", "perceiver-g5g"), "\"slipway/devices\":\"node\""));
	CHECK(!holds(&f, find(&f, "NodePool", "perceiver-p4d"), "slipway/devices"));
	CHECK(!holds(&f, plugin, "trn1.32xlarge"));
}

/* What two fleets render of it is the same but for the annotation that each has. */
static void shared_parts_name_no_fleet(void)
{
	static const char *const daemons[] = {"nvidia-device-plugin", "neuron-device-plugin",
	                                      "efa-k8s-device-plugin", "fsx-csi-node"};
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "all", "cluster.labels={team: vision}", "cluster.annotations={cost: center}");
	for (size_t i = 0; i < ARRAY_LEN(daemons); i++) {
		cJSON *daemon = cJSON_Duplicate(find(&f, "DaemonSet", daemons[i]), true);
		cJSON *metadata = cJSON_GetObjectItemCaseSensitive(daemon, "metadata");

		CHECK(holds(&f, daemon, "\"annotations\":{\"used-by.slipway/perceiver\":"));
		cJSON_DeleteItemFromObjectCaseSensitive(metadata, "annotations");
		CHECK(holds(&f, daemon, "\"slipway/owner\":\"shared.fleets\""));
		CHECK(!holds(&f, daemon, "perceiver"));
		CHECK(!holds(&f, daemon, "vision"));
		cJSON_Delete(daemon);
	}
}

static void devices_of_others_are_not_rendered(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "all", "cluster.devices=none", "monitoring.gpu=false",
	       "monitoring.neuron=false");
	CHECK(find(&f, "DaemonSet", "device-plugin") == NULL);
	CHECK(holds(&f, find(&f, "Job", "perceiver-p4d"), "nvidia.com/gpu\":"));
}

static void claims_replace_plugin(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "dra", "fleet.p4d.instances=[p4de.24xlarge, p4d.24xlarge]");
	CHECK(find(&f, "DaemonSet", "nvidia-device-plugin") == NULL);
	CHECK(find(&f, "DaemonSet", "nvidia-dra-driver") != NULL);
	CHECK(find(&f, "DaemonSet", "neuron-device-plugin") != NULL);
	const char *list = text_of(&f, find(&f, "ResourceClaimTemplate", "p4d"));
	const char *large = strstr(list, "memory-80g"), *small = strstr(list, "memory-40g");

	CHECK(strstr(list, "firstAvailable") != NULL);
	CHECK(large != NULL && small != NULL && large < small);
	CHECK(holds(&f, find(&f, "ResourceClaimTemplate", "g5"), "\"exactly\":"));
	const cJSON *job = find(&f, "Job", "perceiver-p4d");

	CHECK(!holds(&f, job, "nvidia.com/gpu\":"));
	CHECK(holds(&f, job, "\"claims\":[{\"name\":\"devices\"}]"));
}

static void part_of_node_needs_scheduler(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "neuron-part", "cluster.version=\"1.33\"");
	CHECK(holds(&f, find(&f, "Deployment", "slipway-neuron"), "kube-scheduler:v1.33.0"));
	CHECK(holds(&f, find(&f, "Job", "perceiver-trn1"), "\"schedulerName\":\"slipway-neuron\""));
	fleet_run_done(&f);
	RENDER(&f, "neuron-part", "fleet.trn1.devices=16");
	CHECK(find(&f, "Deployment", "slipway-neuron") == NULL);
	CHECK(!holds(&f, find(&f, "Job", "perceiver-trn1"), "schedulerName"));
}

static void efa_image_is_regional(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "p4d", "cluster.region=ap-east-1", "cluster.zone=ap-east-1a");
	CHECK(holds(&f, find(&f, "DaemonSet", "efa"),
	            "800184023465.dkr.ecr.ap-east-1.amazonaws.com/eks/"));
	CHECK(holds(&f, find(&f, "Job", "perceiver-p4d"), "FI_EFA_USE_DEVICE_RDMA"));
	fleet_run_done(&f);
	/* A10G has no GPUDirect. */
	RENDER(&f, "g5", "fleet.g5.devices=4", "fleet.g5.efa=1");
	CHECK(holds(&f, find(&f, "Job", "perceiver-g5"), "vpc.amazonaws.com/efa"));
	CHECK(!holds(&f, find(&f, "Job", "perceiver-g5"), "FI_EFA_USE_DEVICE_RDMA"));
}

static void indexed_job_counts_whole_restarts(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "scheduler-job", "job.nodes=3", "job.retries=2");
	const cJSON *job = find(&f, "Job", "perceiver-");

	CHECK(holds(&f, job, "\"backoffLimit\":6"));
	CHECK(holds(&f, job, "\"restartPolicy\":\"Never\""));
	CHECK(holds(&f, job, "DisruptionTarget"));
	CHECK(holds(&f, job, "\"subdomain\":\"perceiver-"));
	fleet_run_done(&f);
	RENDER(&f, "scheduler-jobset", "job.retries=2");
	job = find(&f, "JobSet", "perceiver-");
	CHECK(holds(&f, job, "\"maxRestarts\":2"));
	CHECK(holds(&f, job, "\"backoffLimit\":0"));
}

static void spec_env_wins_once(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "p4d", "job.env={FI_PROVIDER: tcp, A: job}", "fleet.p4d.env={A: target}");
	const char *job = text_of(&f, find(&f, "Job", "perceiver-p4d"));
	const char *provider = strstr(job, "\"FI_PROVIDER\"");

	CHECK(provider != NULL && strstr(provider + 1, "\"FI_PROVIDER\"") == NULL);
	CHECK(strstr(job, "{\"name\":\"FI_PROVIDER\",\"value\":\"tcp\"}") != NULL);
	CHECK(strstr(job, "{\"name\":\"A\",\"value\":\"target\"}") != NULL);
	CHECK(strstr(job, "\"value\":\"job\"") == NULL);
}

static void new_file_system_gets_owner(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "fsx-s3", "job.user=1000", "job.group=1001");
	const cJSON *owner = find(&f, "Job", "fsx-owner");

	CHECK(holds(&f, owner, "\"command\":[\"chown\",\"1000:1001\","));
	CHECK(holds(&f, owner, "\"runAsUser\":0"));
	fleet_run_done(&f);
	RENDER(&f, "fsx-static", "job.nodes=1");
	CHECK(find(&f, "Job", "fsx-owner") == NULL);
	CHECK(find(&f, "StorageClass", "") == NULL);
	const cJSON *volume = find(&f, "PersistentVolume", "perceiver-fsx");

	CHECK(holds(&f, volume, "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"));
	CHECK(holds(&f, volume, "\"mountname\":\"abcdevwx\""));
	/* The add-on is the cluster's. */
	CHECK(find(&f, "DaemonSet", "fsx-csi-node") == NULL);
	CHECK(holds(&f, find(&f, "ClusterConfig", ""), "aws-fsx-csi-driver"));
}

static void old_file_system_keeps_owner(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "fsx-static", "storage.fsx.prepare={from: \"s3://other-bucket/x\"}");
	const cJSON *job = find(&f, "Job", "perceiver-prepare");

	CHECK(holds(&f, job, "\"s3\",\"sync\""));
	CHECK(!holds(&f, job, "chown"));
}

static void s3_is_linked_where_it_can(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "fsx-s3", "job.nodes=1");
	const cJSON *class = find(&f, "StorageClass", "");

	CHECK(holds(&f, class, "\"s3ImportPath\":\"s3://my-bucket/in\""));
	CHECK(holds(&f, class, "\"autoImportPolicy\":\"NEW_CHANGED\""));
	CHECK(holds(&f, class, "\"perUnitStorageThroughput\":\"12\""));
	CHECK(!has_file(&f, "30-storage", "s3-association.yaml"));
	fleet_run_done(&f);
	RENDER(&f, "fsx-association", "job.nodes=1");
	CHECK(has_file(&f, "30-storage", "s3-association.yaml"));
}

static void prepares_from_s3(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "all", "storage.fsx.prepare={from: \"s3://other-bucket/x\"}");
	const cJSON *job = find(&f, "Job", "perceiver-prepare");

	CHECK(holds(&f, job, "aws-cli"));
	CHECK(holds(&f, job, "\"s3\",\"sync\",\"--no-progress\",\"s3://other-bucket/x\""));
	CHECK(holds(&f, job, "\"initContainers\":[{\"name\":\"owner\""));
	fleet_run_done(&f);
	RENDER(&f, "all",
	       "storage.fsx.prepare={image: \"docker.io/a/b:c\", command: [/x], args: [fill]}");
	job = find(&f, "Job", "perceiver-prepare");
	CHECK(holds(&f, job, "\"image\":\"docker.io/a/b:c\""));
	CHECK(holds(&f, job, "\"command\":[\"/x\"],\"args\":[\"fill\"]"));
}

static void exporters_stand_alone(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "all", "job.nodes=1");
	CHECK(find(&f, "DaemonSet", "dcgm-exporter") == NULL);
	CHECK(find(&f, "DaemonSet", "neuron-monitor") == NULL);
	CHECK(has_file(&f, "40-monitoring", "alarms.yaml"));
	fleet_run_done(&f);
	RENDER(&f, "all", "monitoring={gpu: true, neuron: true}");
	CHECK(find(&f, "DaemonSet", "dcgm-exporter") != NULL);
	CHECK(find(&f, "DaemonSet", "neuron-monitor") != NULL);
	fleet_run_done(&f);
	RENDER(&f, "all", "monitoring={container_insights: true, insights: manifests, gpu: true}");
	CHECK(find(&f, "DaemonSet", "cloudwatch-agent") != NULL);
	CHECK(find(&f, "DaemonSet", "dcgm-exporter") != NULL);
}

static void nettest_only_where_efa_is(void)
{
	AUTO(fleet_run) struct fleet_run f;

	RENDER(&f, "all", "job.network_test={nodes: 4}");
	const cJSON *test = find(&f, "MPIJob", "perceiver-p4d-nettest");

	CHECK(holds(&f, test, "\"-np\",\"32\",\"-N\",\"8\""));
	CHECK(holds(&f, test, "\"vpc.amazonaws.com/efa\":\"4\""));
	CHECK(find(&f, "MPIJob", "perceiver-g5g-nettest") == NULL);
	CHECK(find(&f, "MPIJob", "perceiver-trn1-nettest") == NULL);
}

int main(void)
{
	TEST("jobs: Volcano makes pods before there are nodes", volcano_scales_from_zero);
	TEST("devices: shared parts name no fleet", shared_parts_name_no_fleet);
	TEST("devices: none renders no plugin", devices_of_others_are_not_rendered);
	TEST("devices: the NVIDIA plugin runs only where no other does",
	     nvidia_plugin_follows_pools);
	TEST("devices: claims replace the plugin, in the order of the instances",
	     claims_replace_plugin);
	TEST("devices: part of a Trainium node needs the Neuron scheduler",
	     part_of_node_needs_scheduler);
	TEST("devices: EFA's image is the region's, RDMA only where devices have it",
	     efa_image_is_regional);
	TEST("jobs: a retry of the whole job may fail every pod",
	     indexed_job_counts_whole_restarts);
	TEST("jobs: the spec's environment replaces what is set by default", spec_env_wins_once);
	TEST("storage: a new file system is given to the job's user", new_file_system_gets_owner);
	TEST("storage: the owner of a file system that was there is left alone",
	     old_file_system_keeps_owner);
	TEST("storage: S3 is linked by the driver, or by CloudFormation where it cannot",
	     s3_is_linked_where_it_can);
	TEST("storage: data comes from S3 or by an image of the user", prepares_from_s3);
	TEST("monitoring: an exporter runs once, whoever brings it", exporters_stand_alone);
	TEST("nettest: only NVIDIA targets with EFA are tested", nettest_only_where_efa_is);
	return test_done();
}
