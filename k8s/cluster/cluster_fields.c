/*
 * The field table of `cluster`.
 */
#include <string.h>

#include "k8s/cluster/cluster.h"
#include "k8s/fleet/eks_versions.h"
#include "k8s/fleet/fields.h"
#include "k8s/fleet/grammar.h"

/* Room for what most clusters run besides. */
enum { RESERVE_CPU_MILLI = 250, RESERVE_MEMORY_MIB = 512 };

static const char *const device_names[] = {
	[DEVICES_PLUGIN] = "plugin",
	[DEVICES_DRA] = "dra",
	[DEVICES_NONE] = "none",
};
_Static_assert(ARRAY_LEN(device_names) == DEVICE_MODES, "device_names: a name for each");

static const char *const access_names[] = {
	[ACCESS_POD_IDENTITY] = "pod-identity",
	[ACCESS_IRSA] = "irsa",
};
_Static_assert(ARRAY_LEN(access_names) == POD_ACCESSES, "access_names: a name for each");

static const char *const support_names[] = {
	[SUPPORT_STANDARD] = "standard",
	[SUPPORT_EXTENDED] = "extended",
};
_Static_assert(ARRAY_LEN(support_names) == EKS_SUPPORTS, "support_names: a name for each");

static const char *const pod_security_names[] = {
	[POD_SECURITY_DEFAULT] = "default",
	[POD_SECURITY_BASELINE] = "baseline",
	[POD_SECURITY_RESTRICTED] = "restricted",
};
_Static_assert(ARRAY_LEN(pod_security_names) == POD_SECURITIES,
               "pod_security_names: a name for each");

static const struct choices device_modes = CHOICES(device_names);
static const struct choices supports = CHOICES(support_names);
static const struct choices pod_securities = CHOICES(pod_security_names);
static const struct choices accesses = CHOICES(access_names);

static void check_cluster(struct fields_context *c, const struct yaml_node *node UNUSED,
                          void *object)
{
	struct cluster_section *cluster = object;

	check_placed(c, &cluster->zones, "cluster.zones", check_zone);
	if (cluster->reserve.cpu_milli_at.file == NULL)
		cluster->reserve.cpu_milli = RESERVE_CPU_MILLI;
	if (cluster->reserve.memory_mib_at.file == NULL)
		cluster->reserve.memory_mib = RESERVE_MEMORY_MIB;
}

/* Any tag that a subnet can be found by; the one of cluster.discovery is there already. */
static const char *check_subnet_tag(const char *text, const char **ret_hint)
{
	const char *ignored;

	*ret_hint = "set cluster.discovery, or name another tag of at most 128 characters";
	if (strcmp(text, "karpenter.sh/discovery") == 0)
		return "is taken";
	return text[0] != '\0' && strlen(text) <= 128 && check_tag_value(text, &ignored) == NULL
	               ? NULL
	               : "is not the key of a tag";
}

static const struct field reserve_rows[] = {
	CUSTOM_AT(struct reserve_section, cpu_milli, decode_cpu,
                  "{\"type\":[\"string\",\"integer\"]}", "CPUs", "cpu", "CPU, as in 500m.",
                  .fallback_doc = "250m"),
	CUSTOM_AT(struct reserve_section, memory_mib, decode_mib, "{\"type\":\"string\"}",
                  "Mi or Gi", "memory", "Memory, as in 1Gi.", .fallback_doc = "512Mi"),
};

static const struct field_table reserve_fields =
	FIELD_TABLE(struct reserve_section, "reserve", reserve_rows,
                    "Resources kept free on every node for DaemonSets that slipway does not "
                    "render; those that it renders are counted already.");

