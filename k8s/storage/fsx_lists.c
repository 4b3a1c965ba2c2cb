/*
 * What FSx for Lustre takes: closed lists and checks of single texts.
 */
#include <string.h>

#include "k8s/storage/fsx.h"

const struct choices fsx_deployments =
	CHOICE_TEXTS("SCRATCH_1", "SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2");
const struct choices fsx_storage_types = CHOICE_TEXTS("SSD", "HDD");
const struct choices fsx_drive_caches = CHOICE_TEXTS("NONE", "READ");
const struct choices fsx_compressions = CHOICE_TEXTS("NONE", "LZ4");
const struct choices fsx_import_policies =
	CHOICE_TEXTS("NONE", "NEW", "NEW_CHANGED", "NEW_CHANGED_DELETED");
const struct choices fsx_metadata_modes = CHOICE_TEXTS("AUTOMATIC", "USER_PROVISIONED");
const struct choices fsx_reclaim_policies = CHOICE_TEXTS("Retain", "Delete");

static const struct choices lustre_versions = CHOICE_TEXTS("2.10", "2.12", "2.15");

/* A check, for its hint has the quotes without which YAML may take a version for a number. */
const char *check_lustre_version(const char *text, const char **ret_hint)
{
	*ret_hint = "write \"2.10\", \"2.12\" or \"2.15\"";
	return choices_find(&lustre_versions, text) >= 0 ? NULL : "is not a Lustre version of FSx";
}

#define ALNUM "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

const char *check_mount_name(const char *text, const char **ret_hint)
{
	size_t len = strlen(text);

	*ret_hint = "write LustreConfiguration.MountName of `aws fsx describe-file-systems`";
	return len > 0 && len <= 8 && strspn(text, ALNUM) == len ? NULL
	                                                         : "is not a Lustre mount name";
}
