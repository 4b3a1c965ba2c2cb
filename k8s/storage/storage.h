/*
 * 30-storage: the drivers that there are, and what their renderers share.
 *
 * A new driver: its section and a member of storage_section (k8s/fleet/sections.h), a field table,
 * a row and what it renders in files of its own (k8s/storage/NAME*.c), and one line in each of the
 * two lists of k8s/storage/storage.c.
 */
#ifndef SLIPWAY_K8S_STORAGE_STORAGE_H
#define SLIPWAY_K8S_STORAGE_STORAGE_H

#include "k8s/fleet/storage_driver.h"
#include "k8s/object/render.h"

extern const struct k8s_renderer storage_renderer;

/* The section `storage` of slipway.yaml. */
extern const struct field_table storage_fields;

extern const struct storage_driver *const storage_drivers[];
extern const size_t n_storage_drivers;

/* By the name of its CSI driver, as volumes and classes name it; NULL when there is none (csi may
 * be NULL). */
const struct storage_driver *storage_driver_find(const char *csi);

/* ---- for the renderers of drivers ---- */

/* The claim that jobs mount: of a class (volume NULL), or of a volume (class ""). */
void render_storage_claim(const struct fleet *fleet, struct k8s_output *out, const char *class,
                          const char *volume);

/* A volume for a file system that is there, bound to the claim; returns spec.csi.volumeAttributes
 * for the driver to fill. */
cJSON *render_storage_volume(const struct fleet *fleet, struct k8s_output *out, const char *name,
                             const struct strlist *mount_options);

/* The Job that gives a new file system to the job's user and fills it, and its service account. */
void render_prepare(const struct fleet *fleet, struct k8s_output *out);

#endif
