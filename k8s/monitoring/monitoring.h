/*
 * The parts of 40-monitoring.
 */
#ifndef SLIPWAY_K8S_MONITORING_MONITORING_H
#define SLIPWAY_K8S_MONITORING_MONITORING_H

#include "k8s/object/render.h"

extern const struct k8s_renderer monitoring_renderer;

/* The section `monitoring` of slipway.yaml. */
extern const struct field_table monitoring_fields;

#define INSIGHTS_NAMESPACE "amazon-cloudwatch"
#define INSIGHTS_ACCOUNT   "cloudwatch-agent"
#define INSIGHTS_POLICY    "CloudWatchAgentServerPolicy"
#define INSIGHTS_ROLE      "%s-cloudwatch-agent" /* of the cluster */

/* Container Insights comes as an EKS add-on (k8s/cluster/cluster.c), or as manifests of ours. */
bool insights_as(const struct fleet *fleet, enum insights_mode mode);

void render_cloudwatch_agent(const struct fleet *fleet, struct k8s_output *out);
void render_dcgm_exporter(const struct fleet *fleet, struct k8s_output *out);
void render_neuron_monitor(const struct fleet *fleet, struct k8s_output *out);
void render_trainer_metrics(const struct fleet *fleet, struct k8s_output *out);
void render_alarms(const struct fleet *fleet, struct k8s_output *out);

#endif
