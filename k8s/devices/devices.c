/*
 * 20-devices: one file per plugin that some pool of the fleet needs, and no other.
 */
#include "k8s/devices/devices.h"

#include "base/attr.h"

static bool with_nvidia_plugin(const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->n_targets; i++) {
		const struct fleet_target *t = &fleet->targets[i];

		if (t->accelerator == ACCELERATOR_NVIDIA && !t->brings_plugin &&
		    !fleet_target_uses_dra(fleet, t))
			return true;
	}
	return false;
}

static bool with_neuron(const struct fleet *fleet)
{
	return fleet->has_neuron;
}

static bool with_neuron_scheduler(const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->n_targets; i++)
		if (fleet->targets[i].gang_needs_scheduler)
			return true;
	return false;
}

static bool with_efa(const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->n_targets; i++)
		if (fleet->targets[i].efa > 0)
			return true;
	return false;
}

static bool with_dra(const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->n_targets; i++)
		if (fleet_target_uses_dra(fleet, &fleet->targets[i]))
			return true;
	return false;
}

static const struct {
	bool (*wanted)(const struct fleet *fleet);
	void (*render)(const struct fleet *fleet, struct k8s_output *out);
} parts[] = {
	{with_nvidia_plugin, render_nvidia_plugin},
	{with_neuron, render_neuron_plugin},
	{with_neuron_scheduler, render_neuron_scheduler},
	{with_efa, render_efa_plugin},
	{with_dra, render_nvidia_dra},
};

static void render_devices(const struct fleet *fleet, struct k8s_output *out)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (parts[i].wanted(fleet))
			parts[i].render(fleet, out);
}

const struct k8s_renderer devices_renderer = {
	.number = "20",
	.name = "devices",
	.summary = "device plugins, or their drivers for resource claims",
	.deployed = true,
	.wanted = fleet_has_targets,
	.render = render_devices,
};
