/*
 * The file system as Kubernetes sees it: class and claim, or volume and claim. The driver ignores
 * keys that it does not know, so each name here stands in its source (v1.9.0).
 */
#include <string.h>

#include "base/attr.h"
#include "k8s/storage/fsx.h"

static const char *class_name(const struct fleet *fleet, struct arena *a)
{
	return arena_printf(a, "%s-fsx", fleet->name);
}

static bool is_persistent_2(const struct fsx_section *fsx)
{
	return strcmp(fsx->deployment, "PERSISTENT_2") == 0;
}

/* The driver links only what it makes, and PERSISTENT_2 not at all. */
static bool wants_association(const struct fsx_section *fsx)
{
	return fsx->import != NULL && (fsx->id != NULL || is_persistent_2(fsx));
}

/* ---- a new file system ---- */

static void add_number(cJSON *parameters, const char *key, int64_t value)
{
	if (value > 0)
		k8s_addf(parameters, key, "%lld", (long long)value);
}

static void add_groups(cJSON *parameters, const struct placed_list *groups)
{
	AUTO(strbuf) struct strbuf list = STRBUF_INIT(1 << 16);

	for (size_t i = 0; i < groups->n; i++)
		strbuf_addf(&list, "%s%s", i > 0 ? "," : "", groups->at[i]);
	json_add_string(parameters, "securityGroupIds", strbuf_str(&list));
}

/* The driver takes "KEY=VALUE,KEY=VALUE". */
static void add_tags(const struct fleet *fleet, cJSON *parameters)
{
	const struct strmap *maps[] = {&fleet->cluster->tags, &fsx_of(fleet)->tags};
	AUTO(strbuf) struct strbuf list = STRBUF_INIT(1 << 16);

	for (size_t m = 0; m < ARRAY_LEN(maps); m++)
		for (size_t i = 0; i < maps[m]->n; i++)
			strbuf_addf(&list, "%s%s=%s", list.len > 0 ? "," : "", maps[m]->at[i].key,
			            maps[m]->at[i].value);
	if (list.len > 0)
		json_add_string(parameters, "extraTags", strbuf_str(&list));
}

static void add_s3(const struct fsx_section *fsx, cJSON *parameters)
{
	if (is_persistent_2(fsx))
		return;
	json_add_string(parameters, "s3ImportPath", fsx->import);
	json_add_string(parameters, "s3ExportPath", fsx->export);
	json_add_string(parameters, "autoImportPolicy", fsx->auto_import);
}

