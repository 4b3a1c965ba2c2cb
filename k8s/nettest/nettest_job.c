/*
 * 70-nettest: an NCCL all-reduce over EFA, per target that has NVIDIA devices and EFA, as an
 * MPIJob. Its log is judged by `slipway nettest parse`.
 */
#include "base/attr.h"
#include "k8s/fleet/pins.h"
#include "k8s/job/job.h"
#include "k8s/nettest/nettest.h"
#include "k8s/object/workload.h"

bool nettest_runs_on(const struct fleet_target *target)
{
	return target->accelerator->nccl && target->efa > 0 && target->whole_node;
}

const char *nettest_name(const struct fleet_target *target, struct arena *a)
{
	return arena_printf(a, "%s-nettest", target->job);
}

static const struct nettest_section *section(const struct fleet *fleet)
{
	return &fleet->job->network_test;
}

static void add_variable(cJSON *command, const char *name, const char *value, struct arena *a)
{
	json_push_string(command, "-x");
	json_push_string(command, value == NULL ? name : arena_printf(a, "%s=%s", name, value));
}

static void add_variables(const struct fleet_target *target, cJSON *command, struct arena *a)
{
	AUTO(json) cJSON *env = cJSON_CreateArray();

	job_network_env(target, NULL, env);
	add_variable(command, "PATH", NULL, a);
	add_variable(command, "LD_LIBRARY_PATH", NULL, a);
	for (const cJSON *entry = env->child; entry != NULL; entry = entry->next)
		add_variable(command, json_string(entry, "name"), json_string(entry, "value"), a);
	/* Without INFO the log does not say which transport it took. */
	add_variable(command, "NCCL_DEBUG", "INFO", a);
	add_variable(command, "NCCL_BUFFSIZE", "8388608", a);
	add_variable(command, "NCCL_P2P_NET_CHUNKSIZE", "524288", a);
}

static void add_words(cJSON *command, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		json_push_string(command, words[i]);
}

/* mpirun's own traffic stays on TCP; the test's sizes go from 8 bytes to 16 GiB, results checked.
 */
static void add_command(const struct fleet *fleet, const struct fleet_target *target,
                        struct k8s_output *out, cJSON *container)
{
	static const char *const transport[] = {"--mca",
	                                        "pml",
	                                        "^cm,ucx",
	                                        "--mca",
	                                        "btl",
	                                        "tcp,self",
	                                        "--mca",
	                                        "btl_tcp_if_exclude",
	                                        "lo,docker0,veth_def_agent"};
	static const char *const test[] = {"/opt/nccl-tests/build/all_reduce_perf",
	                                   "-b",
	                                   "8",
	                                   "-e",
	                                   "16G",
	                                   "-f",
	                                   "2",
	                                   "-g",
	                                   "1",
	                                   "-c",
	                                   "1",
	                                   "-n",
	                                   "100"};
	cJSON *command = json_add_array(container, "command");
	int64_t all = section(fleet)->nodes * target->devices;
	const char *ranks = arena_printf(&out->arena, "%lld", (long long)all);
	const char *per_node = arena_printf(&out->arena, "%lld", (long long)target->devices);
	const char *const start[] = {"/opt/amazon/openmpi/bin/mpirun",
	                             "--allow-run-as-root",
	                             "--tag-output",
	                             "-np",
	                             ranks,
	                             "-N",
	                             per_node,
	                             "--bind-to",
	                             "none"};

	add_words(command, start, ARRAY_LEN(start));
	add_variables(target, command, &out->arena);
	add_words(command, transport, ARRAY_LEN(transport));
	add_words(command, test, ARRAY_LEN(test));
}

static cJSON *add_pod(const struct fleet *fleet, struct k8s_output *out, const char *name,
                      cJSON *template)
{
	cJSON *metadata = json_add_object(template, "metadata");

	k8s_labels(out, json_add_object(metadata, "labels"), name);
	json_add_string(json_add_object(metadata, "annotations"), k8s_do_not_disrupt(fleet),
	                "true");
	cJSON *pod = json_add_object(template, "spec");

	json_add_bool(pod, "automountServiceAccountToken", false);
	return pod;
}

static cJSON *add_container(const struct fleet *fleet, cJSON *pod, const char *name)
{
	cJSON *container = k8s_push_object(json_add_array(pod, "containers"));

	json_add_string(container, "name", name);
	json_add_string(container, "image", section(fleet)->image);
	json_add_string(container, "imagePullPolicy", "IfNotPresent");
	return container;
}

