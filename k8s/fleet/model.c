#include "k8s/fleet/model.h"

bool fleet_target_uses_dra(const struct fleet *fleet, const struct fleet_target *target)
{
	return fleet->cluster->devices == DEVICES_DRA && target->accelerator->device_class != NULL;
}

const char *fleet_target_offer(const struct fleet *fleet, const struct fleet_target *target)
{
	if (fleet_target_uses_dra(fleet, target))
		return OFFER_CLAIMS;
	if (target->section->time_slices > 0)
		return OFFER_SHARES;
	return target->brings_plugin ? OFFER_NODE : NULL;
}

bool fleet_has_cluster(const struct fleet *fleet)
{
	return fleet->cluster->set;
}

bool fleet_has_targets(const struct fleet *fleet)
{
	return fleet->n_targets > 0;
}

bool fleet_has_storage(const struct fleet *fleet)
{
	return fleet->storage.driver != NULL;
}

bool fleet_has_job(const struct fleet *fleet)
{
	return fleet->job->set && fleet->n_targets > 0;
}

bool fleet_compiles(const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->n_targets; i++)
		if (fleet->targets[i].compile.job != NULL)
			return true;
	return false;
}

bool fleet_has_monitoring(const struct fleet *fleet)
{
	return fleet->monitoring->set && fleet->n_targets > 0;
}

bool fleet_has_accelerator(const struct fleet *fleet, enum accelerator_kind kind)
{
	for (size_t i = 0; i < fleet->n_targets; i++)
		if (fleet->targets[i].accelerator->kind == kind)
			return true;
	return false;
}
