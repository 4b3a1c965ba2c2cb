/*
 * 20-devices: one file per plugin that some pool of the fleet needs, and no other. All but the
 * claims are shared with the other fleets of the cluster.
 */
#include "k8s/devices/devices.h"

#include "base/attr.h"

extern const struct accelerator_parts nvidia_parts, neuron_parts;

/* In the enum's order. */
const struct accelerator_parts *const accelerator_parts[] = {&nvidia_parts, &neuron_parts};
_Static_assert(ARRAY_LEN(accelerator_parts) == ACCELERATORS,
               "accelerator_parts: one row per enum accelerator_kind");

/* ---- which pools need which part ---- */

static bool by_plugin(const struct fleet *fleet, const struct fleet_target *t)
{
	return fleet->cluster->devices != DEVICES_NONE && fleet_target_offer(fleet, t) == NULL;
}

static bool by_shares(const struct fleet *fleet, const struct fleet_target *t)
{
	return fleet->cluster->devices != DEVICES_NONE && t->section->time_slices > 0;
}

static bool by_scheduler(const struct fleet *fleet UNUSED, const struct fleet_target *t)
{
	return t->gang_needs_scheduler;
}

/* Needs a target with this accelerator such a part? */
static bool wanted(const struct fleet *fleet, const struct accelerator_parts *parts,
                   bool (*needs)(const struct fleet *fleet, const struct fleet_target *t))
{
	for (size_t i = 0; i < fleet->n_targets; i++)
		if (fleet->targets[i].accelerator->kind == parts->kind &&
		    needs(fleet, &fleet->targets[i]))
			return true;
	return false;
}

static void render_devices(const struct fleet *fleet, struct k8s_output *out)
{
	for (size_t i = 0; i < ACCELERATORS; i++)
		if (wanted(fleet, accelerator_parts[i], by_plugin))
			accelerator_parts[i]->render_plugin(fleet, out);
	for (size_t i = 0; i < ACCELERATORS; i++)
		if (wanted(fleet, accelerator_parts[i], by_shares))
			accelerator_parts[i]->render_shares(fleet, out);
	for (size_t i = 0; i < ACCELERATORS; i++)
		if (wanted(fleet, accelerator_parts[i], by_scheduler))
			accelerator_parts[i]->render_scheduler(fleet, out);
	if (fleet->has_efa && fleet->cluster->devices != DEVICES_NONE)
		render_efa_plugin(fleet, out);
	for (size_t i = 0; i < ACCELERATORS; i++)
		if (wanted(fleet, accelerator_parts[i], fleet_target_uses_dra))
			accelerator_parts[i]->render_claims(fleet, out);
}

const struct k8s_renderer devices_renderer = {
	.number = "20",
	.name = "devices",
	.summary = "device plugins, or their drivers for resource claims",
	.deployed = true,
	.wanted = fleet_has_targets,
	.render = render_devices,
};
