/*
 * Exporters for Prometheus: NVIDIA's DCGM, AWS Neuron's monitor, and the trainer itself.
 */
#include "k8s/fleet/pins.h"
#include "k8s/job/job.h"
#include "k8s/monitoring/monitoring.h"
#include "k8s/object/workload.h"

#define EXPORTERS_NAMESPACE "kube-system"

enum { DCGM_PORT = 9400, NEURON_PORT = 8000 };

/* What scrapers look for that find their targets by annotations. */
static void add_scrape(struct k8s_output *out, cJSON *object, int64_t port)
{
	k8s_annotate(object, "prometheus.io/scrape", "true");
	k8s_annotate(object, "prometheus.io/path", "/metrics");
	k8s_annotate(object, "prometheus.io/port",
	             arena_printf(&out->arena, "%lld", (long long)port));
}

static bool on_nvidia(const struct fleet_target *target)
{
	return target->accelerator->kind == ACCELERATOR_NVIDIA;
}

static bool on_neuron(const struct fleet_target *target)
{
	return target->accelerator->kind == ACCELERATOR_NEURON;
}

/* Profiling counters (DCGM_FI_PROF_*) are the administrator's. */
static void add_profiling(cJSON *container)
{
	cJSON *context = json_add_object(container, "securityContext");
	cJSON *capabilities = json_add_object(context, "capabilities");

	json_push_string(json_add_array(capabilities, "drop"), "ALL");
	json_push_string(json_add_array(capabilities, "add"), "SYS_ADMIN");
	json_add_int(context, "runAsUser", 0);
}

void render_dcgm_exporter(const struct fleet *fleet, struct k8s_output *out)
{
	const struct node_daemon *daemon = &accelerators[ACCELERATOR_NVIDIA].exporter;
	const char *name = daemon->name;
	struct workload_opts opts = {.namespace = EXPORTERS_NAMESPACE,
	                             .name = name,
	                             .image = pins[PIN_DCGM_EXPORTER].image,
	                             .priority = PRIORITY_NODE};
	struct workload w;

	k8s_file(out, "dcgm-exporter.yaml", "Metrics of NVIDIA devices for Prometheus.");
	k8s_daemonset(out, &opts, &w);
	workload_on_pools(&w, fleet, on_nvidia);
	workload_env(&w, "DCGM_EXPORTER_LISTEN", ":9400");
	workload_env(&w, "DCGM_EXPORTER_KUBERNETES", "true");
	workload_env_field(&w, "NODE_NAME", "spec.nodeName");
	workload_port(&w, "metrics", DCGM_PORT);
	add_profiling(w.container);
	k8s_daemon_resources(w.container, daemon);
	workload_host_read(&w, "pod-resources", "/var/lib/kubelet/pod-resources",
	                   "/var/lib/kubelet/pod-resources");
	add_scrape(out, k8s_service(out, EXPORTERS_NAMESPACE, name, "metrics", DCGM_PORT),
	           DCGM_PORT);
}

void render_neuron_monitor(const struct fleet *fleet, struct k8s_output *out)
{
	const struct node_daemon *daemon = &accelerators[ACCELERATOR_NEURON].exporter;
	const char *name = daemon->name;
	struct workload_opts opts = {.namespace = EXPORTERS_NAMESPACE,
	                             .name = name,
	                             .image = pins[PIN_NEURON_MONITOR].image,
	                             .priority = PRIORITY_NODE};
	struct workload w;

	k8s_file(out, "neuron-monitor.yaml", "Metrics of Neuron devices for Prometheus.");
	k8s_daemonset(out, &opts, &w);
	workload_on_pools(&w, fleet, on_neuron);
	json_push_string(json_add_array(w.container, "command"), "/opt/bin/entrypoint.sh");
	workload_arg(&w, "--port");
	workload_arg(&w, "8000");
	workload_arg(&w, "--neuron-monitor-config");
	workload_arg(&w, "/opt/aws/neuron/bin/neuron-monitor.conf");
	workload_env(&w, "GOMEMLIMIT", "160MiB");
	workload_port(&w, "metrics", NEURON_PORT);
	k8s_privileged(w.container);
	k8s_daemon_resources(w.container, daemon);
	add_scrape(out, k8s_service(out, EXPORTERS_NAMESPACE, name, "metrics", NEURON_PORT),
	           NEURON_PORT);
}

/* One Service for the job of whatever target runs. */
void render_trainer_metrics(const struct fleet *fleet, struct k8s_output *out)
{
	k8s_file(out, "trainer.yaml", "The trainer's own metrics for Prometheus.");
	cJSON *service = k8s_add(out, "v1", "Service", fleet->namespace,
	                         arena_printf(&out->arena, "%s-metrics", fleet->name));
	cJSON *spec = json_add_object(service, "spec");

	add_scrape(out, service, fleet->job->metrics_port);
	/* Each pod is scraped by itself: no address of its own. */
	json_add_string(spec, "clusterIP", "None");
	cJSON *selector = json_add_object(spec, "selector");

	json_add_string(selector, "app.kubernetes.io/instance", fleet->name);
	json_add_string(selector, JOB_METRICS_LABEL, JOB_METRICS_VALUE);
	cJSON *port = k8s_push_object(json_add_array(spec, "ports"));

	json_add_string(port, "name", "metrics");
	json_add_int(port, "port", fleet->job->metrics_port);
	json_add_string(port, "targetPort", "metrics");
	json_add_string(port, "protocol", "TCP");
}
