/*
 * NVIDIA's device plugin, for x86 and Arm nodes alike. It runs on the NVIDIA pools only: on any
 * other node it would restart for ever.
 */
#include "k8s/devices/devices.h"
#include "k8s/fleet/pins.h"
#include "k8s/object/workload.h"

/* The image has amd64 and arm64. Newest release read in its repository on 2026-11-21. */
static bool wanted(const struct fleet_target *target)
{
	return target->accelerator->kind == ACCELERATOR_NVIDIA && !target->brings_plugin;
}

void render_nvidia_plugin(const struct fleet *fleet, struct k8s_output *out)
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
	k8s_daemonset(out, &opts, &w);
	workload_on_pools(&w, fleet, wanted);
	workload_env(&w, "FAIL_ON_INIT_ERROR", "false");
	k8s_drop_all(w.container);
	k8s_daemon_resources(w.container, plugin);
	workload_host_path(&w, "device-plugins", KUBELET_PLUGINS, "Directory");
}
