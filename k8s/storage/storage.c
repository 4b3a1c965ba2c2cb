/*
 * 30-storage: FSx for Lustre, from the driver to the claim that jobs mount.
 */
#include "k8s/storage/storage.h"

static void render_storage(const struct fleet *fleet, struct k8s_output *out)
{
	const struct fsx_section *fsx = &fleet->storage->fsx;

	if (fsx->driver == FSX_DRIVER_MANIFESTS)
		render_fsx_driver(fleet, out);
	render_fsx_volume(fleet, out);
	if (fsx_wants_association(fleet))
		render_fsx_association(fleet, out);
	if (fleet->job->set && (fsx->prepare.set || fsx->id == NULL))
		render_prepare(fleet, out);
}

const struct k8s_renderer storage_renderer = {
	.number = "30",
	.name = "storage",
	.summary = "FSx for Lustre: driver, file system, claim, preparation",
	.deployed = true,
	.wanted = fleet_has_storage,
	.render = render_storage,
};
