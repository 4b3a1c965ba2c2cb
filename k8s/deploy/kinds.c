#include "k8s/deploy/kinds.h"

#include <string.h>

#include "base/attr.h"
#include "k8s/job/scheduler.h"

/* Beside those of the schedulers (k8s/job/scheduler.c). */
static const struct operator_row operators[] = {
	{"Karpenter", " karpenter.sh karpenter.k8s.aws ",
         "`helm upgrade --install karpenter oci://public.ecr.aws/karpenter/karpenter "
         "--namespace kube-system --set settings.clusterName=CLUSTER`, or make the cluster with "
         "`slipway render --only cluster | eksctl create cluster -f -`."},
	{"Dynamic resource allocation", " resource.k8s.io ",
         "it is part of Kubernetes 1.34 and newer: upgrade the cluster, or set cluster.devices: "
         "plugin."},
};

static const struct kind_row kinds[] = {
	{"Service", "", "services", LEAVE_JOB},
	{"ResourceClaimTemplate", "resource.k8s.io", "resourceclaimtemplates.resource.k8s.io",
         LEAVE_JOB},
	{"PersistentVolumeClaim", "", "persistentvolumeclaims", LEAVE_CLAIM},
	{"PersistentVolume", "", "persistentvolumes", LEAVE_VOLUME},
	{"NodePool", "karpenter.sh", "nodepools.karpenter.sh", LEAVE_POOL},
	{"Provisioner", "karpenter.sh", "provisioners.karpenter.sh", LEAVE_POOL},
	{"NodeOverlay", "karpenter.sh", "nodeoverlays.karpenter.sh", LEAVE_POOL},
	{"EC2NodeClass", "karpenter.k8s.aws", "ec2nodeclasses.karpenter.k8s.aws", LEAVE_NODE_CLASS},
	{"AWSNodeTemplate", "karpenter.k8s.aws", "awsnodetemplates.karpenter.k8s.aws",
         LEAVE_NODE_CLASS},
	{"DaemonSet", "apps", "daemonsets.apps", LEAVE_PLUGIN},
	{"Deployment", "apps", "deployments.apps", LEAVE_PLUGIN},
	{"StorageClass", "storage.k8s.io", "storageclasses.storage.k8s.io", LEAVE_PLUGIN},
	{"CSIDriver", "storage.k8s.io", "csidrivers.storage.k8s.io", LEAVE_PLUGIN},
	{"DeviceClass", "resource.k8s.io", "deviceclasses.resource.k8s.io", LEAVE_PLUGIN},
	{"Queue", "scheduling.volcano.sh", "queues.scheduling.volcano.sh", LEAVE_PLUGIN},
	{"ConfigMap", "", "configmaps", LEAVE_PLUGIN},
	{"RoleBinding", "rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io",
         LEAVE_RBAC},
	{"Role", "rbac.authorization.k8s.io", "roles.rbac.authorization.k8s.io", LEAVE_RBAC},
	{"ClusterRoleBinding", "rbac.authorization.k8s.io",
         "clusterrolebindings.rbac.authorization.k8s.io", LEAVE_RBAC},
	{"ClusterRole", "rbac.authorization.k8s.io", "clusterroles.rbac.authorization.k8s.io",
         LEAVE_RBAC},
	{"ServiceAccount", "", "serviceaccounts", LEAVE_RBAC},
	{"Lease", "coordination.k8s.io", "leases.coordination.k8s.io", LEAVE_RBAC},
	{"Namespace", "", "namespaces", LEAVE_NAMESPACE},
};

size_t kinds_count(void)
{
	return SCHEDULERS + ARRAY_LEN(kinds);
}

const struct kind_row *kind_at(size_t i)
{
	return i < SCHEDULERS ? &schedulers[i].object : &kinds[i - SCHEDULERS];
}

static bool in_group(const char *api_version, const char *group)
{
	const char *slash = strchr(api_version, '/');
	size_t len = slash != NULL ? (size_t)(slash - api_version) : 0;

	return strlen(group) == len && strncmp(api_version, group, len) == 0;
}

