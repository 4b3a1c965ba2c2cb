/*
 * AWS Neuron's device plugin and its rights.
 */
#include "base/attr.h"
#include "k8s/devices/neuron.h"
#include "k8s/devices/nodes.h"
#include "k8s/fleet/pins.h"

static const struct rbac_rule rules[] = {
	{"", "nodes", "get,list,watch"},
	{"", "nodes/status", "patch,update"},
	{"", "events", "create,patch"},
	{"", "pods", "get,list,watch,patch,update"},
};

bool is_neuron_node(const struct instance *instance)
{
	return instance->accelerator->kind == ACCELERATOR_NEURON;
}

static const struct device_nodes nodes = {is_neuron_node, OFFERED_BY_PLUGIN};

static void render_plugin(const struct fleet *fleet UNUSED, struct k8s_output *out)
{
	const struct node_daemon *plugin = &accelerators[ACCELERATOR_NEURON].plugin;
	const char *name = plugin->name;
	struct workload_opts opts = {.namespace = DEVICES_NAMESPACE,
	                             .name = name,
	                             .account = name,
	                             .image = pins[PIN_NEURON_PLUGIN].image,
	                             .priority = PRIORITY_NODE};
	struct workload w;

	k8s_file(out, "neuron.yaml",
	         "Neuron device plugin: offers aws.amazon.com/neuron (devices) and\n"
	         "aws.amazon.com/neuroncore (cores) on the Trainium pools.");
	k8s_share(out, name);
	k8s_service_account(out, DEVICES_NAMESPACE, name);
	k8s_cluster_role(out, name, rules, ARRAY_LEN(rules));
	k8s_bind(out, name, name, DEVICES_NAMESPACE, name);
	k8s_daemonset(out, &opts, &w);
	workload_on_devices(&w, &nodes);
	workload_env(&w, "KUBECONFIG", "/etc/kubernetes/kubelet.conf");
	workload_env_field(&w, "NODE_NAME", "spec.nodeName");
	k8s_drop_all(w.container);
	k8s_daemon_resources(w.container, plugin);
	workload_host_path(&w, "device-plugins", KUBELET_PLUGINS, NULL);
	workload_host_path(&w, "infa-map", "/run", NULL);
}

const struct accelerator_parts neuron_parts = ACCELERATOR_PARTS(
	NEURON, render_plugin, render_neuron_exporter, .render_scheduler = render_neuron_scheduler);