/* Which line of the spec made which parameter. */
static void note_parameters(const struct fsx_section *fsx, struct k8s_output *out,
                            const cJSON *parameters)
{
	const struct {
		const char *key;
		struct srcpos at;
		const char *path;
	} rows[] = {
		{"subnetId", fsx->subnet_at, "storage.fsx.subnet"},
		{"securityGroupIds", fsx->security_groups_at, "storage.fsx.security_groups"},
		{"deploymentType", fsx->deployment_at, "storage.fsx.deployment"},
		{"storageType", fsx->storage_type_at, "storage.fsx.storage_type"},
		{"driveCacheType", fsx->drive_cache_at, "storage.fsx.drive_cache"},
		{"perUnitStorageThroughput", fsx->throughput_at, "storage.fsx.throughput"},
		{"fileSystemTypeVersion", fsx->version_at, "storage.fsx.version"},
		{"metadataConfigurationMode", fsx->metadata_at, "storage.fsx.metadata"},
		{"metadataIops", fsx->metadata_iops_at, "storage.fsx.metadata_iops"},
		{"efaEnabled", fsx->efa_at, "storage.fsx.efa"},
		{"automaticBackupRetentionDays", fsx->backup_days_at, "storage.fsx.backup_days"},
		{"s3ImportPath", fsx->import_at, "storage.fsx.import"},
		{"s3ExportPath", fsx->export_at, "storage.fsx.export"},
		{"autoImportPolicy", fsx->auto_import_at, "storage.fsx.auto_import"},
		{"extraTags", fsx->tags_at, "storage.fsx.tags"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		k8s_note(out, parameters, rows[i].key, rows[i].at, rows[i].path);
}

static void add_parameters(const struct fleet *fleet, struct k8s_output *out, cJSON *parameters)
{
	const struct fsx_section *fsx = fsx_of(fleet);

	json_add_string(parameters, "subnetId", fsx->subnet);
	add_groups(parameters, &fsx->security_groups);
	json_add_string(parameters, "deploymentType", fsx->deployment);
	json_add_string(parameters, "storageType", fsx->storage_type);
	json_add_string(parameters, "driveCacheType", fsx->drive_cache);
	add_number(parameters, "perUnitStorageThroughput", fsx->throughput);
	json_add_string(parameters, "dataCompressionType", fsx->compression);
	json_add_string(parameters, "fileSystemTypeVersion", fsx->version);
	json_add_string(parameters, "metadataConfigurationMode", fsx->metadata);
	add_number(parameters, "metadataIops", fsx->metadata_iops);
	if (fsx->efa)
		json_add_string(parameters, "efaEnabled", "true");
	json_add_string(parameters, "kmsKeyId", fsx->kms_key);
	if (fsx->backup_days > 0) {
		add_number(parameters, "automaticBackupRetentionDays", fsx->backup_days);
		json_add_string(parameters, "copyTagsToBackups", "true");
	}
	add_s3(fsx, parameters);
	add_tags(fleet, parameters);
	note_parameters(fsx, out, parameters);
}

static void render_class(const struct fleet *fleet, struct k8s_output *out)
{
	const struct fsx_section *fsx = fsx_of(fleet);
	cJSON *class = k8s_add(out, "storage.k8s.io/v1", "StorageClass", NULL,
	                       class_name(fleet, &out->arena));

	json_add_string(class, "provisioner", FSX_DRIVER);
	add_parameters(fleet, out, json_add_object(class, "parameters"));
	k8s_add_strings(class, "mountOptions", fsx->mount_options.at, fsx->mount_options.n);
	json_add_string(class, "reclaimPolicy", fsx->reclaim);
	/* The subnet settles the zone: there is no node to wait for. */
	json_add_string(class, "volumeBindingMode", "Immediate");
	json_add_bool(class, "allowVolumeExpansion", true);
}

/* ---- one that is there ---- */

static void render_static(const struct fleet *fleet, struct k8s_output *out, const char *name)
{
	const struct fsx_section *fsx = fsx_of(fleet);
	cJSON *attributes = render_storage_volume(fleet, out, name, &fsx->mount_options);

	if (fsx->dns != NULL)
		json_add_string(attributes, "dnsname", fsx->dns);
	else
		k8s_addf(attributes, "dnsname", "%s.fsx.%s.amazonaws.com%s", fsx->id,
		         fleet->cluster->region,
		         strncmp(fleet->cluster->region, "cn-", 3) == 0 ? ".cn" : "");
	json_add_string(attributes, "mountname", fsx->mount_name != NULL ? fsx->mount_name : "fsx");
}

void render_fsx_volume(const struct fleet *fleet, struct k8s_output *out)
{
	const struct fsx_section *fsx = fsx_of(fleet);
	const char *name = class_name(fleet, &out->arena);

	if (fsx->id != NULL) {
		k8s_file(out, "volume.yaml",
		         "The existing file system, and the claim that jobs mount.\n"
		         "TCP 988 and 1018-1023 must pass both ways between it and the nodes.");
		render_static(fleet, out, name);
		render_storage_claim(fleet, out, "", name);
	} else {
		k8s_file(out, "volume.yaml",
		         "A new file system, made by the driver, and the claim that jobs mount.\n"
		         "TCP 988 and 1018-1023 must pass both ways between it and the nodes.");
		render_class(fleet, out);
		render_storage_claim(fleet, out, name, NULL);
	}
	if (wants_association(fsx))
		render_fsx_association(fleet, out);
}
