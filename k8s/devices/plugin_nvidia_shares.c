/*
 * NVIDIA's device plugin where pods share devices in turns: one DaemonSet for each number of turns
 * that some fleet of the cluster has, each with its own configuration, on the nodes labelled for
 * it. The shares are a resource of their own name, so that no pod takes one for a device.
 */
#include "base/attr.h"
#include "k8s/devices/nodes.h"
#include "k8s/devices/nvidia.h"
#include "k8s/fleet/pins.h"
#include "k8s/object/emit.h"

#define CONFIG_DIR "/etc/slipway"

static const struct device_nodes nodes = {is_nvidia_node, .offer = "In", .offers = {OFFER_SHARES}};

static void render_configuration(int64_t slices, const char *name, struct k8s_output *out)
{
	AUTO(json) cJSON *config = cJSON_CreateObject();
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 12);

	json_add_string(config, "version", "v1");
	cJSON *sharing = json_add_object(json_add_object(config, "sharing"), "timeSlicing");

	json_add_bool(sharing, "renameByDefault", true);
	json_add_bool(sharing, "failRequestsGreaterThanOne", true);
	cJSON *resource = k8s_push_object(json_add_array(sharing, "resources"));

	json_add_string(resource, "name", accelerators[ACCELERATOR_NVIDIA].resource);
	json_add_int(resource, "replicas", slices);
	k8s_yaml(config, NULL, 0, &text);
	k8s_config_map(out, DEVICES_NAMESPACE, name, "config.yaml", strbuf_str(&text));
}

static void render_one(int64_t slices, struct k8s_output *out)
{
	const struct node_daemon *plugin = &accelerators[ACCELERATOR_NVIDIA].plugin;
	const char *name =
		arena_printf(&out->arena, "%s-slices-%lld", plugin->name, (long long)slices);
	struct workload_opts opts = {.namespace = DEVICES_NAMESPACE,
	                             .name = name,
	                             .image = pins[PIN_NVIDIA_PLUGIN].image,
	                             .priority = PRIORITY_NODE};
	struct workload w;

	k8s_file(out, arena_printf(&out->arena, "nvidia-slices-%lld.yaml", (long long)slices),
	         arena_printf(&out->arena,
	                      "NVIDIA device plugin for nodes whose devices %lld pods share in "
	                      "turns:\noffers nvidia.com/gpu.shared.",
	                      (long long)slices));
	k8s_share(out, name);
	render_configuration(slices, name, out);
	k8s_daemonset(out, &opts, &w);
	workload_on_devices(&w, &nodes);
	k8s_addf(cJSON_GetObjectItemCaseSensitive(w.pod, "nodeSelector"), SLICES_LABEL, "%lld",
	         (long long)slices);
	workload_env(&w, "FAIL_ON_INIT_ERROR", "false");
	workload_env(&w, "CONFIG_FILE", CONFIG_DIR "/config.yaml");
	k8s_drop_all(w.container);
	k8s_daemon_resources(w.container, plugin);
	workload_host_path(&w, "device-plugins", KUBELET_PLUGINS, "Directory");
	workload_config_map(&w, "config", name, CONFIG_DIR);
}

void render_nvidia_shares(const struct fleet *fleet, struct k8s_output *out)
{
	for (size_t i = 0; i < fleet->n_targets; i++) {
		int64_t slices = fleet->targets[i].section->time_slices;
		bool first = slices > 0;

		for (size_t k = 0; k < i; k++)
			first = first && fleet->targets[k].section->time_slices != slices;
		if (first)
			render_one(slices, out);
	}
}
