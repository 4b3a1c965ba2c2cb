/*
 * Where the job lives: its namespace and its service account.
 */

#include <string.h>

#include "base/attr.h"
#include "k8s/cluster/cluster.h"
#include "k8s/fleet/admission.h"

static void add_namespace(const struct fleet *fleet, struct k8s_output *out)
{
	static const char *const levels[] = {
		[POD_SECURITY_BASELINE] = "baseline", [POD_SECURITY_RESTRICTED] = "restricted"};
	cJSON *namespace = k8s_add(out, "v1", "Namespace", NULL, fleet->namespace);
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(namespace, "metadata");
	cJSON *labels = cJSON_GetObjectItemCaseSensitive(metadata, "labels");
	const char *level = levels[fleet->cluster->pod_security];

	_Static_assert(ARRAY_LEN(levels) == POD_SECURITIES, "levels: one for each");
	/* policy-controller looks at the pods of namespaces that ask for it. */
	if (admission_has(fleet->admission, ADMISSION_POLICY_CONTROLLER))
		k8s_put_string(labels, "policy.sigstore.dev/include", "true");
	if (level == NULL)
		return;
	k8s_put_string(labels, "pod-security.kubernetes.io/enforce", level);
	k8s_note(out, labels, "pod-security.kubernetes.io/enforce", fleet->cluster->pod_security_at,
	         "cluster.pod_security");
}

static void render_namespace(const struct fleet *fleet, struct k8s_output *out)
{
	const struct job_section *job = fleet->job;

	k8s_file(out, "namespace.yaml", "Namespace and service account of the job.");
	if (strcmp(fleet->namespace, "default") != 0)
		add_namespace(fleet, out);
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
