/*
 * 00-cluster: the EKS cluster itself for eksctl. Karpenter makes the accelerator nodes; the only
 * node group here runs operators, launchers and preparation.
 */
#include "k8s/cluster/cluster.h"

#include <string.h>

#include "base/attr.h"
#include "k8s/fleet/pins.h"
#include "k8s/fleet/regions.h"
#include "k8s/fleet/storage_driver.h"
#include "k8s/monitoring/monitoring.h"
#include "k8s/object/workload.h"

static const char *managed_policy(const struct fleet *fleet, struct k8s_output *out,
                                  const char *policy)
{
	return arena_printf(&out->arena, "arn:%s:iam::aws:policy/%s",
	                    aws_partition(fleet->cluster->region), policy);
}

/* ---- add-ons ---- */

static cJSON *add_addon(cJSON *addons, const char *name)
{
	cJSON *addon = k8s_push_object(addons);

	json_add_string(addon, "name", name);
	return addon;
}

/* The add-on's own role, by the way that the cluster gives roles to pods. */
static void add_role(const struct fleet *fleet, struct k8s_output *out, cJSON *addon,
                     const char *account, const char *policy)
{
	const char *arn = managed_policy(fleet, out, policy);

	if (fleet->cluster->access == ACCESS_IRSA) {
		json_push_string(json_add_array(addon, "attachPolicyARNs"), arn);
		return;
	}
	cJSON *association = k8s_push_object(json_add_array(addon, "podIdentityAssociations"));

	json_add_string(association, "serviceAccountName", account);
	json_push_string(json_add_array(association, "permissionPolicyARNs"), arn);
}

static void add_storage_addon(const struct fleet *fleet, struct k8s_output *out, cJSON *addons)
{
	const struct fleet_storage *storage = &fleet->storage;
	cJSON *addon = add_addon(addons, storage->driver->addon);

	if (fleet->cluster->access == ACCESS_IRSA && storage->driver_role != NULL)
		json_add_string(addon, "serviceAccountRoleARN", storage->driver_role);
	else if (storage->id == NULL && storage->driver->account != NULL)
		add_role(fleet, out, addon, storage->driver->account, storage->driver->policy);
}

static void add_addons(const struct fleet *fleet, struct k8s_output *out, cJSON *config)
{
	/* Karpenter's controller takes its role by Pod Identity, whatever the jobs do. */
	static const char *const always[] = {"vpc-cni", "coredns", "kube-proxy",
	                                     "eks-pod-identity-agent"};
	cJSON *addons = json_add_array(config, "addons");

	for (size_t i = 0; i < ARRAY_LEN(always); i++)
		add_addon(addons, always[i]);
	if (insights_as(fleet, INSIGHTS_ADDON))
		add_role(fleet, out, add_addon(addons, "amazon-cloudwatch-observability"),
		         INSIGHTS_ACCOUNT, INSIGHTS_POLICY);
	if (fleet_has_storage(fleet) && fleet->storage.driver_source == DRIVER_ADDON)
		add_storage_addon(fleet, out, addons);
}

/* ---- roles of pods ---- */

struct association {
	const char *namespace, *account;
	const char *role;   /* an existing role's ARN, or NULL: */
	const char *policy; /* a new role with this policy */
};

static void add_association(cJSON *associations, const struct association *a)
{
	cJSON *entry = k8s_push_object(associations);

	json_add_string(entry, "namespace", a->namespace);
	json_add_string(entry, "serviceAccountName", a->account);
	json_add_string(entry, "roleARN", a->role);
	if (a->role == NULL)
		json_push_string(json_add_array(entry, "permissionPolicyARNs"), a->policy);
}

/* Of the storage driver that is rendered here; mounting what is there needs none. */
static bool controller_needs_role(const struct fleet_storage *storage)
{
	return storage->driver != NULL && storage->driver->account != NULL &&
	       storage->driver_source == DRIVER_MANIFESTS && storage->id == NULL;
}

static struct association controller_role(const struct fleet *fleet, struct k8s_output *out)
{
	const struct storage_driver *driver = fleet->storage.driver;

