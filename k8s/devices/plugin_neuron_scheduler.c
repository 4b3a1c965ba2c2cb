/*
 * Neuron's scheduler extension. A pod with more than one but not all of a node's devices needs ones
 * that are neighbours; the stock scheduler only counts. So a second kube-scheduler asks the
 * extension, and such pods name it in schedulerName.
 */
#include "base/attr.h"
#include "k8s/devices/neuron.h"
#include "k8s/fleet/pins.h"
#include "k8s/object/emit.h"
#include "k8s/object/workload.h"

static const char extension[] = "neuron-scheduler";
enum { EXTENSION_PORT = 12345 };

static const struct rbac_rule extension_rules[] = {
	{"", "nodes", "get,list,watch"},
	{"", "nodes/status", "update,patch,get,list,watch"},
	{"", "events", "create,patch"},
	{"", "pods", "update,patch,get,list,watch"},
	{"", "bindings,pods/binding", "create"},
};

static void render_extension(struct k8s_output *out)
{
	struct workload_opts opts = {.namespace = DEVICES_NAMESPACE,
	                             .name = extension,
	                             .account = extension,
	                             .image = pins[PIN_NEURON_SCHEDULER].image,
	                             .priority = PRIORITY_CLUSTER,
	                             .replicas = 1};
	struct workload w;

	k8s_service_account(out, DEVICES_NAMESPACE, extension);
	k8s_cluster_role(out, extension, extension_rules, ARRAY_LEN(extension_rules));
	k8s_bind(out, extension, extension, DEVICES_NAMESPACE, extension);
	k8s_deployment(out, &opts, &w);
	json_add_string(json_add_object(w.spec, "strategy"), "type", "Recreate");
	workload_env(&w, "PORT", arena_printf(&out->arena, "%d", EXTENSION_PORT));
	workload_port(&w, "extender", EXTENSION_PORT);
	k8s_drop_all(w.container);
	k8s_small_resources(w.container, "50m", "128Mi");
	k8s_service(out, DEVICES_NAMESPACE, extension, "extender", EXTENSION_PORT);
}

static void add_extender(cJSON *config)
{
	static const char *const resources[] = {"aws.amazon.com/neuron",
	                                        "aws.amazon.com/neuroncore",
	                                        "aws.amazon.com/neurondevice"};
	cJSON *extender = k8s_push_object(json_add_array(config, "extenders"));

	k8s_addf(extender, "urlPrefix", "http://%s.%s.svc.cluster.local:%d", extension,
	         DEVICES_NAMESPACE, EXTENSION_PORT);
	json_add_string(extender, "filterVerb", "filter");
	json_add_string(extender, "bindVerb", "bind");
	json_add_bool(extender, "enableHTTPS", false);
	json_add_bool(extender, "nodeCacheCapable", true);
	json_add_bool(extender, "ignorable", false);
	cJSON *managed = json_add_array(extender, "managedResources");

	for (size_t i = 0; i < ARRAY_LEN(resources); i++) {
		cJSON *entry = k8s_push_object(managed);

		json_add_string(entry, "name", resources[i]);
		json_add_bool(entry, "ignoredByScheduler", false);
	}
}

static void render_configuration(const char *scheduler, struct k8s_output *out)
{
	AUTO(json) cJSON *config = cJSON_CreateObject();
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 16);

	json_add_string(config, "apiVersion", "kubescheduler.config.k8s.io/v1");
	json_add_string(config, "kind", "KubeSchedulerConfiguration");
	json_add_bool(json_add_object(config, "leaderElection"), "leaderElect", false);
	json_add_string(k8s_push_object(json_add_array(config, "profiles")), "schedulerName",
	                scheduler);
	add_extender(config);
	k8s_yaml(config, NULL, 0, &text);
	k8s_config_map(out, DEVICES_NAMESPACE, scheduler, "config.yaml", strbuf_str(&text));
}

static void render_rights(const char *scheduler, struct k8s_output *out)
{
	struct arena *a = &out->arena;
	/* The third is a role that every cluster has in kube-system. */
	struct role_binding reader = {.namespace = DEVICES_NAMESPACE,
	                              .name = arena_printf(a, "%s-authentication", scheduler),
	                              .role = "extension-apiserver-authentication-reader",
	                              .account_namespace = DEVICES_NAMESPACE,
	                              .account = scheduler};

	k8s_service_account(out, DEVICES_NAMESPACE, scheduler);
	k8s_bind(out, arena_printf(a, "%s-pods", scheduler), "system:kube-scheduler",
	         DEVICES_NAMESPACE, scheduler);
	k8s_bind(out, arena_printf(a, "%s-volumes", scheduler), "system:volume-scheduler",
	         DEVICES_NAMESPACE, scheduler);
	k8s_bind_role(out, &reader);
}

void render_neuron_scheduler(const struct fleet *fleet, struct k8s_output *out)
{
	const char *scheduler = accelerators[ACCELERATOR_NEURON].part_scheduler;
	/* A scheduler must not be newer than its API server: the first patch of the same minor. */
	const char *image = arena_printf(&out->arena, "%s:v%s.0",
	                                 pins[PIN_KUBE_SCHEDULER].repository, fleet->version);
	struct workload_opts opts = {.namespace = DEVICES_NAMESPACE,
	                             .name = scheduler,
	                             .account = scheduler,
	                             .image = image,
	                             .priority = PRIORITY_CLUSTER,
	                             .replicas = 1};
	struct workload w;

	k8s_file(out, "neuron-scheduler.yaml",
	         arena_printf(
			 &out->arena,
			 "A second scheduler that knows which Neuron devices are neighbours, "
			 "for pods that\ntake part of a node. Pods name it in schedulerName: %s.",
			 scheduler));
	k8s_share(out, extension);
	render_extension(out);
	render_rights(scheduler, out);
	render_configuration(scheduler, out);
	k8s_deployment(out, &opts, &w);
	cJSON *command = json_add_array(w.container, "command");

	json_push_string(command, "/usr/local/bin/kube-scheduler");
	json_push_string(command, "--config=/etc/slipway/config.yaml");
	k8s_restricted(w.container);
	k8s_small_resources(w.container, "100m", "256Mi");
	workload_config_map(&w, "config", scheduler, "/etc/slipway");
}
