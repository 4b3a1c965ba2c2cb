/*
 * The pool of nodes that compile ahead of a job: ordinary ones without devices, of which Karpenter
 * takes the cheapest that the compiler's request fits on. Nothing else lands there, and an empty
 * one goes at once. Only in the API of Karpenter 1.x; with older ones the cluster's own nodes
 * compile.
 */
#include "base/attr.h"
#include "karpenter/pools/pools.h"

/* Karpenter prefers the cheaper of these: compute, general, memory. */
static const char *const categories[] = {"c", "m", "r"};

static void node_class(const struct fleet *fleet, struct k8s_output *out)
{
	enum { VOLUME_GIB = 100 }; /* the compilers' images unpack to 30 GB and more */
	cJSON *doc =
		k8s_add(out, "karpenter.k8s.aws/v1", "EC2NodeClass", NULL, fleet->compile_pool);
	cJSON *spec = json_add_object(doc, "spec"), *mapping, *ebs, *tags;

	json_add_string(k8s_push_object(json_add_array(spec, "amiSelectorTerms")), "alias",
	                "al2023@latest");
	json_add_string(spec, "role", fleet->node_role);
	pool_network(spec, fleet, out);
	mapping = k8s_push_object(json_add_array(spec, "blockDeviceMappings"));
	json_add_string(mapping, "deviceName", "/dev/xvda");
	ebs = json_add_object(mapping, "ebs");
	json_add_string(ebs, "volumeType", "gp3");
	json_add_bool(ebs, "encrypted", true);
	json_add_bool(ebs, "deleteOnTermination", true);
	k8s_addf(ebs, "volumeSize", "%dGi", VOLUME_GIB);
	pool_metadata_options(spec);
	tags = json_add_object(spec, "tags");
	json_add_string(tags, "Name", fleet->compile_pool);
	json_add_string(tags, "slipway/owner", fleet->name);
	k8s_add_map(tags, &fleet->cluster->tags);
}

static void require(cJSON *requirements, const char *key, const char *const *values, size_t n)
{
	cJSON *r = k8s_push_object(requirements);

	json_add_string(r, "key", key);
	json_add_string(r, "operator", "In");
	k8s_add_strings(r, "values", values, n);
}

/* What the targets that compile have in common: their zone, what a storage driver waits for. */
static const struct fleet_target *first_of(const struct fleet *fleet)
{
	const struct fleet_target *t = fleet->targets;

	while (t->compile.job == NULL || t->section->compiler.compiled)
		t++;
	return t;
}

static void requirements(const struct fleet *fleet, cJSON *node)
{
	const struct fleet_target *t = first_of(fleet);
	const char *const os = "linux", *const capacity = "on-demand";
	cJSON *list = json_add_array(node, "requirements");

	require(list, "karpenter.k8s.aws/instance-category", categories, ARRAY_LEN(categories));
	require(list, "kubernetes.io/arch", &t->arch, 1);
	require(list, "kubernetes.io/os", &os, 1);
	if (t->zone != NULL)
		require(list, "topology.kubernetes.io/zone", &t->zone, 1);
	require(list, "karpenter.sh/capacity-type", &capacity, 1);
}

static void taints(const struct fleet *fleet, cJSON *node)
{
	const struct fleet_target *t = first_of(fleet);
	cJSON *taint = k8s_push_object(json_add_array(node, "taints")), *startup = NULL;

	json_add_string(taint, "key", COMPILE_LABEL);
	json_add_string(taint, "effect", "NoSchedule");
	for (size_t i = 0; i < t->n_startup_taints; i++) {
		startup = startup != NULL ? startup : json_add_array(node, "startupTaints");
		taint = k8s_push_object(startup);
		json_add_string(taint, "key", t->startup_taints[i].key);
		json_add_string(taint, "effect", t->startup_taints[i].effect);
	}
}

static int64_t at_least(int64_t value, int64_t least)
{
	return value > least ? value : least;
}

/* Twice what all of them ask for, and more memory: a node is larger than a pod. Under these floors
 * even the cheapest node for a small request would not be let in. */
static void limits(const struct fleet *fleet, cJSON *spec)
{
	enum { CPU_LEAST = 64, MEMORY_LEAST = 512 };
	int64_t cpu = 0, memory = 0;

	for (size_t i = 0; i < fleet->n_targets; i++) {
		const struct compiler_section *c = &fleet->targets[i].section->compiler;

		if (fleet->targets[i].compile.job == NULL || c->compiled)
			continue;
		cpu += 2 * ((c->cpu_milli + 999) / 1000);
		memory += 4 * ((c->memory_mib + 1023) / 1024);
	}
	spec = json_add_object(spec, "limits");
	k8s_addf(spec, "cpu", "%lld", (long long)at_least(cpu, CPU_LEAST));
	k8s_addf(spec, "memory", "%lldGi", (long long)at_least(memory, MEMORY_LEAST));
}

void pool_compile(const struct fleet *fleet, struct k8s_output *out)
{
	cJSON *spec, *template, *labels, *node, *ref, *disruption;

	k8s_file(out, "compile.yaml",
	         "Nodes without devices, on which what the devices run is compiled ahead.");
	node_class(fleet, out);
	spec = json_add_object(
		k8s_add(out, "karpenter.sh/v1", "NodePool", NULL, fleet->compile_pool), "spec");
	template = json_add_object(spec, "template");
	labels = json_add_object(json_add_object(template, "metadata"), "labels");
	json_add_string(labels, "slipway/owner", fleet->name);
	node = json_add_object(template, "spec");
	ref = json_add_object(node, "nodeClassRef");
	json_add_string(ref, "group", "karpenter.k8s.aws");
	json_add_string(ref, "kind", "EC2NodeClass");
	json_add_string(ref, "name", fleet->compile_pool);
	requirements(fleet, node);
	taints(fleet, node);
	json_add_string(node, "expireAfter", "Never");
	disruption = json_add_object(spec, "disruption");
	json_add_string(disruption, "consolidationPolicy", "WhenEmpty");
	json_add_string(disruption, "consolidateAfter", "1m");
	limits(fleet, spec);
}
