/*
 * The trainer's own metrics, for Prometheus.
 */
#include "k8s/job/job.h"
#include "k8s/monitoring/monitoring.h"

/* One Service for the job of whatever target runs. */
void render_trainer_metrics(const struct fleet *fleet, struct k8s_output *out)
{
	k8s_file(out, "trainer.yaml", "The trainer's own metrics for Prometheus.");
	cJSON *service = k8s_add(out, "v1", "Service", fleet->namespace,
	                         arena_printf(&out->arena, "%s-metrics", fleet->name));
	cJSON *spec = json_add_object(service, "spec");

	k8s_scrape(out, service, fleet->job->metrics_port);
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
