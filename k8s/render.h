/*
 * The renderers of this room and of karpenter/, one per concern; k8s/render.c lists them.
 * Each reads the fleet only and adds objects; none can fail.
 */
#ifndef SLIPWAY_K8S_RENDER_H
#define SLIPWAY_K8S_RENDER_H

#include "k8s/object.h"

void render_cluster(const struct fleet *fleet, struct k8s_output *out);   /* eksctl ClusterConfig */
void render_account(const struct fleet *fleet, struct k8s_output *out);   /* roles, queue */
void render_namespace(const struct fleet *fleet, struct k8s_output *out); /* namespace, account */
void render_karpenter(const struct fleet *fleet, struct k8s_output *out); /* karpenter/pools.c */
void render_devices(const struct fleet *fleet, struct k8s_output *out);   /* device plugins, DRA */
void render_storage(const struct fleet *fleet, struct k8s_output *out);   /* FSx for Lustre */
void render_monitoring(const struct fleet *fleet, struct k8s_output *out); /* metrics, alarms */
void render_scheduler(const struct fleet *fleet, struct k8s_output *out); /* queue, configuration */
void render_jobs(const struct fleet *fleet, struct k8s_output *out);      /* one per target */
void render_nettest(const struct fleet *fleet, struct k8s_output *out);   /* NCCL over EFA */
void render_pipeline(const struct fleet *fleet, struct k8s_output *out);  /* pipeline/render.c */

#endif
