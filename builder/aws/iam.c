#include "builder/aws/iam.h"

#include <string.h>

#include "base/text.h"

const char *const iam_purposes[] = {"push", "pull", "create", "scan", "sign", "verify", NULL};

bool iam_purpose_parse(const char *text, enum iam_purpose *ret_purpose)
{
	for (unsigned i = 0; iam_purposes[i] != NULL; i++)
		if (strcmp(iam_purposes[i], text) == 0) {
			*ret_purpose = (enum iam_purpose)i;
			return true;
		}
	return false;
}

/* DescribeRepositories shows before the first byte whether a tag can be moved, and why ECR closed a
 * connection. */
static const char *const push_actions[] = {"BatchCheckLayerAvailability",
                                           "BatchGetImage",
                                           "CompleteLayerUpload",
                                           "DescribeRepositories",
                                           "InitiateLayerUpload",
                                           "PutImage",
                                           "UploadLayerPart"};
static const char *const public_push_actions[] = {"BatchCheckLayerAvailability",
                                                  "CompleteLayerUpload",
                                                  "DescribeRepositories",
                                                  "InitiateLayerUpload",
                                                  "PutImage",
                                                  "UploadLayerPart"};
static const char *const pull_actions[] = {"BatchCheckLayerAvailability", "BatchGetImage",
                                           "GetDownloadUrlForLayer"};
static const char *const create_actions[] = {"CreateRepository"};
static const char *const scan_actions[] = {"BatchGetImage", "DescribeImageScanFindings",
                                           "StartImageScan"};
/* Documents are read, signatures are put beside them; the image itself is not sent. Who may get
 * images may list what is attached to them (API reference, ListImageReferrers). */
static const char *const sign_actions[] = {"BatchCheckLayerAvailability",
                                           "BatchGetImage",
                                           "CompleteLayerUpload",
                                           "GetDownloadUrlForLayer",
                                           "InitiateLayerUpload",
                                           "PutImage",
                                           "UploadLayerPart"};
static const char *const key_actions[] = {"GetPublicKey", "Sign"};
static const char *const public_key_actions[] = {"GetPublicKey"};
static const char *const findings_actions[] = {"DescribeImageScanFindings"};
static const char *const kms_actions[] = {"CreateGrant", "DescribeKey", "RetireGrant"};

/* The actions of one service on one resource. */
static cJSON *add_statement(cJSON *list, const char *sid, const char *resource)
{
	cJSON *statement = cJSON_CreateObject();

	json_push(list, statement);
	json_add_string(statement, "Sid", sid);
	json_add_string(statement, "Effect", "Allow");
	cJSON *actions = json_add_array(statement, "Action");

	json_add_string(statement, "Resource", resource);
	return actions;
}

static void add_actions(cJSON *actions, const char *service, const char *const names[], size_t n)
{
	AUTO(arena) struct arena a = {0};

	for (size_t i = 0; i < n; i++)
		json_push_string(actions, arena_printf(&a, "%s:%s", service, names[i]));
}

static const char *service_of(const struct iam_request *r)
{
	return r->host.is_public ? "ecr-public" : "ecr";
}

static const char *repository_arn(const struct iam_request *r, const char *name, struct arena *a)
{
	const char *partition = aws_partition_of(r->host.region)->id;
	const char *slash = r->host.is_public ? strchr(name, '/') : NULL;

	if (r->host.is_public)
		return arena_printf(a, "arn:%s:ecr-public::*:repository/%s", partition,
		                    slash != NULL ? slash + 1 : name);
	return arena_printf(a, "arn:%s:ecr:%s:%s:repository/%s", partition, r->host.region,
	                    r->host.account != NULL ? r->host.account : "*", name);
}

static void add_token(const struct iam_request *r, cJSON *list)
{
	static const char *const token[] = {"GetAuthorizationToken"};
	static const char *const bearer[] = {"GetServiceBearerToken"};
	cJSON *actions = add_statement(list, "Token", "*");

	add_actions(actions, service_of(r), token, ARRAY_LEN(token));
	if (r->host.is_public)
		add_actions(actions, "sts", bearer, ARRAY_LEN(bearer));
}

static void add_push(const struct iam_request *r, cJSON *list, const char *arn)
{
	cJSON *actions = add_statement(list, "Push", arn);

	if (r->host.is_public)
		add_actions(actions, "ecr-public", public_push_actions,
		            ARRAY_LEN(public_push_actions));
	else
		add_actions(actions, "ecr", push_actions, ARRAY_LEN(push_actions));
}

/* What ECR Public has is public: a pull needs the token and nothing else. */
static void add_pull(const struct iam_request *r, cJSON *list, const char *sid, const char *arn)
{
	if (!r->host.is_public)
		add_actions(add_statement(list, sid, arn), "ecr", pull_actions,
		            ARRAY_LEN(pull_actions));
}

static void add_bases(const struct iam_request *r, cJSON *list, struct arena *a)
{
	for (size_t i = 0; i < r->bases.n; i++)
		add_pull(r, list, arena_printf(a, "PullBase%zu", i + 1),
		         repository_arn(r, r->bases.at[i], a));
}

