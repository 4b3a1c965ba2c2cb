/*
 * The link between a file system and S3 for what the driver cannot link at creation: PERSISTENT_2,
 * and file systems that are there already. A data repository association, as CloudFormation.
 */
#include "k8s/storage/fsx.h"

#include <string.h>

static void add_policy(cJSON *s3, const char *key, const char *const *events, size_t n)
{
	k8s_add_strings(json_add_object(s3, key), "Events", events, n);
}

/* The driver's words for what S3's events bring over. */
static size_t import_events(const char *policy)
{
	if (policy == NULL || strcmp(policy, "NONE") == 0)
		return 0;
	if (strcmp(policy, "NEW") == 0)
		return 1;
	return strcmp(policy, "NEW_CHANGED") == 0 ? 2 : 3;
}

static void add_association(const struct fsx_section *fsx, cJSON *resources)
{
	static const char *const events[] = {"NEW", "CHANGED", "DELETED"};
	cJSON *resource = json_add_object(resources, "Association");
	size_t imported = import_events(fsx->auto_import);

	json_add_string(resource, "Type", "AWS::FSx::DataRepositoryAssociation");
	cJSON *properties = json_add_object(resource, "Properties");

	json_add_string(json_add_object(properties, "FileSystemId"), "Ref", "FileSystem");
	json_add_string(properties, "FileSystemPath", "/");
	json_add_string(properties, "DataRepositoryPath", fsx->import);
	json_add_bool(properties, "BatchImportMetaDataOnCreate", true);
	if (imported == 0 && fsx->export == NULL)
		return;
	cJSON *s3 = json_add_object(properties, "S3");

	if (imported > 0)
		add_policy(s3, "AutoImportPolicy", events, imported);
	if (fsx->export != NULL)
		add_policy(s3, "AutoExportPolicy", events, 3);
}

void render_fsx_association(const struct fleet *fleet, struct k8s_output *out)
{
	const struct fsx_section *fsx = fsx_of(fleet);

	k8s_file(
		out, "s3-association.yaml",
		"The link between file system and bucket, for CloudFormation. A new file system's\n"
		"id is the volumeHandle of the volume that the claim is bound to.");
	cJSON *template = k8s_add_foreign(out);

	json_add_string(template, "AWSTemplateFormatVersion", "2010-09-09");
	k8s_addf(template, "Description", "%s: %s in the file system of the training fleet",
	         fleet->name, fsx->import);
	cJSON *parameter = json_add_object(json_add_object(template, "Parameters"), "FileSystem");

	json_add_string(parameter, "Type", "String");
	json_add_string(parameter, "AllowedPattern", "fs-[0-9a-f]{8,17}");
	json_add_string(parameter, "Default", fsx->id);
	add_association(fsx, json_add_object(template, "Resources"));
}
