/*
 * One call of an AWS service with everything around it: endpoint, signature, clock skew, retries in
 * AWS's "standard" mode, and the failure in words. Knows nothing of where credentials come from.
 * Thread rule: one client may be used by several threads at once.
 */
#ifndef SLIPWAY_BUILDER_AWS_CLIENT_H
#define SLIPWAY_BUILDER_AWS_CLIENT_H

#include <pthread.h>

#include "builder/aws/failure.h"
#include "builder/aws/settings.h"
#include "builder/aws/sigv4.h"

/* Zero-initialise; AUTO(aws_credentials). All owned. */
struct aws_credentials {
	char *access_key_id; /* NULL = no credentials */
	char *secret_access_key;
	char *session_token;  /* NULL = long-lived keys */
	char *account_id;     /* NULL = not given */
	int64_t expires_ms;   /* 0 = never */
	const char *provider; /* "environment", "imds", ...: a constant */
};
void aws_credentials_done(struct aws_credentials *c); /* wipes and frees */
void aws_credentials_copy(const struct aws_credentials *from, struct aws_credentials *ret_to);

struct aws_client {
	const struct aws_outside *outside;
	const struct aws_settings *settings;
	pthread_mutex_t lock;
	int64_t offset_ms; /* AWS's clock minus ours, as last measured */
	bool offset_known;
	int quota;       /* retry tokens left */
	uint64_t random; /* state of the jitter */
	bool skew_noted;
};
void aws_client_init(struct aws_client *c, const struct aws_outside *outside,
                     const struct aws_settings *settings);
void aws_client_done(struct aws_client *c);

/* What AWS's clock shows now: ours, corrected when it was seen to be wrong by minutes. */
int64_t aws_client_now_ms(struct aws_client *c);

/* AWS's clock minus ours in seconds, 0 while nothing was measured. */
int64_t aws_client_offset_s(struct aws_client *c);

enum { AWS_CALL_HEADERS_MAX = 8, AWS_REPLY_MAX = 4 << 20 };

struct aws_call {
	enum aws_service service;
	const char *operation; /* for messages: "GetAuthorizationToken" */
	const char *region;    /* NULL = the settings' */
	bool fips;             /* besides the settings' */
	const char *endpoint;  /* URL to use instead of the region's; NULL = none */
	const char *method;    /* NULL = "POST" */
	const char *target;    /* path and query, NULL = "/" */
	struct http_header headers[AWS_CALL_HEADERS_MAX];
	size_t n_headers;
	const char *body;                          /* NULL = none */
	const struct aws_credentials *credentials; /* NULL = not signed */
	/* in the body or a header: masked where a server echoes them; may be NULL */
	const char *secrets[2];
};

/*
 * 0 with a 2xx reply in *resp (AUTO(http_response)). Otherwise -1; *ret_failure (may be NULL; in
 * the arena) has the service's answer when there was one, its status 0 when there was none.
 */
int aws_client_send(struct aws_client *c, const struct aws_call *call, struct arena *a,
                    struct http_response *resp, struct aws_failure *ret_failure,
                    struct err *err) MUST_USE;

/* The endpoint that a call with this region and FIPS wish would go to. */
int aws_client_endpoint(const struct aws_client *c, enum aws_service service, const char *region,
                        bool fips, struct arena *a, struct aws_endpoint *ret_endpoint,
                        struct err *err) MUST_USE;

#endif
