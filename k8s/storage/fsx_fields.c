/*
 * The field tables of `storage.fsx`.
 */
#include "k8s/fleet/fields.h"
#include "k8s/fleet/grammar.h"
#include "k8s/storage/fsx.h"

static const char *const driver_names[] = {
	[DRIVER_MANIFESTS] = "manifests",
	[DRIVER_ADDON] = "addon",
	[DRIVER_NONE] = "none",
};
_Static_assert(ARRAY_LEN(driver_names) == DRIVER_SOURCES, "driver_names: a name for each");

static const struct choices drivers = CHOICES(driver_names);

static const struct field prepare_rows[] = {
	TEXT(struct prepare_section, from, "from", "Where the data comes from, in S3.",
             .check = check_s3, .fallback_doc = "storage.fsx.import"),
	TEXT(struct prepare_section, image, "image", "Image that fills the file system.",
             .check = check_image_ref,
             .fallback_doc =
                     "the job's, with `slipway-trainer prepare` into the mount's prepared/; "
                     "slipway-prepare must be in it"),
	FIELD_STRINGS(struct prepare_section, command, "command", "Program and leading arguments.",
                      .flags = FIELD_LITERAL, .check = check_text),
	FIELD_STRINGS(struct prepare_section, args, "args", "Arguments.", .flags = FIELD_LITERAL,
                      .check = check_text),
	TEXT_AT(struct prepare_section, service_account_role, "role",
                "IAM role that may read the data, by ARN.", .check = check_role_arn),
};

static const struct field_table prepare_fields =
	FIELD_TABLE(struct prepare_section, "prepare", prepare_rows,
                    "A job that fills the file system before the training.", .has_pos = true,
                    .pos_offset = offsetof(struct prepare_section, at));

static void check_fsx(struct fields_context *c, const struct yaml_node *node UNUSED, void *object)
{
	static const char *flock[] = {"flock"};
	struct fsx_section *fsx = object;

	check_placed(c, &fsx->security_groups, "storage.fsx.security_groups", check_security_group);
	if (fsx->size_gib_at.file == NULL)
		fsx->size_gib = 1200;
	if (fsx->mount_options.n == 0)
		fsx->mount_options = (struct strlist){flock, ARRAY_LEN(flock)};
}