static cJSON *add_replicas(cJSON *specs, const char *kind, int64_t replicas, const char *restart)
{
	cJSON *spec = json_add_object(specs, kind);

	json_add_int(spec, "replicas", replicas);
	json_add_string(spec, "restartPolicy", restart);
	return json_add_object(spec, "template");
}

static void add_launcher(const struct fleet *fleet, const struct fleet_target *target,
                         struct k8s_output *out, cJSON *specs)
{
	const char *name = arena_printf(&out->arena, "%s-nettest-launcher", target->job);
	cJSON *pod = add_pod(fleet, out, name, add_replicas(specs, "Launcher", 1, "OnFailure"));
	cJSON *container;

	/* It asks for no device and waits on a system node. */
	json_add_string(json_add_object(pod, "nodeSelector"), "kubernetes.io/arch",
	                k8s_system_arch(fleet));
	container = add_container(fleet, pod, "launcher");
	add_command(fleet, target, out, container);
	k8s_small_resources(container, "500m", "1Gi");
}

static void add_shared_memory(cJSON *pod, cJSON *container, int64_t mib)
{
	cJSON *volume = k8s_push_object(json_add_array(pod, "volumes"));

	json_add_string(volume, "name", "shm");
	cJSON *memory = json_add_object(volume, "emptyDir");

	json_add_string(memory, "medium", "Memory");
	k8s_addf(memory, "sizeLimit", "%lldMi", (long long)mib);
	k8s_mount(json_add_array(container, "volumeMounts"), "shm", "/dev/shm", false);
}

static void add_worker(const struct fleet *fleet, const struct fleet_target *target,
                       struct k8s_output *out, cJSON *specs)
{
	const char *name = arena_printf(&out->arena, "%s-nettest-worker", target->job);
	cJSON *pod = add_pod(fleet, out, name,
	                     add_replicas(specs, "Worker", section(fleet)->nodes, "Never"));
	cJSON *selector = json_add_object(pod, "nodeSelector");

	json_add_string(selector, k8s_pool_label(fleet), target->pool);
	json_add_string(selector, "node.kubernetes.io/instance-type", target->shape->type);
	k8s_tolerate_target(json_add_array(pod, "tolerations"), target);
	if (fleet_target_uses_dra(fleet, target))
		job_claim(target, out, pod);
	cJSON *container = add_container(fleet, pod, "worker");

	job_resources(fleet, target, container);
	add_shared_memory(pod, container, target->shm_mib);
}

static void render_test(const struct fleet *fleet, const struct fleet_target *target,
                        struct k8s_output *out)
{
	cJSON *object = k8s_add(out, "kubeflow.org/v2beta1", "MPIJob", fleet->namespace,
	                        nettest_name(target, &out->arena));
	cJSON *spec = json_add_object(object, "spec");
	cJSON *policy;

	json_add_int(spec, "slotsPerWorker", target->devices);
	json_add_string(spec, "launcherCreationPolicy", "WaitForWorkersReady");
	policy = json_add_object(spec, "runPolicy");
	json_add_string(policy, "cleanPodPolicy", "Running");
	json_add_int(policy, "backoffLimit", 3);
	json_add_int(policy, "ttlSecondsAfterFinished", fleet->job->ttl_seconds);
	cJSON *specs = json_add_object(spec, "mpiReplicaSpecs");

	add_launcher(fleet, target, out, specs);
	add_worker(fleet, target, out, specs);
}

static void render_nettest(const struct fleet *fleet, struct k8s_output *out)
{
	for (size_t i = 0; i < fleet->n_targets; i++) {
		const struct fleet_target *target = &fleet->targets[i];

		if (!nettest_runs_on(target))
			continue;
		k8s_file(out, arena_printf(&out->arena, "%s.yaml", target->name),
		         arena_printf(&out->arena,
		                      "NCCL all-reduce between %lld x %s over %lld EFA interfaces "
		                      "each.\nNeeds %s %s. To start it, wait for it and judge its "
		                      "log:\n  slipway nettest run --target %s",
		                      (long long)section(fleet)->nodes, target->shape->type,
		                      (long long)target->efa, pins[PIN_MPI_OPERATOR].repository,
		                      pins[PIN_MPI_OPERATOR].version, target->name));
		render_test(fleet, target, out);
	}
}

static bool with_nettest(const struct fleet *fleet)
{
	return fleet_has_job(fleet) && fleet->job->network_test.set;
}

const struct k8s_renderer nettest_renderer = {
	.number = "70",
	.name = "nettest",
	.summary = "an NCCL all-reduce over EFA",
	.by_name = true,
	.wanted = with_nettest,
	.render = render_nettest,
};
