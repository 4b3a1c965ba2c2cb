/*
 * Metrics of NVIDIA devices for Prometheus: DCGM's exporter.
 */
#include "base/attr.h"
#include "k8s/devices/nodes.h"
#include "k8s/devices/nvidia.h"
#include "k8s/fleet/pins.h"

enum { DCGM_PORT = 9400 };

/* Profiling counters (DCGM_FI_PROF_*) are the administrator's. */
static void add_profiling(cJSON *container)
{
	cJSON *context = json_add_object(container, "securityContext");
	cJSON *capabilities = json_add_object(context, "capabilities");

	json_push_string(json_add_array(capabilities, "drop"), "ALL");
	json_push_string(json_add_array(capabilities, "add"), "SYS_ADMIN");
	json_add_int(context, "runAsUser", 0);
}

static const struct device_nodes nodes = {.wanted = is_nvidia_node};

void render_nvidia_exporter(const struct fleet *fleet UNUSED, struct k8s_output *out)
{
	const struct node_daemon *daemon = &accelerators[ACCELERATOR_NVIDIA].exporter;
	const char *name = daemon->name;
	struct workload_opts opts = {.namespace = DEVICES_NAMESPACE,
	                             .name = name,
	                             .image = pins[PIN_DCGM_EXPORTER].image,
	                             .priority = PRIORITY_NODE};
	struct workload w;

	k8s_file(out, "dcgm-exporter.yaml", "Metrics of NVIDIA devices for Prometheus.");
	k8s_share(out, name);
	k8s_daemonset(out, &opts, &w);
	workload_on_devices(&w, &nodes);
	workload_env(&w, "DCGM_EXPORTER_LISTEN", ":9400");
	workload_env(&w, "DCGM_EXPORTER_KUBERNETES", "true");
	workload_env_field(&w, "NODE_NAME", "spec.nodeName");
	workload_port(&w, "metrics", DCGM_PORT);
	add_profiling(w.container);
	k8s_daemon_resources(w.container, daemon);
	workload_host_read(&w, "pod-resources", "/var/lib/kubelet/pod-resources",
	                   "/var/lib/kubelet/pod-resources");
	k8s_scrape(out, k8s_service(out, DEVICES_NAMESPACE, name, "metrics", DCGM_PORT), DCGM_PORT);
}
