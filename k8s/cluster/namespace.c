/*
 * Where the job lives: its namespace and its service account.
 */

#include <string.h>

#include "k8s/cluster/cluster.h"

static void render_namespace(const struct fleet *fleet, struct k8s_output *out)
{
	const struct job_section *job = fleet->job;

	k8s_file(out, "namespace.yaml", "Namespace and service account of the job.");
	if (strcmp(fleet->namespace, "default") != 0)
		k8s_add(out, "v1", "Namespace", NULL, fleet->namespace);
	if (strcmp(fleet->service_account, "default") == 0)
		return;
	cJSON *account =
		k8s_add(out, "v1", "ServiceAccount", fleet->namespace, fleet->service_account);

	if (fleet->cluster->access == ACCESS_IRSA && job->role != NULL)
		k8s_annotate(account, "eks.amazonaws.com/role-arn", job->role);
	json_add_bool(account, "automountServiceAccountToken", false);
}

const struct k8s_renderer namespace_renderer = {
	.number = "05",
	.name = "namespace",
	.summary = "the namespace and the job's service account",
	.deployed = true,
	.wanted = fleet_has_cluster,
	.render = render_namespace,
};
