/*
 * An AWS session: settings, a client and the credentials that the chain found, renewed before they
 * expire. This is what the rest of the tool holds. Thread rule: all functions may be called from
 * several threads at once.
 */
#ifndef SLIPWAY_BUILDER_AWS_SESSION_H
#define SLIPWAY_BUILDER_AWS_SESSION_H

#include "base/strlist.h"
#include "builder/aws/client.h"

enum { AWS_TRACE_MAX = 16 };

/* What each provider of the chain said, for `slipway doctor`. Zero-initialise; AUTO(aws_trace). */
struct aws_trace {
	struct arena arena;
	struct {
		const char *provider, *why_not; /* why_not NULL: this one gave the credentials */
	} at[AWS_TRACE_MAX];
	size_t n;
	bool nothing; /* no provider is configured at all: nothing is broken either */
};
void aws_trace_done(struct aws_trace *t);

struct aws_session; /* opaque */

/* Takes over the settings. No request is made yet. `outside` is borrowed. */
struct aws_session *aws_session_new(const struct aws_outside *outside,
                                    struct aws_settings *settings);
void aws_session_free(struct aws_session *s); /* wipes; accepts NULL */

const struct aws_settings *aws_session_settings(const struct aws_session *s);
struct aws_client *aws_session_client(struct aws_session *s);

/*
 * The credentials, a copy: the kept ones while they last (they are renewed 15 minutes before they
 * expire; when that fails they are used until 10 minutes before), else what the chain finds.
 * `region` is where STS is asked when the settings name none (NULL = nowhere). `renew` asks the
 * chain anew.
 */
int aws_session_credentials(struct aws_session *s, const char *region, bool renew,
                            struct aws_credentials *ret_credentials, struct err *err) MUST_USE;

/* aws_client_send with the session's credentials; when the service says that they have expired they
 * are renewed once. call->credentials is ignored. */
int aws_session_send(struct aws_session *s, struct aws_call *call, struct arena *a,
                     struct http_response *resp, struct aws_failure *ret_failure,
                     struct err *err) MUST_USE;

/* The last walk found no provider configured: nothing is broken either. */
bool aws_session_has_nothing(struct aws_session *s);

/* What the last walk along the chain came to; borrowed until the next. */
const struct aws_trace *aws_session_trace(const struct aws_session *s);

#endif