	if (!controller_needs_role(&fleet->storage))
		return (struct association){0};
	return (struct association){driver->namespace, driver->account, fleet->storage.driver_role,
	                            managed_policy(fleet, out, driver->policy)};
}

static void add_associations(const struct fleet *fleet, struct k8s_output *out, cJSON *iam)
{
	const struct fleet_storage *storage = &fleet->storage;
	const struct {
		bool wanted;
		struct association a;
	} rows[] = {
		{controller_needs_role(storage), controller_role(fleet, out)},
		{fleet->job->set && fleet->job->role != NULL,
	         {fleet->namespace, fleet->service_account, fleet->job->role, NULL}},
		{storage->prepare->set && storage->prepare->service_account_role != NULL,
	         {fleet->namespace, storage->prepare_job, storage->prepare->service_account_role,
	          NULL}},
		{insights_as(fleet, INSIGHTS_MANIFESTS),
	         {INSIGHTS_NAMESPACE, INSIGHTS_ACCOUNT, NULL,
	          managed_policy(fleet, out, INSIGHTS_POLICY)}},
	};
	cJSON *associations = cJSON_CreateArray();

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].wanted)
			add_association(associations, &rows[i].a);
	if (cJSON_GetArraySize(associations) > 0 && fleet->cluster->access == ACCESS_POD_IDENTITY)
		cJSON_AddItemToObject(iam, "podIdentityAssociations", associations);
	else
		cJSON_Delete(associations);
}

/* The agent's role under IRSA: its service account is in the agent's manifests. */
static void add_agent_role(const struct fleet *fleet, struct k8s_output *out, cJSON *iam)
{
	cJSON *account = k8s_push_object(json_add_array(iam, "serviceAccounts"));
	cJSON *metadata = json_add_object(account, "metadata");

	json_add_string(metadata, "name", INSIGHTS_ACCOUNT);
	json_add_string(metadata, "namespace", INSIGHTS_NAMESPACE);
	json_add_bool(account, "roleOnly", true);
	k8s_addf(account, "roleName", INSIGHTS_ROLE, fleet->cluster_name);
	json_push_string(json_add_array(account, "attachPolicyARNs"),
	                 managed_policy(fleet, out, INSIGHTS_POLICY));
}

/* ---- nodes of the system ---- */

static void add_system_nodes(const struct fleet *fleet, cJSON *config)
{
	bool arm = strcmp(k8s_system_arch(fleet), "arm64") == 0;
	cJSON *group = k8s_push_object(json_add_array(config, "managedNodeGroups"));

	json_add_string(group, "name", "system");
	json_add_string(group, "instanceType", arm ? "m7g.xlarge" : "m6i.xlarge");
	json_add_string(group, "amiFamily", "AmazonLinux2023");
	json_add_int(group, "minSize", 2);
	json_add_int(group, "maxSize", 4);
	json_add_int(group, "desiredCapacity", 2);
	json_add_int(group, "volumeSize", 80);
	json_add_string(group, "volumeType", "gp3");
	json_add_bool(group, "volumeEncrypted", true);
	json_add_bool(group, "privateNetworking", true);
	/* Where the file system is: preparation mounts it. */
	if (fleet->zone != NULL)
		json_push_string(json_add_array(group, "availabilityZones"), fleet->zone);
	json_add_string(json_add_object(group, "labels"), "slipway/nodes", "system");
}

static void add_metadata(const struct fleet *fleet, struct k8s_output *out, cJSON *config)
{
	cJSON *metadata = json_add_object(config, "metadata");

	json_add_string(metadata, "name", fleet->cluster_name);
	k8s_note(out, metadata, "name", fleet->cluster->name_at, "cluster.name");
	json_add_string(metadata, "region", fleet->cluster->region);
	json_add_string(metadata, "version", fleet->version);
	k8s_note(out, metadata, "version", fleet->cluster->version_at, "cluster.version");
	/* Without it, EKS keeps a cluster beyond the standard support, for six times the fee. */
	json_add_string(json_add_object(config, "upgradePolicy"), "supportType",
	                fleet->cluster->support == SUPPORT_EXTENDED ? "EXTENDED" : "STANDARD");
	cJSON *tags = json_add_object(metadata, "tags");

	/* Karpenter finds subnets and security groups by it. */
	json_add_string(tags, "karpenter.sh/discovery", fleet->discovery);
	k8s_add_map(tags, &fleet->cluster->tags);
}

