/*
 * What an AWS service answers instead of a result: in JSON, in XML, or in a proxy's HTML. Pure.
 */
#ifndef SLIPWAY_BUILDER_AWS_FAILURE_H
#define SLIPWAY_BUILDER_AWS_FAILURE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/net/http.h"

/* Strings live in the arena; none is NULL. */
struct aws_failure {
	int status;             /* of HTTP */
	const char *code;       /* "AccessDeniedException"; "" when the body is not an error */
	const char *message;    /* the service's words, or the body's first line */
	const char *request_id; /* "" if none */
};

/* Puts '*' over every occurrence of a secret (NULL = none) that a server, or what stands before it,
 * sent back. */
void aws_failure_mask(struct http_response *resp, const char *secret);

/* Never fails: whatever the body is, something is said about it. */
void aws_failure_parse(const struct http_response *resp, struct arena *a,
                       struct aws_failure *ret_failure);

/* True when the code is one of these, with or without "Exception" behind it. */
bool aws_failure_is(const struct aws_failure *f, const char *code);

/* The service's clock and ours disagree, or may (the last two also mean a wrong secret). */
bool aws_failure_is_skew(const struct aws_failure *f);

/* The session behind the credentials is over. */
bool aws_failure_is_expired(const struct aws_failure *f);

/* Permission is missing. *ret_action ("ecr:PutImage"), *ret_principal and *ret_resource (ARNs) are
 * what the message names, "" where it does not. */
bool aws_failure_is_denied(const struct aws_failure *f, struct arena *a, const char **ret_action,
                           const char **ret_principal, const char **ret_resource);

/* The word that follows `mark` in a service's words, "" if none. */
const char *aws_failure_word(const char *text, const char *mark, struct arena *a);

/* "CODE: MESSAGE" into *err with the code that fits (ERR_DENIED, ERR_NOT_FOUND, ERR_CONFLICT,
 * ERR_NETWORK, ERR_SERVER) and the next step. Always -1. */
int aws_failure_err(const struct aws_failure *f, struct err *err);

/* The `slipway iam` purpose whose policy has this action: "push", "pull", "create", ... */
const char *aws_failure_purpose(const char *action);

enum aws_retry_kind { AWS_RETRY_NEVER, AWS_RETRY_TRANSIENT, AWS_RETRY_THROTTLED };
enum aws_retry_kind aws_failure_retry(const struct aws_failure *f);

#endif
