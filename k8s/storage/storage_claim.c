/*
 * The claim that jobs mount, and the volume of a file system that is there: the same for every
 * driver.
 */
#include "k8s/storage/storage.h"

static void add_size(const struct fleet *fleet, cJSON *object)
{
	k8s_addf(object, "storage", "%lldGi", (long long)fleet->storage.size_gib);
}

/* "storage.DRIVER.size" */
static const char *path(const struct fleet *fleet, const char *key, struct arena *a)
{
	return arena_printf(a, "storage.%s.%s", fleet->storage.driver->name, key);
}

void render_storage_claim(const struct fleet *fleet, struct k8s_output *out, const char *class,
                          const char *volume)
{
	const struct fleet_storage *storage = &fleet->storage;
	cJSON *claim =
		k8s_add(out, "v1", "PersistentVolumeClaim", fleet->namespace, storage->claim);
	cJSON *spec = json_add_object(claim, "spec");

	json_push_string(json_add_array(spec, "accessModes"), "ReadWriteMany");
	json_add_string(spec, "volumeMode", "Filesystem");
	json_add_string(spec, "storageClassName", class);
	json_add_string(spec, "volumeName", volume);
	cJSON *requests = json_add_object(json_add_object(spec, "resources"), "requests");

	add_size(fleet, requests);
	k8s_note(out, requests, "storage", storage->size_at, path(fleet, "size", &out->arena));
}

cJSON *render_storage_volume(const struct fleet *fleet, struct k8s_output *out, const char *name,
                             const struct strlist *mount_options)
{
	const struct fleet_storage *storage = &fleet->storage;
	cJSON *volume = k8s_add(out, "v1", "PersistentVolume", NULL, name);
	cJSON *spec = json_add_object(volume, "spec");

	add_size(fleet, json_add_object(spec, "capacity"));
	json_add_string(spec, "volumeMode", "Filesystem");
	json_push_string(json_add_array(spec, "accessModes"), "ReadWriteMany");
	k8s_add_strings(spec, "mountOptions", mount_options->at, mount_options->n);
	/* slipway did not make it and must not have it deleted. */
	json_add_string(spec, "persistentVolumeReclaimPolicy", "Retain");
	json_add_string(spec, "storageClassName", "");
	cJSON *reference = json_add_object(spec, "claimRef");

	json_add_string(reference, "namespace", fleet->namespace);
	json_add_string(reference, "name", storage->claim);
	cJSON *csi = json_add_object(spec, "csi");

	json_add_string(csi, "driver", storage->driver->csi);
	json_add_string(csi, "volumeHandle", storage->id);
	k8s_note(out, csi, "volumeHandle", storage->id_at, path(fleet, "id", &out->arena));
	return json_add_object(csi, "volumeAttributes");
}
