/*
 * What AWS Neuron's nodes run beside the device plugin; plugin_neuron.c joins it.
 */
#ifndef SLIPWAY_K8S_DEVICES_NEURON_H
#define SLIPWAY_K8S_DEVICES_NEURON_H

#include "k8s/devices/devices.h"

void render_neuron_scheduler(const struct fleet *fleet, struct k8s_output *out);
void render_neuron_exporter(const struct fleet *fleet, struct k8s_output *out);
/* Has the instance such devices? */
bool is_neuron_node(const struct instance *instance);

#endif
