/*
 * The CloudWatch agent as plain manifests, for clusters that do without the managed add-on:
 * Container Insights with enhanced observability, without the add-on's operator and exporters.
 */
#include "base/attr.h"
#include "k8s/fleet/pins.h"
#include "k8s/fleet/regions.h"
#include "k8s/monitoring/monitoring.h"
#include "k8s/object/workload.h"

static const char name[] = INSIGHTS_ACCOUNT;

static const struct rbac_rule rules[] = {
	{"", "pods,nodes,endpoints,services,namespaces", "get,list,watch"},
	{"", "persistentvolumeclaims,persistentvolumes", "get,list,watch"},
	{"", "nodes/proxy,nodes/stats", "get"},
	{"", "configmaps,events", "create,get,update"},
	{"apps", "replicasets,daemonsets,deployments,statefulsets", "get,list,watch"},
	{"batch", "jobs", "list,watch"},
	{"discovery.k8s.io", "endpointslices", "get,list,watch"},
	{"coordination.k8s.io", "leases", "create,get,update"},
};

static const struct {
	const char *volume, *path;
} host_paths[] = {
	{"rootfs", "/"},
	{"sys", "/sys"},
	{"dev-disk", "/dev/disk"},
	{"containerd", "/run/containerd/containerd.sock"},
};

static void render_configuration(const struct fleet *fleet, struct k8s_output *out)
{
	AUTO(json) cJSON *config = cJSON_CreateObject();
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 16);
	cJSON *logs;

	json_add_string(json_add_object(config, "agent"), "region", fleet->cluster->region);
	logs = json_add_object(config, "logs");
	cJSON *kubernetes =
		json_add_object(json_add_object(logs, "metrics_collected"), "kubernetes");

	json_add_string(kubernetes, "cluster_name", fleet->cluster_name);
	json_add_int(kubernetes, "metrics_collection_interval", 60);
	json_add_bool(kubernetes, "enhanced_container_insights", true);
	/* They come from the operator's exporters, which are not here. */
	json_add_bool(kubernetes, "accelerated_compute_metrics", false);
	json_print_pretty(config, &text);
	k8s_config_map(out, INSIGHTS_NAMESPACE, name, "cwagentconfig.json", strbuf_str(&text));
}

static void render_rights(const struct fleet *fleet, struct k8s_output *out)
{
	cJSON *account;

	k8s_add(out, "v1", "Namespace", NULL, INSIGHTS_NAMESPACE);
	account = k8s_service_account(out, INSIGHTS_NAMESPACE, name);
	if (fleet->cluster->access == ACCESS_IRSA && fleet->account != NULL)
		k8s_annotate(account, "eks.amazonaws.com/role-arn",
		             arena_printf(&out->arena, "arn:%s:iam::%s:role/" INSIGHTS_ROLE,
		                          aws_partition(fleet->cluster->region), fleet->account,
		                          fleet->cluster_name));
	k8s_cluster_role(out, name, rules, ARRAY_LEN(rules));
	k8s_bind(out, name, name, INSIGHTS_NAMESPACE, name);
}

void render_cloudwatch_agent(const struct fleet *fleet, struct k8s_output *out)
{
	struct workload_opts opts = {.namespace = INSIGHTS_NAMESPACE,
	                             .name = name,
	                             .account = name,
	                             .image = pins[PIN_CLOUDWATCH_AGENT].image,
	                             .priority = PRIORITY_NODE};
	struct workload w;

	k8s_file(out, "cloudwatch-agent.yaml",
	         "Container Insights by the CloudWatch agent on every node.");
	k8s_share(out, name);
	render_rights(fleet, out);
	render_configuration(fleet, out);
	k8s_daemonset(out, &opts, &w);
	workload_tolerate_all(&w);
	workload_env_field(&w, "HOST_IP", "status.hostIP");
	workload_env_field(&w, "HOST_NAME", "spec.nodeName");
	workload_env_field(&w, "K8S_NAMESPACE", "metadata.namespace");
	k8s_drop_all(w.container);
	k8s_overhead_resources(w.container, name);
	workload_config_map(&w, "config", name, "/etc/cwagentconfig");
	for (size_t i = 0; i < ARRAY_LEN(host_paths); i++)
		workload_host_read(&w, host_paths[i].volume, host_paths[i].path,
		                   i == 0 ? "/rootfs" : host_paths[i].path);
}
