/*
 * What nodes run for their devices: what makes accelerators and EFA interfaces something that a pod
 * can ask for (20-devices), and the exporters of their metrics, which k8s/monitoring asks for.
 */
#ifndef SLIPWAY_K8S_DEVICES_DEVICES_H
#define SLIPWAY_K8S_DEVICES_DEVICES_H

#include "k8s/object/render.h"

extern const struct k8s_renderer devices_renderer;

#define DEVICES_NAMESPACE "kube-system"
#define KUBELET_PLUGINS   "/var/lib/kubelet/device-plugins"

/* The template that a target's pods claim devices by (DRA). */
const char *dra_template_name(const struct fleet_target *target, struct arena *a);

/* What the nodes of an accelerator run. Its own file exports it; devices.c lists them by kind. */
struct accelerator_parts {
	enum accelerator_kind kind;
	/* The device plugin; the exporter of metrics, a part of 40-monitoring. */
	void (*render_plugin)(const struct fleet *fleet, struct k8s_output *out);
	void (*render_exporter)(const struct fleet *fleet, struct k8s_output *out);
	/* The plugin that offers devices several times; NULL = they cannot be shared. */
	void (*render_shares)(const struct fleet *fleet, struct k8s_output *out);
	/* For part_scheduler and device_class of its row in the catalogue; NULL = without. */
	void (*render_scheduler)(const struct fleet *fleet, struct k8s_output *out);
	void (*render_claims)(const struct fleet *fleet, struct k8s_output *out);
};

/* Every accelerator has a plugin and an exporter; what else it has follows by name. */
#define ACCELERATOR_PARTS(kind_, plugin, exporter, ...)                                            \
	{                                                                                          \
		.kind = ACCELERATOR_##kind_, .render_plugin = (plugin),                            \
		.render_exporter = (exporter), __VA_ARGS__                                         \
	}

/* ACCELERATORS rows, by enum accelerator_kind. */
extern const struct accelerator_parts *const accelerator_parts[];

void render_efa_plugin(const struct fleet *fleet, struct k8s_output *out);

#endif
