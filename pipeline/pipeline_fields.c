/*
 * The field table of `pipeline`.
 */
#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "k8s/fleet/fields.h"
#include "k8s/fleet/grammar.h"
#include "pipeline/downloads.h"
#include "pipeline/sections.h"

/* What may stand in the words of an ARN, a repository or a label; no quote, no space, no '$'. */
static bool plain(const char *text, const char *extra)
{
	for (; *text != '\0'; text++)
		if (!(*text >= 'a' && *text <= 'z') && !(*text >= 'A' && *text <= 'Z') &&
		    !(*text >= '0' && *text <= '9') && strchr(extra, *text) == NULL)
			return false;
	return true;
}

static const char *check_connection(const char *text, const char **ret_hint)
{
	*ret_hint = "arn:aws:codeconnections:us-west-2:123456789012:connection/ID";
	if (!text_has_prefix(text, "arn:") || !plain(text, ":/-") || strlen(text) > 256 ||
	    (strstr(text, ":codeconnections:") == NULL &&
	     strstr(text, ":codestar-connections:") == NULL) ||
	    strstr(text, ":connection/") == NULL)
		return "is not a connection's ARN";
	return NULL;
}

static const char *check_repository(const char *text, const char **ret_hint)
{
	const char *slash = strchr(text, '/');

	*ret_hint = "write OWNER/NAME";
	if (slash == NULL || slash == text || slash[1] == '\0' || !plain(text, "/._-"))
		return "is not a repository";
	return NULL;
}

static const char *check_branch(const char *text, const char **ret_hint)
{
	*ret_hint = "as in main";
	return text[0] == '\0' || text[0] == '-' || !plain(text, "/._-") ? "is not a branch" : NULL;
}

static const char *check_builder_image(const char *text, const char **ret_hint)
{
	*ret_hint = "as in aws/codebuild/amazonlinux-x86_64-standard:5.0";
	return text[0] == '\0' || !plain(text, "/._-:@") ? "is not an image" : NULL;
}

static const char *check_runner(const char *text, const char **ret_hint)
{
	*ret_hint = "as in ubuntu-24.04-arm";
	return text[0] == '\0' || !plain(text, "._-") ? "is not a runner's label" : NULL;
}

/* CodeBuild user guide, "On-demand environment types". */
static const struct choices compute_types =
	CHOICE_TEXTS("BUILD_GENERAL1_SMALL", "BUILD_GENERAL1_MEDIUM", "BUILD_GENERAL1_LARGE",
                     "BUILD_GENERAL1_XLARGE", "BUILD_GENERAL1_2XLARGE");
static const struct choices severities = CHOICE_TEXTS("LOW", "MEDIUM", "HIGH", "CRITICAL");

static const char *check_compute(const char *text, const char **ret_hint)
{
	*ret_hint = "BUILD_GENERAL1_SMALL, _MEDIUM, _LARGE, _XLARGE or _2XLARGE";
	return choices_find(&compute_types, text) >= 0 ? NULL : "is not a compute type";
}

static const char *check_severity(const char *text, const char **ret_hint)
{
	*ret_hint = "LOW, MEDIUM, HIGH or CRITICAL";
	return choices_find(&severities, text) >= 0 ? NULL : "is not a severity";
}

static const char *check_tag(const char *text, const char **ret_hint)
{
	*ret_hint = NULL;
	return text[0] == '\0' || text[0] == '.' || text[0] == '-' || strlen(text) > 128 ||
	                       !plain(text, "._-")
	               ? "is not a tag"
	               : NULL;
}

static const char *check_staging(const char *text, const char **ret_hint)
{
	*ret_hint = "a name in the same registry, as in team/app-build";
	return text[0] == '\0' || text[0] == '/' || !plain(text, "/._-") ? "is not a repository"
	                                                                 : NULL;
}

static const char *check_sign(const char *text, const char **ret_hint)
{
	*ret_hint = "awskms:///alias/NAME, a file or env://VARIABLE";
	if (strstr(text, "-----BEGIN") != NULL)
		return "is a key itself, which belongs in no spec";
	return text[0] == '\0' ? "is empty" : NULL;
}

