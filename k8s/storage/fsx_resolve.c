/*
 * FSx for Lustre: what the service and its CSI driver accept together.
 */
#include <string.h>

#include "base/text.h"
#include "k8s/fleet/arn.h"
#include "k8s/fleet/grammar.h"
#include "k8s/storage/fsx.h"

static bool is(const char *text, const char *value)
{
	return text != NULL && strcmp(text, value) == 0;
}

static bool persistent(const struct fsx_section *fsx)
{
	return text_has_prefix(fsx->deployment, "PERSISTENT_");
}

/* ---- throughput and size ---- */

struct throughputs {
	const char *deployment, *storage;
	int64_t allowed[5]; /* ends with 0 */
	const char *text;
};

static const struct throughputs throughputs[] = {
	{"PERSISTENT_1", "SSD", {50, 100, 200, 0}, "50, 100 or 200"},
	{"PERSISTENT_1", "HDD", {12, 40, 0}, "12 or 40"},
	{"PERSISTENT_2", "SSD", {125, 250, 500, 1000, 0}, "125, 250, 500 or 1000"},
};

static bool allows(const struct throughputs *row, int64_t throughput)
{
	for (size_t i = 0; row->allowed[i] != 0; i++)
		if (row->allowed[i] == throughput)
			return true;
	return false;
}

static void check_throughput(struct storage_resolver *r, const struct fsx_section *fsx)
{
	struct srcpos at = srcpos_or(fsx->throughput_at, srcpos_or(fsx->deployment_at, fsx->at));

	if (!persistent(fsx)) {
		if (fsx->throughput > 0)
			storage_problem(r, at, "leave it out, or choose a persistent type",
			                "storage.fsx.throughput: %s has a fixed throughput",
			                fsx->deployment);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(throughputs); i++) {
		const struct throughputs *row = &throughputs[i];

		if (!is(fsx->deployment, row->deployment) || !is(fsx->storage_type, row->storage))
			continue;
		if (!allows(row, fsx->throughput))
			storage_problem(
				r, at, arena_printf(r->arena, "it has %s MB/s per TiB", row->text),
				fsx->throughput == 0 ? "storage.fsx: %s on %s needs a throughput"
						     : "storage.fsx.throughput: %s on %s does not "
						       "offer this value",
				fsx->deployment, fsx->storage_type);
	}
}

/* A size is the first steps, then multiples of `step`. */
static bool size_fits(const struct fsx_section *fsx, int64_t *ret_step)
{
	int64_t size = fsx->size_gib;

	if (is(fsx->storage_type, "HDD")) {
		*ret_step = fsx->throughput == 40 ? 1800 : 6000;
		return size > 0 && size % *ret_step == 0;
	}
	*ret_step = is(fsx->deployment, "SCRATCH_1") ? 3600 : 2400;
	return size == 1200 || size == 2400 || (size > 0 && size % *ret_step == 0);
}

static void check_size(struct storage_resolver *r, const struct fsx_section *fsx)
{
	int64_t step;

	if (size_fits(fsx, &step))
		return;
	bool hdd = is(fsx->storage_type, "HDD");

	storage_problem(r, srcpos_or(fsx->size_gib_at, fsx->at),
	                hdd ? arena_printf(r->arena, "a multiple of %lldGi", (long long)step)
	                    : arena_printf(r->arena, "1200Gi, 2400Gi, or a multiple of %lldGi",
	                                   (long long)step),
	                "storage.fsx.size: %s on %s does not come in %lldGi", fsx->deployment,
	                fsx->storage_type, (long long)fsx->size_gib);
}

/* ---- the rest of a new file system ---- */

static void check_disks(struct storage_resolver *r, const struct fsx_section *fsx)
{
	bool hdd = is(fsx->storage_type, "HDD");

	if (hdd && !is(fsx->deployment, "PERSISTENT_1"))
		storage_problem(r, fsx->storage_type_at, "write deployment: PERSISTENT_1, or SSD",
		                "storage.fsx.storage_type: %s has no HDD", fsx->deployment);
	if (hdd && fsx->drive_cache == NULL)
		storage_problem(r, fsx->storage_type_at, "write drive_cache: READ or NONE",
		                "storage.fsx.drive_cache: HDD needs a drive cache");
	if (!hdd && fsx->drive_cache != NULL)
		storage_problem(r, fsx->drive_cache_at, NULL,
		                "storage.fsx.drive_cache: only HDD has a drive cache");
	if (!persistent(fsx) && fsx->backup_days > 0)
		storage_problem(r, fsx->backup_days_at, "leave it out, or choose a persistent type",
		                "storage.fsx.backup_days: %s has no backups", fsx->deployment);
}

static size_t bucket_len(const char *place)
{
	const char *bucket = place + strlen("s3://");

	return strlen("s3://") + strcspn(bucket, "/");
}