static const struct field rows[] = {
	TEXT_AT(struct cluster_section, name, "name", "Name of the EKS cluster.",
                .check = check_cluster_name, .fallback_doc = "the spec's name"),
	REQUIRED_AT(struct cluster_section, region, "region", "AWS region, as in us-west-2.",
                    .check = check_region),
	TEXT_AT(struct cluster_section, zone, "zone",
                "Availability zone of the pools and the file system: a Lustre file system has one.",
                .check = check_zone),
	CUSTOM_AT(struct cluster_section, zones, decode_placed, STRINGS_SCHEMA, "list of strings",
                  "zones", "Availability zones of the control plane, at least two.",
                  .fallback_doc = "zone and a neighbour"),
	TEXT_AT(struct cluster_section, version, "version", "Kubernetes version of EKS.",
                .check = check_kubernetes_version, .fallback_text = EKS_DEFAULT_VERSION),
	FIELD_CHOICE(struct cluster_section, support, &supports, "support",
                     "What EKS does when the version's standard support ends: upgrade the cluster "
                     "(standard), or keep it at six times the fee (extended).",
                     .fallback = SUPPORT_STANDARD),
	TEXT_AT(struct cluster_section, karpenter, "karpenter",
                "Karpenter's API (v1, v1beta1 or v1alpha5) or the version in use, as in 1.14.",
                .check = check_karpenter, .fallback_text = "v1"),
	TEXT_AT(struct cluster_section, namespace, "namespace", "Namespace of jobs and claims.",
                .check = check_dns_label, .fallback_doc = "the spec's name"),
	CHOICE_AT(struct cluster_section, pod_security, &pod_securities, "pod_security",
                  "Pod Security Standard that the namespace enforces; default is the cluster's "
                  "own.",
                  .fallback = POD_SECURITY_DEFAULT),
	CHOICE_AT(struct cluster_section, devices, &device_modes, "devices",
                  "How pods get devices: by device plugins, by dynamic resource allocation where "
                  "version and target have it, or by what somebody else installs (none).",
                  .fallback = DEVICES_PLUGIN),
	CHOICE_AT(struct cluster_section, access, &accesses, "access",
                  "How pods get AWS roles: EKS Pod Identity, or IAM roles for service accounts.",
                  .fallback = ACCESS_POD_IDENTITY),
	TEXT_AT(struct cluster_section, account, "account", "AWS account, 12 digits.",
                .check = check_account, .fallback_doc = "that of image.repository on ECR"),
	TEXT(struct cluster_section, role, "role", "Name of the nodes' IAM role.",
             .check = check_role_name, .fallback_doc = "KarpenterNodeRole-CLUSTER"),
	TEXT(struct cluster_section, discovery, "discovery",
             "Value of the tag karpenter.sh/discovery on subnets and security groups.",
             .check = check_tag_value, .fallback_doc = "the cluster's name"),
	MAP_AT(struct cluster_section, subnets, "subnets",
               "Tags that the nodes' subnets have besides karpenter.sh/discovery; \"*\" is any "
               "value. Nodes with several EFA interfaces need private subnets.",
               .check_key = check_subnet_tag, .check = check_tag_value,
               .fallback_doc = "{kubernetes.io/role/internal-elb: \"*\"}, of private subnets"),
	FIELD_OBJECT(
		struct cluster_section, reserve, struct reserve_section, &reserve_fields, "reserve",
		"Resources kept free on every node for DaemonSets that slipway does not render."),
	MAP_AT(struct cluster_section, tags, "tags", "Tags of every AWS resource, at most 40.",
               .check_key = check_tag_key, .check = check_tag_value),
	MAP_AT(struct cluster_section, labels, "labels", "Labels of every object.",
               .check_key = check_object_label_key, .check = check_label_value),
	MAP_AT(struct cluster_section, annotations, "annotations", "Annotations of every object.",
               .check_key = check_label_key, .check = check_annotation_value),
};

const struct field_table cluster_fields =
	FIELD_TABLE(struct cluster_section, "cluster", rows, "The EKS cluster.", .has_pos = true,
                    .pos_offset = offsetof(struct cluster_section, at), .check = check_cluster);
