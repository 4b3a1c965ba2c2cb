#include "k8s/fleet/model.h"

bool fleet_target_uses_dra(const struct fleet *fleet, const struct fleet_target *target)
{
	return fleet->cluster->devices == DEVICES_DRA && target->accelerator == ACCELERATOR_NVIDIA;
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

bool fleet_has_monitoring(const struct fleet *fleet)
{
	return fleet->monitoring->set && fleet->n_targets > 0;
}
