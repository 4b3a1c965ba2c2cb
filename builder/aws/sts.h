/*
 * The three calls of the Security Token Service that slipway makes (query protocol, version
 * 2011-06-15). Temporary keys come back owned by the caller.
 */
#ifndef SLIPWAY_BUILDER_AWS_STS_H
#define SLIPWAY_BUILDER_AWS_STS_H

#include "builder/aws/client.h"

struct sts_role {
	const char *arn;
	const char *session_name; /* NULL = "slipway-session-SECONDS" */
	const char *external_id;  /* NULL = none */
	const char *mfa_serial, *mfa_code;
	int64_t duration_s; /* 0 = the service's default */
};

/* Signed with `base`. *ret_credentials has no provider's name yet. */
int sts_assume_role(struct aws_client *c, const char *region, const struct aws_credentials *base,
                    const struct sts_role *role, struct aws_credentials *ret_credentials,
                    struct err *err) MUST_USE;

/* Unsigned: the token, as it stands in its file, is the proof. */
int sts_assume_role_with_web_identity(struct aws_client *c, const char *region, const char *token,
                                      const struct sts_role *role,
                                      struct aws_credentials *ret_credentials,
                                      struct err *err) MUST_USE;

struct sts_identity {
	const char *account, *arn;
};

/* Who the credentials are; needs no permission. Strings live in the arena. */
int sts_get_caller_identity(struct aws_client *c, const char *region,
                            const struct aws_credentials *credentials, struct arena *a,
                            struct sts_identity *ret_identity, struct err *err) MUST_USE;

#endif
