/*
 * The repositories that the stack makes, and the key that signs what is in one of them.
 */
#include <string.h>

#include "base/attr.h"
#include "pipeline/render.h"

/* A commit's tag never moves; those that the spec lets move do. */
static void add_mutability(const struct pipeline *p, cJSON *repository)
{
	const struct strlist *moving = &p->section->tags;

	if (p->repository.mutability != NULL || moving->n == 0) {
		json_add_string(repository, "ImageTagMutability",
		                p->repository.mutability != NULL ? p->repository.mutability
		                                                 : "IMMUTABLE");
		return;
	}
	json_add_string(repository, "ImageTagMutability", "IMMUTABLE_WITH_EXCLUSION");
	cJSON *filters = json_add_array(repository, "ImageTagMutabilityExclusionFilters");

	for (size_t i = 0; i < moving->n; i++) {
		cJSON *filter = k8s_push_object(filters);

		json_add_string(filter, "ImageTagMutabilityExclusionFilterType", "WILDCARD");
		json_add_string(filter, "ImageTagMutabilityExclusionFilterValue", moving->at[i]);
	}
}

static void set_policy(cJSON *resources, const char *name, const char *policy)
{
	cJSON *resource = cJSON_GetObjectItemCaseSensitive(resources, name);

	json_add_string(resource, "DeletionPolicy", policy);
	json_add_string(resource, "UpdateReplacePolicy", policy);
}

/* What both have in common. */
static cJSON *add_repository(const struct pipeline_repository *r, cJSON *resources,
                             const char *name)
{
	cJSON *repository = template_resource(resources, name, "AWS::ECR::Repository");

	json_add_string(repository, "RepositoryName", r->name);
	json_add_bool(json_add_object(repository, "ImageScanningConfiguration"), "ScanOnPush",
	              r->scan_on_push);
	if (r->encryption != NULL) {
		cJSON *encryption = json_add_object(repository, "EncryptionConfiguration");

		json_add_string(encryption, "EncryptionType", r->encryption);
		json_add_string(encryption, "KmsKey", r->kms_key);
	}
	json_add_string(json_add_object(repository, "LifecyclePolicy"), "LifecyclePolicyText",
	                r->lifecycle);
	return repository;
}

void template_repositories(const struct pipeline *p, cJSON *resources)
{
	if (p->repository.host == NULL || !p->section->repository)
		return;
	add_mutability(p, add_repository(&p->repository, resources, "Repository"));
	/* Images outlive the stack. */
	set_policy(resources, "Repository", "Retain");
	cJSON *staging = add_repository(&p->staging, resources, "StagingRepository");

	/* Nothing in it has a tag. */
	json_add_string(staging, "ImageTagMutability", "IMMUTABLE");
	json_add_bool(staging, "EmptyOnDelete", true);
}

/* ---- the key ---- */

/* What the account's administrators may do with the key, as their own policies say; signing is not
 * among it. */
static const char *const admin_actions[] = {
	"kms:CancelKeyDeletion",    "kms:CreateAlias",   "kms:DeleteAlias",
	"kms:DescribeKey",          "kms:DisableKey",    "kms:EnableKey",
	"kms:GetKeyPolicy",         "kms:GetPublicKey",  "kms:ListKeyPolicies",
	"kms:ListResourceTags",     "kms:PutKeyPolicy",  "kms:ScheduleKeyDeletion",
	"kms:TagResource",          "kms:UntagResource", "kms:UpdateAlias",
	"kms:UpdateKeyDescription",
};
static const char *const sign_actions[] = {"kms:GetPublicKey", "kms:Sign"};

/* A statement of the key's own policy, where "*" is this key (KMS developer guide, "Key
 * policies"). */
static cJSON *add_key_statement(cJSON *statements, const char *sid, const char *const actions[],
                                size_t n)
{
	cJSON *statement = k8s_push_object(statements);

	json_add_string(statement, "Sid", sid);
	json_add_string(statement, "Effect", "Allow");
	k8s_add_strings(statement, "Action", actions, n);
	json_add_string(statement, "Resource", "*");
	return json_add_object(statement, "Principal");
}

void template_key(const struct pipeline *p, cJSON *resources)
{
	if (!p->section->signing_key)
		return;
	cJSON *key = template_resource(resources, "SigningKey", "AWS::KMS::Key");

	/* What it signed is to be verified longer than the stack is there. */
	set_policy(resources, "SigningKey", "Retain");
	k8s_addf(key, "Description", "Signs the images of %s", p->name);
	json_add_string(key, "KeySpec", "ECC_NIST_P256");
	json_add_string(key, "KeyUsage", "SIGN_VERIFY");
	cJSON *document = json_add_object(key, "KeyPolicy");

	json_add_string(document, "Version", "2012-10-17");
	cJSON *statements = json_add_array(document, "Statement");

	template_sub(add_key_statement(statements, "Administration", admin_actions,
	                               ARRAY_LEN(admin_actions)),
	             "AWS", "arn:${AWS::Partition}:iam::${AWS::AccountId}:root");
	template_arn(
		add_key_statement(statements, "Release", sign_actions, ARRAY_LEN(sign_actions)),
		"AWS", "ReleaseRole");
	cJSON *alias = template_resource(resources, "SigningAlias", "AWS::KMS::Alias");

	set_policy(resources, "SigningAlias", "Retain");
	json_add_string(alias, "AliasName", p->signing.alias);
	template_ref(alias, "TargetKeyId", "SigningKey");
}