const struct kind_row *kind_of(const cJSON *object)
{
	const char *version = json_string(object, "apiVersion");
	const char *kind = json_string(object, "kind");

	for (size_t i = 0; version != NULL && kind != NULL && i < kinds_count(); i++)
		if (strcmp(kind_at(i)->kind, kind) == 0 && in_group(version, kind_at(i)->group))
			return kind_at(i);
	return NULL;
}

const struct kind_row *kind_of_resource(const char *resource)
{
	for (size_t i = 0; i < kinds_count(); i++)
		if (strcmp(kind_at(i)->resource, resource) == 0)
			return kind_at(i);
	return NULL;
}

void object_add_resource(const cJSON *object, struct strbuf *sb)
{
	const struct kind_row *row = kind_of(object);
	const char *version = json_string(object, "apiVersion");
	const char *slash = version != NULL ? strchr(version, '/') : NULL;

	strbuf_adds(sb, row != NULL ? row->resource : json_string(object, "kind"));
	if (row == NULL && slash != NULL)
		strbuf_addf(sb, ".%s.%.*s", slash + 1, (int)(slash - version), version);
}

bool resource_is_known(const cJSON *resources, const char *resource)
{
	for (const cJSON *item = object_first(resources); item != NULL; item = item->next)
		if (cJSON_IsString(item) && strcmp(item->valuestring, resource) == 0)
			return true;
	return false;
}

static bool brings(const struct operator_row *row, const char *group)
{
	size_t len = strlen(group);
	const char *at = row != NULL && len > 0 ? strstr(row->groups, group) : NULL;

	return at != NULL && at[-1] == ' ' && at[len] == ' ';
}

const struct operator_row *operator_of(const char *group)
{
	for (size_t i = 0; i < ARRAY_LEN(operators); i++)
		if (brings(&operators[i], group))
			return &operators[i];
	for (size_t i = 0; i < SCHEDULERS; i++)
		if (brings(schedulers[i].brought_by, group))
			return schedulers[i].brought_by;
	return NULL;
}

const struct operator_row *operator_for_text(const char *text)
{
	for (size_t i = 0; i < kinds_count(); i++) {
		const char *group = kind_at(i)->group;

		if (operator_of(group) != NULL && strstr(text, group) != NULL)
			return operator_of(group);
	}
	return NULL;
}

void deploy_metadata(cJSON *object, const char *namespace, const char *fleet, const char *suffix)
{
	cJSON *metadata = json_add_object(object, "metadata"), *labels;
	AUTO(strbuf) struct strbuf name = STRBUF_INIT(256);

	strbuf_addf(&name, "%s%s", fleet, suffix);
	json_add_string(metadata, "name", strbuf_str(&name));
	json_add_string(metadata, "namespace", namespace);
	labels = json_add_object(metadata, "labels");
	json_add_string(labels, "app.kubernetes.io/name", strbuf_str(&name));
	json_add_string(labels, "app.kubernetes.io/instance", fleet);
	json_add_string(labels, "app.kubernetes.io/component", DEPLOY_COMPONENT);
	json_add_string(labels, "app.kubernetes.io/part-of", fleet);
	json_add_string(labels, "app.kubernetes.io/managed-by", "slipway");
	json_add_string(labels, OWNER_LABEL, fleet);
}

bool is_deploys_own(const cJSON *object)
{
	return object_in(object, DEPLOY_COMPONENT);
}

static bool same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool object_same(const cJSON *a, const cJSON *b)
{
	return kind_of(a) == kind_of(b) && same_text(object_name(a), object_name(b)) &&
	       same_text(object_namespace(a), object_namespace(b));
}

const cJSON *object_find(const cJSON *items, const cJSON *wanted)
{
	const cJSON *item;

	cJSON_ArrayForEach (item, items)
		if (object_same(item, wanted))
			return item;
	return NULL;
}
