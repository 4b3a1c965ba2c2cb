/*
 * The parts of 30-storage. For k8s/storage*.c and k8s/cluster/cluster.c only.
 */
#ifndef SLIPWAY_K8S_STORAGE_STORAGE_H
#define SLIPWAY_K8S_STORAGE_STORAGE_H

#include "k8s/object/render.h"

extern const struct k8s_renderer storage_renderer;

#define FSX_DRIVER            "fsx.csi.aws.com"
#define FSX_NAMESPACE         "kube-system"
#define FSX_CONTROLLER        "fsx-csi-controller"
#define FSX_CONTROLLER_ACCESS "fsx-csi-controller-sa"
#define FSX_NODE              "fsx-csi-node"
#define FSX_NODE_ACCESS       "fsx-csi-node-sa"

/* The driver's objects, for clusters without the managed add-on. */
void render_fsx_driver(const struct fleet *fleet, struct k8s_output *out);

/* Class and claim of a new file system, or volume and claim of one that is there. */
void render_fsx_volume(const struct fleet *fleet, struct k8s_output *out);

/* The link to S3 that the driver cannot make, as CloudFormation. */
bool fsx_wants_association(const struct fleet *fleet);
void render_fsx_association(const struct fleet *fleet, struct k8s_output *out);

/* The Job that gives a new file system to the job's user and fills it, and its service account. */
const char *prepare_name(const struct fleet *fleet, struct arena *a);
void render_prepare(const struct fleet *fleet, struct k8s_output *out);

#endif
