/*
 * FSx for Lustre: what its files share, and its row. For k8s/storage/fsx*.c and storage.c only.
 */
#ifndef SLIPWAY_K8S_STORAGE_FSX_H
#define SLIPWAY_K8S_STORAGE_FSX_H

#include "k8s/storage/storage.h"

extern const struct storage_driver fsx_driver;
extern const struct field_table fsx_fields;

#define FSX_DRIVER            "fsx.csi.aws.com"
#define FSX_NAMESPACE         "kube-system"
#define FSX_CONTROLLER        "fsx-csi-controller"
#define FSX_CONTROLLER_ACCESS "fsx-csi-controller-sa"
#define FSX_NODE              "fsx-csi-node"
#define FSX_NODE_ACCESS       "fsx-csi-node-sa"

/* Its closed lists, and checks of single texts for its field table (k8s/fleet/grammar.h). */
extern const struct choices fsx_deployments, fsx_storage_types, fsx_drive_caches, fsx_compressions,
	fsx_import_policies, fsx_metadata_modes, fsx_reclaim_policies;
const char *check_lustre_version(const char *text, const char **ret_hint);
const char *check_mount_name(const char *text, const char **ret_hint);

/* The fleet's part of the spec. */
const struct fsx_section *fsx_of(const struct fleet *fleet);

/* What service and CSI driver accept together; fills what the fleet knows of the file system. */
void fsx_resolve(struct storage_resolver *r);

/* The driver's objects, for clusters without the managed add-on. */
void render_fsx_driver(const struct fleet *fleet, struct k8s_output *out);

/* Class and claim of a new file system, or volume and claim of one that is there; then the link to
 * S3 where the driver cannot make it. */
void render_fsx_volume(const struct fleet *fleet, struct k8s_output *out);

/* The link to S3 that the driver cannot make, as CloudFormation. */
void render_fsx_association(const struct fleet *fleet, struct k8s_output *out);

#endif
