/*
 * The least IAM policies for what slipway does with a repository. Pure.
 * Source: Amazon ECR user guide, "Required IAM permissions for pushing an image"; service
 * authorization reference of ECR.
 */
#ifndef SLIPWAY_BUILDER_AWS_IAM_H
#define SLIPWAY_BUILDER_AWS_IAM_H

#include "builder/aws/ecr.h"
#include "builder/aws/kms.h"

enum iam_purpose { IAM_PUSH, IAM_PULL, IAM_CREATE, IAM_SCAN, IAM_SIGN, IAM_VERIFY, IAM_PURPOSES };

/* "push", "pull", "create", "scan", "sign", "verify"; NULL-terminated, for completion. */
extern const char *const iam_purposes[];

/* False when the text is none of them. */
bool iam_purpose_parse(const char *text, enum iam_purpose *ret_purpose);

struct iam_request {
	enum iam_purpose purpose; /* IAM_CREATE allows what IAM_PUSH does, and more */
	struct ecr_host host;
	const char *repository;
	const struct ecr_settings *settings; /* NULL = none: tags, key and lifecycle ask for more */
	/* Repositories of the same registry that base images are pulled from. */
	struct strlist bases;
	/* In KMS. IAM_SIGN: the one that signs; IAM_VERIFY: those that have to have signed. */
	const struct kms_ref *keys;
	size_t n_keys;
	bool reads_findings; /* IAM_VERIFY: of ECR's scan, too */
};

/* The policy document; caller owns. */
cJSON *iam_policy(const struct iam_request *r);

#endif
