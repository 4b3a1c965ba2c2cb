/*
 * 30-storage: one file system, from the driver to the claim that jobs mount.
 */
#include "k8s/storage/storage.h"

#include <string.h>

#include "base/attr.h"
#include "k8s/storage/fsx.h"

/* ---- the drivers ---- */

const struct storage_driver *const storage_drivers[] = {
	&fsx_driver,
};
const size_t n_storage_drivers = ARRAY_LEN(storage_drivers);

/* A driver's part of the section; the key is the member's name. */
#define DRIVER_SECTION(name, doc_)                                                                 \
	FIELD_OBJECT(struct storage_section, name, struct name##_section, &name##_fields, #name,   \
	             doc_,                                                                         \
	             .set_offset = offsetof(struct storage_section, name) +                        \
	                           offsetof(struct name##_section, set))

static const struct field rows[] = {
	DRIVER_SECTION(fsx, "An Amazon FSx for Lustre file system."),
};
_Static_assert(ARRAY_LEN(rows) == ARRAY_LEN(storage_drivers),
               "storage_drivers has one row per key of storage");

const struct field_table storage_fields =
	FIELD_TABLE(struct storage_section, "storage", rows, "Where data and checkpoints are.",
                    .has_pos = true, .pos_offset = offsetof(struct storage_section, at));

const struct storage_driver *storage_driver_find(const char *csi)
{
	for (size_t i = 0; csi != NULL && i < n_storage_drivers; i++)
		if (strcmp(storage_drivers[i]->csi, csi) == 0)
			return storage_drivers[i];
	return NULL;
}

/* ---- what they render ---- */

static void render_storage(const struct fleet *fleet, struct k8s_output *out)
{
	const struct fleet_storage *storage = &fleet->storage;

	if (storage->driver_source == DRIVER_MANIFESTS)
		storage->driver->render_driver(fleet, out);
	storage->driver->render_volume(fleet, out);
	if (fleet->job->set && (storage->prepare->set || storage->id == NULL))
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
