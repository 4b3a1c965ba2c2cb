/*
 * Metrics of Neuron devices for Prometheus: AWS Neuron's monitor.
 */
#include "base/attr.h"
#include "k8s/devices/neuron.h"
#include "k8s/devices/nodes.h"
#include "k8s/fleet/pins.h"

enum { NEURON_PORT = 8000 };

static const struct device_nodes nodes = {.wanted = is_neuron_node};

void render_neuron_exporter(const struct fleet *fleet UNUSED, struct k8s_output *out)
{
	const struct node_daemon *daemon = &accelerators[ACCELERATOR_NEURON].exporter;
	const char *name = daemon->name;
	struct workload_opts opts = {.namespace = DEVICES_NAMESPACE,
	                             .name = name,
	                             .image = pins[PIN_NEURON_MONITOR].image,
	                             .priority = PRIORITY_NODE};
	struct workload w;

	k8s_file(out, "neuron-monitor.yaml", "Metrics of Neuron devices for Prometheus.");
	k8s_share(out, name);
	k8s_daemonset(out, &opts, &w);
	workload_on_devices(&w, &nodes);
	json_push_string(json_add_array(w.container, "command"), "/opt/bin/entrypoint.sh");
	workload_arg(&w, "--port");
	workload_arg(&w, "8000");
	workload_arg(&w, "--neuron-monitor-config");
	workload_arg(&w, "/opt/aws/neuron/bin/neuron-monitor.conf");
	workload_env(&w, "GOMEMLIMIT", "160MiB");
	workload_port(&w, "metrics", NEURON_PORT);
	k8s_privileged(w.container);
	k8s_daemon_resources(w.container, daemon);
	k8s_scrape(out, k8s_service(out, DEVICES_NAMESPACE, name, "metrics", NEURON_PORT),
	           NEURON_PORT);
}