/* The values of Karpenter's chart besides names. */
static const char *extra_settings(const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->n_targets; i++)
		if (fleet->targets[i].hugepages_mib > 0 || fleet->targets[i].shares > 1)
			return ",settings.featureGates.nodeOverlay=true";
	return "";
}

/* Charts before 0.33 had other names for versions and settings. */
static const char *chart_settings(const struct fleet *fleet, struct arena *a)
{
	const char *cluster = fleet->cluster_name;

	if (fleet->karpenter == KARPENTER_V1ALPHA5)
		return arena_printf(a,
		                    "--version v%s --namespace " KARPENTER_NAMESPACE
		                    " \\\n    --set "
		                    "settings.aws.clusterName=%s,"
		                    "settings.aws.interruptionQueueName=%s\n"
		                    "This Karpenter is older than Pod Identity: give its service "
		                    "account a role by IRSA,\nwith the policy of ControllerRole in "
		                    "karpenter.yaml.",
		                    fleet->karpenter_version, cluster, cluster);
	return arena_printf(a,
	                    "--version %s --namespace " KARPENTER_NAMESPACE " \\\n    --set "
	                    "settings.clusterName=%s,settings.interruptionQueue=%s%s",
	                    fleet->karpenter_version, cluster, cluster, extra_settings(fleet));
}

static const char *about_cluster(const struct fleet *fleet, struct arena *a)
{
	const char *vpc =
		arena_printf(a,
	                     " \\\n    --parameter-overrides Vpc=$(aws eks describe-cluster "
	                     "--name %s \\\n      --query "
	                     "cluster.resourcesVpcConfig.vpcId --output text)",
	                     fleet->cluster_name);

	return arena_printf(
		a,
		"The cluster:\n"
		"  eksctl create cluster -f cluster.yaml\n"
		"then what Karpenter needs:\n"
		"  aws cloudformation deploy --template-file ../01-account/karpenter.yaml \\\n"
		"    --stack-name Karpenter-%s --capabilities CAPABILITY_NAMED_IAM%s\n"
		"then Karpenter itself:\n"
		"  helm upgrade --install karpenter "
		"oci://%s \\\n    %s",
		fleet->cluster_name, cluster_wants_efa_group(fleet) ? vpc : "",
		pins[PIN_KARPENTER_V1].repository, chart_settings(fleet, a));
}

static void render_cluster(const struct fleet *fleet, struct k8s_output *out)
{
	k8s_file(out, "cluster.yaml", about_cluster(fleet, &out->arena));
	cJSON *config = k8s_add_foreign(out);

	json_add_string(config, "apiVersion", "eksctl.io/v1alpha5");
	json_add_string(config, "kind", "ClusterConfig");
	add_metadata(fleet, out, config);
	if (fleet->zones.n > 0)
		k8s_add_strings(config, "availabilityZones", fleet->zones.at, fleet->zones.n);
	json_add_string(json_add_object(config, "accessConfig"), "authenticationMode",
	                "API_AND_CONFIG_MAP");
	cJSON *iam = json_add_object(config, "iam");

	json_add_bool(iam, "withOIDC", true);
	add_associations(fleet, out, iam);
	if (insights_as(fleet, INSIGHTS_MANIFESTS) && fleet->cluster->access == ACCESS_IRSA)
		add_agent_role(fleet, out, iam);
	add_addons(fleet, out, config);
	add_system_nodes(fleet, config);
}

const struct k8s_renderer cluster_renderer = {
	.number = "00",
	.name = "cluster",
	.summary = "the cluster, for eksctl",
	.wanted = fleet_has_cluster,
	.render = render_cluster,
};
