/*
 * Amazon ECR's control plane (JSON 1.1 protocol, API 2015-09-21; ECR Public 2020-10-30): tokens,
 * repositories, scan findings. Each call goes to the region that the registry's host names.
 * Strings of results live in the caller's arena.
 */
#ifndef SLIPWAY_BUILDER_AWS_ECR_H
#define SLIPWAY_BUILDER_AWS_ECR_H

#include "base/doc/fields.h"
#include "base/doc/json.h"
#include "base/strlist.h"
#include "base/strmap.h"
#include "builder/aws/endpoint.h"
#include "builder/aws/session.h"
#include "builder/finding/finding.h"

/* ---- tokens ---- */

/* Zero-initialise; AUTO(ecr_token). Owned; wiped on release. */
struct ecr_token {
	char *username, *password;
	char *account; /* of the caller, as the token's endpoint names it; NULL = not given */
	int64_t expires_ms;
};
void ecr_token_done(struct ecr_token *t);

/* GetAuthorizationToken. */
int ecr_get_token(struct aws_session *s, const struct ecr_host *host, struct ecr_token *ret_token,
                  struct err *err) MUST_USE;

/* ---- repositories ---- */

/* `image.ecr` of the spec: what a repository that slipway creates is like. */
struct ecr_settings {
	bool create;
	const char *mutability; /* MUTABLE, IMMUTABLE, ..._WITH_EXCLUSION; NULL = ECR's default */
	struct strlist exclusions; /* tag patterns with '*', with ..._WITH_EXCLUSION */
	bool scan_on_push;
	const char *encryption; /* AES256, KMS, KMS_DSSE; NULL = ECR's default */
	const char *kms_key;
	struct strmap tags;
	int64_t expire_untagged_days; /* lifecycle: 0 = no such rule */
	int64_t keep_images;          /* lifecycle: the newest so many; 0 = no such rule */
};

/* The field table of `image.ecr`: its decoder, schema and documentation. */
extern const struct field_table ecr_settings_fields;

struct ecr_repository {
	const char *uri, *mutability;
	struct strlist exclusions;
};

/* True when tags of this name cannot be moved. */
bool ecr_tag_is_immutable(const struct ecr_repository *r, const char *tag);

/* ERR_NOT_FOUND when there is none. */
int ecr_describe_repository(struct aws_session *s, const struct ecr_host *host, const char *name,
                            struct arena *a, struct ecr_repository *ret_repository,
                            struct err *err) MUST_USE;

/* Creates it and puts the lifecycle policy. *ret_created false: it was there already. */
int ecr_create_repository(struct aws_session *s, const struct ecr_host *host, const char *name,
                          const struct ecr_settings *settings, bool *ret_created,
                          struct err *err) MUST_USE;

/* Pure: the request of CreateRepository and the lifecycle policy (NULL when no rule is wanted);
 * caller owns. */
cJSON *ecr_create_request(const struct ecr_host *host, const char *name,
                          const struct ecr_settings *settings);
cJSON *ecr_lifecycle_policy(const struct ecr_settings *settings);

/* ---- scan findings ---- */

enum ecr_scan_status {
	ECR_SCAN_PENDING, /* ask again */
	ECR_SCAN_DONE,
	ECR_SCAN_FAILED,
	ECR_SCAN_UNSUPPORTED
};

enum { ECR_FINDINGS_MAX = 10000 };

struct ecr_scan {
	enum ecr_scan_status status;
	const char *status_text, *description;
	struct findings findings; /* the counts are ECR's own, where it gives them */
};

/* One look (all pages) at the findings of the image with this digest text. A scan that has not
 * begun is pending, for ECR says ScanNotFound until it has; *ret_begun says. */
int ecr_scan_findings(struct aws_session *s, const struct ecr_host *host, const char *repository,
                      const char *digest, struct arena *a, struct ecr_scan *ret_scan,
                      bool *ret_begun, struct err *err) MUST_USE;

/* StartImageScan. A scan that is already under way or was made today is no error. */
int ecr_start_scan(struct aws_session *s, const struct ecr_host *host, const char *repository,
                   const char *digest, struct err *err) MUST_USE;

#endif
