/*
 * FSx for Lustre as a row of the storage drivers.
 */
#include "k8s/storage/fsx.h"

static const struct overhead node = {FSX_NODE, 30, 120, 0, NULL};

const struct fsx_section *fsx_of(const struct fleet *fleet)
{
	return &fleet->storage.section->fsx;
}

static bool is_set(const struct storage_section *section)
{
	return section->fsx.set;
}

const struct storage_driver fsx_driver = {
	STORAGE_DRIVER("fsx", "FSx for Lustre", "FSx", FSX_DRIVER, &node, is_set, fsx_resolve,
                       render_fsx_driver, render_fsx_volume),
	.addon = "aws-fsx-csi-driver",
	.namespace = FSX_NAMESPACE,
	.account = FSX_CONTROLLER_ACCESS,
	.policy = "AmazonFSxFullAccess",
	.startup_taint = FSX_DRIVER "/agent-not-ready",
	.one_zone = "Lustre has one.",
	.one_zone_hint =
		"a Lustre file system has one zone; traffic from another costs and is slow",
	.price = "fsx-gib-month",
	.delete_command = "aws fsx delete-file-system --file-system-id",
};