static const struct field fsx_rows[] = {
	CUSTOM_AT(struct fsx_section, size_gib, decode_gib, GIB_SCHEMA, "Gi or Ti", "size",
                  "Capacity.", .fallback_doc = "1200Gi"),
	TEXT_AT(struct fsx_section, deployment, "deployment",
                "SCRATCH_1, SCRATCH_2, PERSISTENT_1 or PERSISTENT_2.", .choices = &fsx_deployments,
                .complaint = "is not a deployment type of FSx", .fallback_text = "SCRATCH_2"),
	NUMBER_AT(struct fsx_section, throughput, "throughput",
                  "MB/s per TiB, for persistent types: 50, 100 or 200; 12 or 40 on HDD; 125, 250, "
                  "500 or 1000 for PERSISTENT_2.",
                  .min = 1, .max = 10000),
	TEXT_AT(struct fsx_section, storage_type, "storage_type", "SSD or HDD.",
                .choices = &fsx_storage_types, .complaint = "is not a storage type of FSx",
                .fallback_text = "SSD"),
	TEXT_AT(struct fsx_section, drive_cache, "drive_cache", "NONE or READ, for HDD.",
                .choices = &fsx_drive_caches, .complaint = "is not a drive cache of FSx"),
	TEXT(struct fsx_section, compression, "compression", "NONE or LZ4.",
             .choices = &fsx_compressions, .complaint = "is not a compression of FSx",
             .fallback_text = "LZ4"),
	TEXT_AT(struct fsx_section, import, "import", "Data in S3 that the file system shows.",
                .check = check_s3),
	TEXT_AT(struct fsx_section, export, "export", "Where in S3 changes go.", .check = check_s3),
	TEXT_AT(struct fsx_section, auto_import, "auto_import",
                "NONE, NEW, NEW_CHANGED or NEW_CHANGED_DELETED.", .choices = &fsx_import_policies,
                .complaint = "is not an import policy of FSx"),
	TEXT_AT(struct fsx_section, subnet, "subnet",
                "Subnet of a file system that is to be created.", .check = check_subnet),
	CUSTOM_AT(struct fsx_section, security_groups, decode_placed, STRINGS_SCHEMA,
                  "list of strings", "security_groups",
                  "Its security groups: TCP 988 and 1018-1023 from nodes must pass."),
	TEXT_AT(struct fsx_section, zone, "zone", "Availability zone of the file system.",
                .check = check_zone, .fallback_doc = "cluster.zone"),
	TEXT_AT(struct fsx_section, kms_key, "kms_key", "KMS key, by ARN, for persistent types.",
                .check = check_kms_key),
	NUMBER_AT(struct fsx_section, backup_days, "backup_days",
                  "Days that automatic backups are kept, for persistent types.", .min = 1,
                  .max = 90),
	TEXT_AT(struct fsx_section, version, "version", "Lustre version: 2.10, 2.12 or 2.15.",
                .check = check_lustre_version, .fallback_text = "2.15"),
	TEXT_AT(struct fsx_section, metadata, "metadata",
                "AUTOMATIC or USER_PROVISIONED, for PERSISTENT_2.", .choices = &fsx_metadata_modes,
                .complaint = "is not a metadata mode of FSx"),
	NUMBER_AT(struct fsx_section, metadata_iops, "metadata_iops",
                  "Metadata IOPS with USER_PROVISIONED.", .min = 1500, .max = 192000),
	FIELD_BOOL(struct fsx_section, efa, "efa", "EFA to the file system, for PERSISTENT_2.",
                   .pos_offset = offsetof(struct fsx_section, efa_at)),
	TEXT_AT(struct fsx_section, id, "id", "An existing file system: nothing is created.",
                .check = check_file_system),
	TEXT(struct fsx_section, dns, "dns", "Its DNS name.", .check = check_dns_subdomain,
             .fallback_doc = "ID.fsx.REGION.amazonaws.com"),
	TEXT_AT(struct fsx_section, mount_name, "mount_name",
                "Its Lustre mount name, as DescribeFileSystems reports it.",
                .check = check_mount_name),
	TEXT_AT(struct fsx_section, mount, "mount", "Where pods see it.", .check = check_path,
                .fallback_text = "/data"),
	FIELD_STRINGS(struct fsx_section, mount_options, "mount_options", "Lustre mount options.",
                      .flags = FIELD_LITERAL, .fallback_doc = "[flock]"),
	TEXT(struct fsx_section, reclaim, "reclaim",
             "Retain, or Delete: the file system dies with its claim.",
             .choices = &fsx_reclaim_policies, .complaint = "is not a reclaim policy",
             .fallback_text = "Retain"),
	FIELD_CHOICE(struct fsx_section, driver, &drivers, "driver",
                     "Where the CSI driver comes from: rendered manifests, the managed add-on, or "
                     "none, when the cluster has it already.",
                     .fallback = DRIVER_MANIFESTS),
	TEXT_AT(struct fsx_section, driver_role, "driver_role",
                "IAM role of the driver's controller, by ARN.", .check = check_role_arn),
	MAP_AT(struct fsx_section, tags, "tags", "Tags of the file system.",
               .check_key = check_tag_key, .check = check_tag_value),
	FIELD_OBJECT(struct fsx_section, prepare, struct prepare_section, &prepare_fields,
                     "prepare", "A job that fills the file system before the training.",
                     .set_offset = offsetof(struct fsx_section, prepare.set)),
};

const struct field_table fsx_fields = FIELD_TABLE(
	struct fsx_section, "fsx", fsx_rows, "An Amazon FSx for Lustre file system.",
	.has_pos = true, .pos_offset = offsetof(struct fsx_section, at), .check = check_fsx);
