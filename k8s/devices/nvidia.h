/*
 * What NVIDIA's nodes run beside the device plugin; plugin_nvidia.c joins it.
 */
#ifndef SLIPWAY_K8S_DEVICES_NVIDIA_H
#define SLIPWAY_K8S_DEVICES_NVIDIA_H

#include "k8s/devices/devices.h"

void render_nvidia_shares(const struct fleet *fleet, struct k8s_output *out);
void render_nvidia_dra(const struct fleet *fleet, struct k8s_output *out);
void render_nvidia_exporter(const struct fleet *fleet, struct k8s_output *out);
/* Has the instance such devices? */
bool is_nvidia_node(const struct instance *instance);

#endif