static void check_s3_link(struct storage_resolver *r, const struct fsx_section *fsx)
{
	const char *hint;

	if (fsx->export != NULL && fsx->import == NULL)
		storage_problem(r, fsx->export_at, "set import to the same bucket",
		                "storage.fsx.export needs import");
	if (fsx->auto_import != NULL && fsx->import == NULL)
		storage_problem(r, fsx->auto_import_at, "add import: s3://BUCKET, or remove it",
		                "storage.fsx.auto_import needs import");
	if (fsx->export != NULL && fsx->import != NULL && check_s3(fsx->export, &hint) == NULL &&
	    check_s3(fsx->import, &hint) == NULL &&
	    (bucket_len(fsx->export) != bucket_len(fsx->import) ||
	     strncmp(fsx->export, fsx->import, bucket_len(fsx->import)) != 0))
		storage_problem(r, fsx->export_at, "export to a folder of the bucket of `import:`",
		                "storage.fsx.export: not the bucket that import names");
}

static void check_lustre(struct storage_resolver *r, const struct fsx_section *fsx)
{
	bool second = is(fsx->deployment, "PERSISTENT_2");

	if (is(fsx->version, "2.10") && second)
		storage_problem(r, fsx->version_at, "write version: \"2.15\"",
		                "storage.fsx.version: PERSISTENT_2 has no Lustre 2.10");
	if (fsx->metadata != NULL && (!second || !is(fsx->version, "2.15")))
		storage_problem(
			r, fsx->metadata_at,
			"write deployment: PERSISTENT_2 and version: 2.15, or remove metadata",
			"storage.fsx.metadata: only PERSISTENT_2 with Lustre 2.15 has a "
			"metadata mode");
	if (is(fsx->metadata, "USER_PROVISIONED") && fsx->metadata_iops == 0)
		storage_problem(r, fsx->metadata_at, "set metadata_iops, 1500 to 192000",
		                "storage.fsx.metadata: USER_PROVISIONED needs metadata_iops");
	if (fsx->metadata_iops > 0 && !is(fsx->metadata, "USER_PROVISIONED"))
		storage_problem(r, fsx->metadata_iops_at, "write metadata: USER_PROVISIONED",
		                "storage.fsx.metadata_iops: only with USER_PROVISIONED");
	if (fsx->efa && (!second || fsx->metadata == NULL))
		storage_problem(r, fsx->efa_at,
		                "write deployment: PERSISTENT_2 and metadata: AUTOMATIC",
		                "storage.fsx.efa: only PERSISTENT_2 with metadata has EFA");
}

static void check_network(struct storage_resolver *r, const struct fsx_section *fsx)
{
	if (fsx->subnet == NULL)
		storage_problem(r, fsx->at, "set subnet, or the id of an existing file system",
		                "storage.fsx: a new file system needs a subnet");
	if (fsx->security_groups.n == 0 && fsx->security_groups_at.file == NULL)
		storage_problem(r, fsx->at,
		                "set security_groups; TCP 988 and 1018-1023 must pass both ways "
		                "between it and the nodes",
		                "storage.fsx: a new file system needs a security group");
	if (r->sections->cluster.access == ACCESS_IRSA && fsx->driver != DRIVER_NONE &&
	    fsx->driver_role == NULL)
		storage_problem(r, fsx->at, "set driver_role, or cluster.access: pod-identity",
		                "storage.fsx: with irsa the driver needs a role");
}

/* The driver takes tags as one text and parts it: a ',' in a value ends its controller. */
static void check_tags(struct storage_resolver *r, const struct strmap *tags, struct srcpos at,
                       const char *path)
{
	for (size_t i = 0; i < tags->n; i++)
		if (strpbrk(tags->at[i].key, ",=") != NULL ||
		    strpbrk(tags->at[i].value, ",=") != NULL)
			storage_problem(
				r, at, "write it without them",
				"%s.%s: the driver of the file system splits tags at ',' and '='",
				path, tags->at[i].key);
}

/* ---- a file system that is there ---- */