/* It goes to a shell as one word. */
static const char *check_option(const char *text, const char **ret_hint)
{
	*ret_hint = "as in --ca=FILE";
	return !text_has_prefix(text, "--") || !plain(text, "-=/._:,@") ? "is not an option" : NULL;
}

static const char *check_key_arn(const char *text, const char **ret_hint)
{
	*ret_hint = "arn:aws:kms:REGION:ACCOUNT:key/ID";
	return !text_has_prefix(text, "arn:") || strstr(text, ":kms:") == NULL ||
	                       !plain(text, ":/-")
	               ? "is not a key's ARN"
	               : NULL;
}

static const struct field source_rows[] = {
	FIELD_STRING(struct source_section, connection, "connection",
                     "ARN of the AWS CodeConnections connection to the source's host.",
                     .flags = FIELD_LITERAL | FIELD_REQUIRED, .check = check_connection),
	FIELD_STRING(struct source_section, repository, "repository",
                     "Repository on that host, as OWNER/NAME.",
                     .flags = FIELD_LITERAL | FIELD_REQUIRED, .check = check_repository),
	TEXT(struct source_section, branch, "branch", "Branch to build.", .check = check_branch,
             .fallback_text = "main"),
};

static const struct field_table source_fields =
	FIELD_TABLE(struct source_section, "source", source_rows, "Where the source comes from.",
                    .has_pos = true, .pos_offset = offsetof(struct source_section, at));

static const struct field builder_rows[] = {
	TEXT(struct builder_section, image, "image", "CodeBuild's build image.",
             .check = check_builder_image, .fallback_doc = "Amazon Linux 2023 of the architecture"),
	TEXT(struct builder_section, compute, "compute", "CodeBuild's compute type.",
             .check = check_compute, .fallback_text = "BUILD_GENERAL1_SMALL"),
	TEXT(struct builder_section, runner, "runner", "Label of GitHub's runner.",
             .check = check_runner, .fallback_doc = "ubuntu-24.04, or ubuntu-24.04-arm"),
};

static const struct field_table builder_fields =
	FIELD_TABLE(struct builder_section, "builder", builder_rows,
                    "The machine that builds one architecture.", .has_pos = true,
                    .pos_offset = offsetof(struct builder_section, at));

/* CloudWatch Logs takes only these. */
static void check_pipeline(struct fields_context *c, const struct yaml_node *node, void *object)
{
	static const int64_t known[] = {1,   3,   5,   7,   14,  30,  60,   90,   120,
	                                150, 180, 365, 400, 545, 731, 1096, 1827, 3653};
	const struct pipeline_section *p = object;
	bool found = false;

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		found |= p->log_days == known[i];
	if (!found && p->log_days > 0)
		fields_problem(
			c, node,
			"pipeline.log_days: CloudWatch Logs keeps 1, 3, 5, 7, 14, 30, 60, 90, "
			"120, 150, 180, 365, 400, 545, 731, 1096, 1827 or 3653 days");
}

