/*
 * What runs on every node beside the job. Figures of the EKS add-ons are those of their charts'
 * defaults (VPC CNI 50m and kube-proxy 100m of CPU without memory, CloudWatch's agent and Fluent
 * Bit as in its chart 6.4), with room where a chart asks for nothing. EFA's plugin asks for what
 * its chart does, which sets no limit: for 32 interfaces 20 MiB are too few.
 */
#include <string.h>

#include "base/attr.h"
#include "k8s/fleet/overhead.h"
#include "k8s/fleet/storage_driver.h"

static bool always(const struct fleet *fleet UNUSED, const struct fleet_target *target UNUSED)
{
	return true;
}

static bool on_efa(const struct fleet *fleet UNUSED, const struct fleet_target *target)
{
	return target->shape->efa > 0;
}

static bool with_insights(const struct fleet *fleet, const struct fleet_target *target UNUSED)
{
	return fleet->monitoring->container_insights;
}

/* Container Insights brings exporters of its own. */
static bool with_exporter(const struct fleet *fleet, const struct fleet_target *target)
{
	return fleet->own_exporter[target->accelerator->kind] || with_insights(fleet, target);
}

const struct overhead overheads[] = {
	{"aws-node", 50, 128, 0, always},
	{"kube-proxy", 100, 64, 0, always},
	{"eks-pod-identity-agent", 10, 32, 0, always},
	{"aws-efa-k8s-device-plugin", 10, 20, 128, on_efa},
	{"cloudwatch-agent", 250, 256, 0, with_insights},
	{"fluent-bit", 50, 64, 0, with_insights},
};
const size_t n_overheads = ARRAY_LEN(overheads);

const struct overhead *overhead_find(const char *name)
{
	for (size_t i = 0; i < n_overheads; i++)
		if (strcmp(overheads[i].name, name) == 0)
			return &overheads[i];
	BUG("no DaemonSet is called '%s'", name);
}

void overhead_sum(const struct fleet *fleet, const struct fleet_target *target,
                  int64_t *ret_cpu_milli, int64_t *ret_memory_mib)
{
	const struct reserve_section *reserve = &fleet->cluster->reserve;
	const struct accelerator *accelerator = target->accelerator;
	int64_t cpu = reserve->cpu_milli + accelerator->plugin.cpu_milli;
	int64_t memory = reserve->memory_mib + accelerator->plugin.memory_mib;

	if (with_exporter(fleet, target)) {
		cpu += accelerator->exporter.cpu_milli;
		memory += accelerator->exporter.memory_mib;
	}
	for (size_t i = 0; i < n_overheads; i++)
		if (overheads[i].wanted(fleet, target)) {
			cpu += overheads[i].cpu_milli;
			memory += overheads[i].memory_mib;
		}
	if (fleet->storage.driver != NULL) {
		cpu += fleet->storage.driver->node->cpu_milli;
		memory += fleet->storage.driver->node->memory_mib;
	}
	*ret_cpu_milli = cpu;
	*ret_memory_mib = memory;
}