/* The settings' own wishes: tags, lifecycle, and a key that ECR may use. */
static void add_settings(const struct iam_request *r, cJSON *actions, cJSON *list, struct arena *a)
{
	static const char *const tag[] = {"TagResource"};
	static const char *const lifecycle[] = {"PutLifecyclePolicy"};
	const struct ecr_settings *s = r->settings;

	if (s->tags.n > 0)
		add_actions(actions, service_of(r), tag, ARRAY_LEN(tag));
	if (!r->host.is_public && (s->expire_untagged_days > 0 || s->keep_images > 0))
		add_actions(actions, "ecr", lifecycle, ARRAY_LEN(lifecycle));
	if (s->kms_key == NULL)
		return;
	/* IAM speaks of keys, not of their aliases. */
	const char *key =
		strstr(s->kms_key, ":key/") != NULL
			? s->kms_key
			: arena_printf(a, "arn:%s:kms:%s:%s:key/*",
	                               aws_partition_of(r->host.region)->id, r->host.region,
	                               r->host.account != NULL ? r->host.account : "*");

	add_actions(add_statement(list, "Key", key), "kms", kms_actions, ARRAY_LEN(kms_actions));
}

/* The account and region of a key, as far as it says them itself. */
static const char *key_arn(const struct iam_request *r, const struct kms_ref *key,
                           const char *resource, struct arena *a)
{
	const char *region = key->region != NULL ? key->region : r->host.region;
	const char *account = key->account != NULL      ? key->account
	                      : r->host.account != NULL ? r->host.account
	                                                : "*";

	return arena_printf(a, "arn:%s:kms:%s:%s:key/%s", aws_partition_of(region)->id, region,
	                    account, resource);
}

/* IAM speaks of keys, not of their aliases: of any key, when it is asked for by that alias. */
static void add_key(const struct iam_request *r, const struct kms_ref *key, const char *sid,
                    cJSON *list, struct arena *a)
{
	const char *alias = strstr(key->key, "alias/"), *id = strstr(key->key, "key/");
	const char *resource = alias != NULL ? "*" : id != NULL ? id + 4 : key->key;
	cJSON *actions = add_statement(list, sid, key_arn(r, key, resource, a));

	if (r->purpose == IAM_SIGN)
		add_actions(actions, "kms", key_actions, ARRAY_LEN(key_actions));
	else
		add_actions(actions, "kms", public_key_actions, ARRAY_LEN(public_key_actions));
	if (alias == NULL)
		return;
	cJSON *statement = cJSON_GetArrayItem(list, cJSON_GetArraySize(list) - 1);

	json_add_string(json_add_object(json_add_object(statement, "Condition"), "StringEquals"),
	                "kms:RequestAlias", alias);
}

static void add_create(const struct iam_request *r, cJSON *list, const char *arn, struct arena *a)
{
	cJSON *actions = add_statement(list, "Create", arn);

	add_actions(actions, service_of(r), create_actions, ARRAY_LEN(create_actions));
	if (r->settings != NULL)
		add_settings(r, actions, list, a);
}

static void add_sign(const struct iam_request *r, cJSON *list, const char *arn, struct arena *a)
{
	add_actions(add_statement(list, "Sign", arn), service_of(r), sign_actions,
	            ARRAY_LEN(sign_actions));
	if (r->n_keys > 0)
		add_key(r, &r->keys[0], "SigningKey", list, a);
}

/* The image's documents, what is attached to it, and the keys that it is held against. */
static void add_verify(const struct iam_request *r, cJSON *list, const char *arn, struct arena *a)
{
	add_pull(r, list, "Pull", arn);
	if (r->reads_findings)
		add_actions(add_statement(list, "Findings", arn), service_of(r), findings_actions,
		            ARRAY_LEN(findings_actions));
	for (size_t i = 0; i < r->n_keys; i++)
		add_key(r, &r->keys[i], arena_printf(a, "VerifyingKey%zu", i + 1), list, a);
}

cJSON *iam_policy(const struct iam_request *r)
{
	AUTO(arena) struct arena a = {0};
	cJSON *policy = cJSON_CreateObject();
	const char *arn = repository_arn(r, r->repository, &a);

	json_add_string(policy, "Version", "2012-10-17");
	cJSON *list = json_add_array(policy, "Statement");

	add_token(r, list);
	switch (r->purpose) {
	case IAM_CREATE:
		add_create(r, list, arn, &a);
		add_push(r, list, arn);
		add_bases(r, list, &a);
		break;
	case IAM_PUSH:
		add_push(r, list, arn);
		add_bases(r, list, &a);
		break;
	case IAM_PULL:
		add_pull(r, list, "Pull", arn);
		break;
	case IAM_SCAN:
		add_actions(add_statement(list, "Scan", arn), service_of(r), scan_actions,
		            ARRAY_LEN(scan_actions));
		break;
	case IAM_SIGN:
		add_sign(r, list, arn, &a);
		break;
	case IAM_VERIFY:
		add_verify(r, list, arn, &a);
		break;
	case IAM_PURPOSES:
		break;
	}
	return policy;
}