static const struct field rows[] = {
	FIELD_OBJECT(struct pipeline_section, source, struct source_section, &source_fields,
                     "source", "Where the source comes from.", .flags = FIELD_REQUIRED),
	TEXT_AT(struct pipeline_section, region, "region", "AWS region of the pipeline.",
                .check = check_region, .fallback_doc = "cluster.region, or the repository's"),
	FIELD_OBJECT(struct pipeline_section, amd64, struct builder_section, &builder_fields,
                     "amd64", "The x86 builder."),
	FIELD_OBJECT(struct pipeline_section, arm64, struct builder_section, &builder_fields,
                     "arm64", "The Graviton builder."),
	FIELD_OBJECT(struct pipeline_section, slipway, struct download_section, &download_fields,
                     "slipway", "The release of slipway that builders use: its tarball."),
	FIELD_OBJECT(struct pipeline_section, kubectl, struct download_section, &download_fields,
                     "kubectl", "The kubectl that the step deploy uses: the program itself."),
	FIELD_STRINGS(struct pipeline_section, install, "install",
                      "Commands that put the toolchain on a fresh machine, as root; slipway too, "
                      "where pipeline.slipway does not.",
                      .flags = FIELD_LITERAL),
	FIELD_STRINGS(struct pipeline_section, test, "test",
                      "Commands that test, on every builder.", .flags = FIELD_LITERAL),
	FIELD_STRINGS(struct pipeline_section, build, "build",
                      "Commands that build the files of the layers; $SLIPWAY_ARCH is amd64 or "
                      "arm64.",
                      .flags = FIELD_LITERAL),
	FIELD_STRINGS(struct pipeline_section, options, "options",
                      "Options for the slipway commands that use the registry, as in --ca=FILE.",
                      .flags = FIELD_LITERAL, .check = check_option),
	FIELD_STRINGS(struct pipeline_section, tags, "tags",
                      "Tags that move to every image that passed, in addition to the commit's own.",
                      .flags = FIELD_LITERAL, .check = check_tag),
	TEXT_AT(struct pipeline_section, staging, "staging",
                "Repository of the same registry that builds push to, without tags; what passed is "
                "copied from there to image.repository.",
                .check = check_staging, .fallback_doc = "the name of image.repository and -build"),
	TEXT_AT(struct pipeline_section, sign, "sign",
                "The key that signs what passed, before a tag names it: awskms:///alias/NAME, a "
                "file or env://VARIABLE.",
                .check = check_sign,
                .fallback_doc = "image.sign.key; without it nothing is signed"),
	FIELD_BOOL(struct pipeline_section, signing_key, "signing_key",
                   "The stack creates that key in KMS, with its alias."),
	FIELD_BOOL(struct pipeline_section, repository, "repository",
                   "The stack creates both ECR repositories, image.repository with the settings of "
                   "image.ecr.",
                   .fallback = 1),
	FIELD_BOOL(struct pipeline_section, scan, "scan",
                   "Wait for ECR's scan and fail on its findings.", .fallback = 1),
	TEXT(struct pipeline_section, severity, "severity",
             "Findings of this severity or worse fail the pipeline.", .check = check_severity,
             .fallback_text = "CRITICAL"),
	FIELD_BOOL(struct pipeline_section, deploy, "deploy",
                   "Deploy the image that passed to the cluster, by digest.",
                   .pos_offset = offsetof(struct pipeline_section, deploy_at)),
	FIELD_BOOL(struct pipeline_section, approval, "approval",
                   "Require manual approval before the deployment.", .fallback = 1),
	FIELD_BOOL(struct pipeline_section, cache, "cache", "Keep slipway's build cache in S3.",
                   .fallback = 1),
	FIELD_INT(struct pipeline_section, log_days, "log_days", "Days to keep logs.", .min = 1,
                  .max = 3653, .fallback = 30),
	FIELD_INT(struct pipeline_section, timeout_minutes, "timeout_minutes",
                  "Minutes after which a step is stopped.", .min = 5, .max = 2160, .fallback = 60),
	TEXT(struct pipeline_section, topic, "topic",
             "ARN of the SNS topic for failures, approvals and completions.",
             .check = check_topic_arn),
	TEXT(struct pipeline_section, kms_key, "kms_key",
             "ARN of the KMS key of buckets and artifacts.", .check = check_key_arn,
             .fallback_doc = "S3's own keys"),
	FIELD_BOOL(struct pipeline_section, github, "github",
                   "Also write a GitHub Actions workflow that does the same."),
	TEXT(struct pipeline_section, github_role, "github_role",
             "ARN of the role that the workflow assumes through OIDC.", .check = check_role_arn),
	TEXT(struct pipeline_section, github_release_role, "github_release_role",
             "ARN of the role of the job that signs and sets tags, in the environment release.",
             .check = check_role_arn, .fallback_doc = "github_role"),
};

const struct field_table pipeline_fields =
	FIELD_TABLE(struct pipeline_section, "pipeline", rows,
                    "From a commit to a checked image, and on to the cluster.", .has_pos = true,
                    .pos_offset = offsetof(struct pipeline_section, at), .check = check_pipeline);
