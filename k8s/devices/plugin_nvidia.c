/*
 * NVIDIA's device plugin, for x86 and Arm nodes alike. It runs on NVIDIA nodes only: on any
 * other node it would restart for ever.
 */
#include "base/attr.h"
#include "k8s/devices/nodes.h"
#include "k8s/devices/nvidia.h"
#include "k8s/fleet/pins.h"

bool is_nvidia_node(const struct instance *instance)
{
	return instance->accelerator->kind == ACCELERATOR_NVIDIA;
}

static const struct device_nodes nodes = {is_nvidia_node, OFFERED_BY_PLUGIN};

static void render_plugin(const struct fleet *fleet UNUSED, struct k8s_output *out)
{
	const struct node_daemon *plugin = &accelerators[ACCELERATOR_NVIDIA].plugin;
	struct workload_opts opts = {.namespace = DEVICES_NAMESPACE,
	                             .name = plugin->name,
	                             .image = pins[PIN_NVIDIA_PLUGIN].image,
	                             .priority = PRIORITY_NODE};
	struct workload w;

	k8s_file(out, "nvidia.yaml",
	         "NVIDIA device plugin: offers nvidia.com/gpu on the NVIDIA pools.\n"
	         "Driver and container toolkit are part of the nodes' images.");
	k8s_share(out, plugin->name);
	k8s_daemonset(out, &opts, &w);
	workload_on_devices(&w, &nodes);
	workload_env(&w, "FAIL_ON_INIT_ERROR", "false");
	k8s_drop_all(w.container);
	k8s_daemon_resources(w.container, plugin);
	workload_host_path(&w, "device-plugins", KUBELET_PLUGINS, "Directory");
}

const struct accelerator_parts nvidia_parts = ACCELERATOR_PARTS(
	NVIDIA, render_plugin, render_nvidia_exporter, .render_shares = render_nvidia_shares,
	.render_claims = render_nvidia_dra);
