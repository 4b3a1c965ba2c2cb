/*
 * AWS Signature Version 4, header signing, as the AWS CLI does it. Pure: the moment is passed in,
 * nothing is read from the outside, nothing is sent.
 * Source: "AWS Signature Version 4 for API requests" (AWS General Reference) and the signing test
 * suite of aws-c-auth.
 */
#ifndef SLIPWAY_BUILDER_AWS_SIGV4_H
#define SLIPWAY_BUILDER_AWS_SIGV4_H

#include "base/arena.h"
#include "base/net/http.h"

struct sigv4_key {
	const char *access_key_id;
	const char *secret_access_key;
};

struct sigv4_scope {
	const char *region;
	const char *service; /* signing name: "ecr", "ecr-public", "sts" */
	int64_t now_ms;      /* as the server's clock has it */
};

struct sigv4_request {
	const char *method;
	const char *path;  /* as sent, starting with '/' */
	const char *query; /* as sent, without '?'; NULL or "" if none */
	/*
	 * All that is sent, Host, X-Amz-Date and X-Amz-Security-Token included. Those that proxies
	 * and libraries change (Connection, User-Agent, ...) are left unsigned.
	 */
	const struct http_header *headers;
	size_t n_headers;
	const void *body;
	size_t body_len; /* bytes */
	bool raw_path;   /* keep "//" and dot segments (S3 alone does) */
};

struct sigv4_signature {
	const char *canonical_request;
	const char *string_to_sign;
	const char *authorization; /* value of the Authorization header */
};

/*
 * Strings of the result live in the arena. The derived keys are wiped; no string holds the secret.
 */
void sigv4_sign(const struct sigv4_request *request, const struct sigv4_key *key,
                const struct sigv4_scope *scope, struct arena *a,
                struct sigv4_signature *ret_signature);

#endif