static void check_static(struct storage_resolver *r, const struct fsx_section *fsx)
{
	const struct {
		bool set;
		struct srcpos at;
		const char *key;
	} created[] = {
		{fsx->subnet_at.file != NULL, fsx->subnet_at, "subnet"},
		{fsx->security_groups_at.file != NULL, fsx->security_groups_at, "security_groups"},
		{fsx->throughput_at.file != NULL, fsx->throughput_at, "throughput"},
		{fsx->backup_days_at.file != NULL, fsx->backup_days_at, "backup_days"},
		{fsx->metadata_at.file != NULL, fsx->metadata_at, "metadata"},
	};

	for (size_t i = 0; i < ARRAY_LEN(created); i++)
		if (created[i].set)
			storage_problem(r, created[i].at, "leave it out",
			                "storage.fsx.%s: the file system %s exists already",
			                created[i].key, fsx->id);
	if (fsx->import != NULL && (is(fsx->deployment, "SCRATCH_1") || is(fsx->version, "2.10")))
		storage_problem(r, fsx->import_at,
		                "say what it is in deployment and version, or leave import out",
		                "storage.fsx.import: %s with Lustre %s cannot be associated with "
		                "S3 afterwards",
		                fsx->deployment, fsx->version);
	if (fsx->mount_name == NULL && !is(fsx->deployment, "SCRATCH_1"))
		storage_problem(
			r, fsx->id_at,
			"`aws fsx describe-file-systems` shows it as LustreConfiguration.MountName",
			"storage.fsx: an existing file system needs its mount_name");
}

static void check_zone_known(struct storage_resolver *r, const struct fsx_section *fsx)
{
	const struct cluster_section *cluster = &r->sections->cluster;
	const char *hint;

	if (fsx->zone == NULL && cluster->zone == NULL && cluster->set)
		storage_problem(r, fsx->at, "set storage.fsx.zone or cluster.zone",
		                "storage.fsx: the file system's zone is not known, and the pools "
		                "must be in the same one");
	if (fsx->zone != NULL && cluster->region != NULL && check_zone(fsx->zone, &hint) == NULL &&
	    check_region(cluster->region, &hint) == NULL &&
	    !text_has_prefix(fsx->zone, cluster->region))
		storage_problem(r, fsx->zone_at, "write a zone of cluster.region, or leave it out",
		                "storage.fsx.zone: %s is not a zone of %s", fsx->zone,
		                cluster->region);
}

/* The closed lists were reported already when one of them is wrong. */
static bool lists_sound(const struct fsx_section *fsx)
{
	const char *hint;

	return choices_find(&fsx_deployments, fsx->deployment) >= 0 &&
	       choices_find(&fsx_storage_types, fsx->storage_type) >= 0 &&
	       check_lustre_version(fsx->version, &hint) == NULL &&
	       (fsx->metadata == NULL || choices_find(&fsx_metadata_modes, fsx->metadata) >= 0);
}

/* What is not a mapping was reported, and has no size: neither a written one nor the default. */
static bool was_read(const struct fsx_section *fsx)
{
	return fsx->size_gib_at.file != NULL || fsx->size_gib != 0;
}

/* What others need to know of it. */
static void describe(struct storage_resolver *r, const struct fsx_section *fsx)
{
	const struct cluster_section *cluster = &r->sections->cluster;
	struct fleet_storage *s = r->storage;

	s->mount = fsx->mount;
	s->mount_at = fsx->mount_at;
	s->id = fsx->id;
	s->id_at = fsx->id_at;
	s->size_gib = fsx->size_gib;
	s->size_at = fsx->size_gib_at;
	s->source = fsx->import;
	s->zone = fsx->zone != NULL ? fsx->zone : cluster->zone;
	s->zone_at = fsx->zone_at;
	s->driver_source = fsx->driver;
	s->driver_role = fsx->driver_role;
	s->prepare = &fsx->prepare;
}

static void check_arns(struct storage_resolver *r, const struct fsx_section *fsx)
{
	const struct prepare_section *p = &fsx->prepare;
	const struct placed_arn rows[] = {
		{fsx->driver_role, fsx->driver_role_at, "storage.fsx.driver_role", false},
		{fsx->kms_key, fsx->kms_key_at, "storage.fsx.kms_key", true},
		{p->service_account_role, p->service_account_role_at, "storage.fsx.prepare.role",
	         false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		arn_check(&rows[i], r->sections->cluster.region, r->arena, r->diags);
}

void fsx_resolve(struct storage_resolver *r)
{
	const struct fsx_section *fsx = &r->sections->storage.fsx;

	describe(r, fsx);
	if (!was_read(fsx))
		return;
	r->storage->about =
		arena_printf(r->arena, "%lld GiB, %s", (long long)fsx->size_gib, fsx->deployment);
	check_zone_known(r, fsx);
	check_arns(r, fsx);
	check_s3_link(r, fsx);
	if (fsx->id != NULL)
		check_static(r, fsx);
	if (fsx->id != NULL || !lists_sound(fsx))
		return;
	check_throughput(r, fsx);
	if (fsx->size_gib > 0)
		check_size(r, fsx);
	check_disks(r, fsx);
	check_lustre(r, fsx);
	check_network(r, fsx);
	check_tags(r, &fsx->tags, fsx->tags_at, "storage.fsx.tags");
	check_tags(r, &r->sections->cluster.tags, r->sections->cluster.tags_at, "cluster.tags");
}
