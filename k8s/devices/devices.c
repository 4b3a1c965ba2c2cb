/*
 * 20-devices: one file per plugin that some pool of the fleet needs, and no other.
 */
#include "k8s/devices/devices.h"

#include "base/attr.h"

struct device_row {
	enum accelerator_kind kind;
	void (*render_plugin)(const struct fleet *fleet, struct k8s_output *out);
	/* For part_scheduler and device_class of its row in the catalogue; NULL = without. */
	void (*render_scheduler)(const struct fleet *fleet, struct k8s_output *out);
	void (*render_claims)(const struct fleet *fleet, struct k8s_output *out);
};

/* Every accelerator has a plugin. */
#define DEVICE(kind_, plugin, ...)                                                                 \
	{                                                                                          \
		.kind = ACCELERATOR_##kind_, .render_plugin = (plugin), __VA_ARGS__                \
	}
static const struct device_row device_rows[] = {
	DEVICE(NVIDIA, render_nvidia_plugin, .render_claims = render_nvidia_dra),
	DEVICE(NEURON, render_neuron_plugin, .render_scheduler = render_neuron_scheduler),
};
_Static_assert(ARRAY_LEN(device_rows) == ACCELERATORS,
               "device_rows: one row per enum accelerator_kind");

/* ---- which pools need which part ---- */

static bool by_plugin(const struct fleet *fleet, const struct fleet_target *t)
{
	return !t->brings_plugin && !fleet_target_uses_dra(fleet, t);
}

static bool by_scheduler(const struct fleet *fleet UNUSED, const struct fleet_target *t)
{
	return t->gang_needs_scheduler;
}

/* Needs a target with this accelerator such a part? */
static bool wanted(const struct fleet *fleet, const struct device_row *row,
                   bool (*needs)(const struct fleet *fleet, const struct fleet_target *t))
{
	for (size_t i = 0; i < fleet->n_targets; i++)
		if (fleet->targets[i].accelerator->kind == row->kind &&
		    needs(fleet, &fleet->targets[i]))
			return true;
	return false;
}

static void render_devices(const struct fleet *fleet, struct k8s_output *out)
{
	for (size_t i = 0; i < ARRAY_LEN(device_rows); i++)
		if (wanted(fleet, &device_rows[i], by_plugin))
			device_rows[i].render_plugin(fleet, out);
	for (size_t i = 0; i < ARRAY_LEN(device_rows); i++)
		if (wanted(fleet, &device_rows[i], by_scheduler))
			device_rows[i].render_scheduler(fleet, out);
	if (fleet->has_efa)
		render_efa_plugin(fleet, out);
	for (size_t i = 0; i < ARRAY_LEN(device_rows); i++)
		if (wanted(fleet, &device_rows[i], fleet_target_uses_dra))
			device_rows[i].render_claims(fleet, out);
}

const struct k8s_renderer devices_renderer = {
	.number = "20",
	.name = "devices",
	.summary = "device plugins, or their drivers for resource claims",
	.deployed = true,
	.wanted = fleet_has_targets,
	.render = render_devices,
};
