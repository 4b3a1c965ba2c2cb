/*
 * The parts of 20-devices: what makes accelerators and EFA interfaces something a pod can ask for.
 * For k8s/devices/devices.c and plugin_*.c only.
 */
#ifndef SLIPWAY_K8S_DEVICES_DEVICES_H
#define SLIPWAY_K8S_DEVICES_DEVICES_H

#include "k8s/object/render.h"

extern const struct k8s_renderer devices_renderer;

#define DEVICES_NAMESPACE "kube-system"
#define KUBELET_PLUGINS   "/var/lib/kubelet/device-plugins"

/* The template that a target's pods claim devices by (DRA). */
const char *dra_template_name(const struct fleet_target *target, struct arena *a);

void render_nvidia_plugin(const struct fleet *fleet, struct k8s_output *out);
void render_neuron_plugin(const struct fleet *fleet, struct k8s_output *out);
void render_neuron_scheduler(const struct fleet *fleet, struct k8s_output *out);
void render_efa_plugin(const struct fleet *fleet, struct k8s_output *out);
void render_nvidia_dra(const struct fleet *fleet, struct k8s_output *out);

#endif
