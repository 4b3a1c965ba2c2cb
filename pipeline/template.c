/*
 * The stack as a whole, and what it keeps things in.
 */
#include <string.h>

#include "pipeline/render.h"

/* ---- buckets ---- */

static void add_encryption(const struct pipeline *p, cJSON *bucket)
{
	cJSON *rule = k8s_push_object(json_add_array(json_add_object(bucket, "BucketEncryption"),
	                                             "ServerSideEncryptionConfiguration"));
	cJSON *by = json_add_object(rule, "ServerSideEncryptionByDefault");

	json_add_string(by, "SSEAlgorithm", p->section->kms_key != NULL ? "aws:kms" : "AES256");
	json_add_string(by, "KMSMasterKeyID", p->section->kms_key);
	if (p->section->kms_key != NULL)
		json_add_bool(rule, "BucketKeyEnabled", true);
}

/* Nothing in it is public, and nothing stays for ever. */
static void add_bucket(const struct pipeline *p, cJSON *resources, const char *name, int64_t days)
{
	static const char *const blocks[] = {"BlockPublicAcls", "BlockPublicPolicy",
	                                     "IgnorePublicAcls", "RestrictPublicBuckets"};
	cJSON *bucket = template_resource(resources, name, "AWS::S3::Bucket");

	add_encryption(p, bucket);
	cJSON *block = json_add_object(bucket, "PublicAccessBlockConfiguration");

	for (size_t i = 0; i < ARRAY_LEN(blocks); i++)
		json_add_bool(block, blocks[i], true);
	cJSON *ownership = json_add_array(json_add_object(bucket, "OwnershipControls"), "Rules");

	json_add_string(k8s_push_object(ownership), "ObjectOwnership", "BucketOwnerEnforced");
	cJSON *rule = k8s_push_object(
		json_add_array(json_add_object(bucket, "LifecycleConfiguration"), "Rules"));

	json_add_string(rule, "Id", "expire");
	json_add_string(rule, "Status", "Enabled");
	json_add_int(rule, "ExpirationInDays", days);
	json_add_int(json_add_object(rule, "AbortIncompleteMultipartUpload"), "DaysAfterInitiation",
	             1);
}

/* Only over TLS. */
static void add_bucket_policy(cJSON *resources, const char *name, const char *bucket)
{
	AUTO(strbuf) struct strbuf all = STRBUF_INIT(256);
	cJSON *policy = template_resource(resources, name, "AWS::S3::BucketPolicy");

	template_ref(policy, "Bucket", bucket);
	cJSON *document = json_add_object(policy, "PolicyDocument");

	json_add_string(document, "Version", "2012-10-17");
	cJSON *statement = k8s_push_object(json_add_array(document, "Statement"));

	json_add_string(statement, "Sid", "OnlyTls");
	json_add_string(statement, "Effect", "Deny");
	json_add_string(statement, "Principal", "*");
	json_add_string(statement, "Action", "s3:*");
	cJSON *list = json_add_array(statement, "Resource");

	template_arn(list, NULL, bucket);
	strbuf_addf(&all, "${%s.Arn}/*", bucket);
	template_sub(list, NULL, strbuf_str(&all));
	json_add_string(json_add_object(json_add_object(statement, "Condition"), "Bool"),
	                "aws:SecureTransport", "false");
}

void template_buckets(const struct pipeline *p, cJSON *resources)
{
	enum { ARTIFACT_DAYS = 30, CACHE_DAYS = 14 };

	add_bucket(p, resources, "Artifacts", ARTIFACT_DAYS);
	add_bucket_policy(resources, "ArtifactsPolicy", "Artifacts");
	if (!p->section->cache)
		return;
	add_bucket(p, resources, "Cache", CACHE_DAYS);
	add_bucket_policy(resources, "CachePolicy", "Cache");
}

/* ---- notifications ---- */

static void add_notifications(const struct pipeline *p, cJSON *resources)
{
	static const char *const events[] = {"codepipeline-pipeline-pipeline-execution-failed",
	                                     "codepipeline-pipeline-pipeline-execution-succeeded",
	                                     "codepipeline-pipeline-manual-approval-needed"};

	if (p->section->topic == NULL)
		return;
	cJSON *rule = template_resource(resources, "Notifications",
	                                "AWS::CodeStarNotifications::NotificationRule");

	k8s_addf(rule, "Name", "%s-pipeline", p->name);
	json_add_string(rule, "DetailType", "FULL");
	template_sub(rule, "Resource",
	             "arn:${AWS::Partition}:codepipeline:${AWS::Region}:${AWS::AccountId}:"
	             "${Pipeline}");
	k8s_add_strings(rule, "EventTypeIds", events, ARRAY_LEN(events));
	cJSON *target = k8s_push_object(json_add_array(rule, "Targets"));

	json_add_string(target, "TargetType", "SNS");
	json_add_string(target, "TargetAddress", p->section->topic);
}

void pipeline_template(const struct pipeline *p, cJSON *doc)
{
	json_add_string(doc, "AWSTemplateFormatVersion", "2010-09-09");
	k8s_addf(doc, "Description", "Builds, checks and ships %s", p->name);
	cJSON *resources = json_add_object(doc, "Resources");

	template_buckets(p, resources);
	template_repositories(p, resources);
	template_key(p, resources);
	template_projects(p, resources);
	template_pipeline(p, resources);
	add_notifications(p, resources);
	cJSON *outputs = json_add_object(doc, "Outputs");

	template_ref(json_add_object(outputs, "Pipeline"), "Value", "Pipeline");
	if (p->cluster != NULL)
		template_arn(json_add_object(outputs, "DeployRole"), "Value", "DeployRole");
}
