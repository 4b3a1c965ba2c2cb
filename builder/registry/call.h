/*
 * One request to a registry with everything around it: authorization, redirects, retries. Private
 * to this folder.
 */
#ifndef SLIPWAY_BUILDER_REGISTRY_CALL_H
#define SLIPWAY_BUILDER_REGISTRY_CALL_H

#include <pthread.h>

#include "builder/oci/referrers.h"
#include "builder/registry/auth.h"
#include "builder/registry/registry.h"

struct registry {
	struct registry_opts opts;
	char *host, *repository;
	char *origin; /* "https://host[:port]" */
	char *base;   /* origin + "/v2/" + repository */
	struct auth *auth;
	pthread_mutex_t lock;
	unsigned budget;            /* retries left for this object */
	struct digest warnings[16]; /* of the Warning headers that were shown */
	size_t n_warnings;
	uint64_t random;               /* state of the jitter */
	struct strbuf document;        /* the first manifest that was resolved; never replaced */
	struct digest document_digest; /* of its bytes */
};

struct call {
	const char *method;
	const char *url; /* absolute */
	const char *scopes;
	enum registry_step step;
	struct http_header headers[4];
	size_t n_headers;
	struct http_body body;
	size_t response_max;
	struct source **
		body_source; /* set: a 2xx reply's body is pulled from *body_source by the caller */
	/*
	 * no retry here: the caller starts over in its own way; of a refusal worth a retry *resp
	 * then still has the headers
	 */
	bool once;
	/* After a refusal for the credentials' sake they are renewed, but the request is not sent
	 * again: ERR_NETWORK, for the caller to start over. */
	bool no_replay;
	bool large;
	bool stay; /* do not follow redirects */
	void (*on_sent)(void *ctx,
	                int64_t bytes); /* may be NULL; what was sent in vain is taken back */
	void *ctx;
};

/*
 * Sends until there is an answer worth having: 401 is met with (new) credentials, 307/308 and other
 * redirects are followed (without credentials to another origin), retryable failures are tried
 * again with back-off within the budget. Any other status is the caller's. ERR_NETWORK when tries
 * are used up.
 */
int call_send(struct registry *r, const struct call *c, struct http_response *resp,
              struct err *err) MUST_USE;

/* Waits before retry number `attempt`; -1 with `err` left as it is when the budget is used up. */
int call_wait(struct registry *r, unsigned attempt, const char *retry_after, const struct err *why,
              struct err *err) MUST_USE;

/* A Location against the URL that gave it; on the registry's own host http means https there. */
int call_resolve(const struct registry *r, const char *base, const char *location, struct arena *a,
                 const char **ret_url, struct err *err) MUST_USE;

/* Always -1: the error of a HEAD whose answer `resp` has no body; the same as GET says why. */
int call_explain(struct registry *r, const struct call *head, const struct http_response *resp,
                 struct err *err);

/* Always -1: what a reply that is not a success means, in the advisor's words if it has any. */
int call_refused(struct registry *r, const struct call *c, const struct http_response *resp,
                 struct err *err);

/*
 * PUT of a manifest with a few tries while its blobs cannot be seen yet. `if_match` (NULL = none)
 * is the ETag of what may be replaced. *resp (AUTO(http_response)) is a success; check of
 * Docker-Content-Digest included.
 */
int call_put_manifest(struct registry *r, const char *reference, const struct descriptor *desc,
                      const void *bytes, const char *if_match, struct http_response *resp,
                      struct err *err) MUST_USE;

/* RFC 8288: the URL of the link whose relation is "next", in the arena; NULL when there is none. */
const char *call_next_link(const struct http_headers *headers, struct arena *a);

/* As store_referrers, of this repository (referrers.c). */
int registry_referrers(struct registry *r, struct store *store, const struct digest *subject,
                       const char *type, struct arena *a, struct referrers *ret_referrers,
                       struct err *err) MUST_USE;

/* The list that clients keep under its tag. Zero-initialise; AUTO(kept_list). */
struct kept_list {
	cJSON *doc; /* NULL = there is none */
	char *etag; /* NULL = the registry gives none */
};
void kept_list_done(struct kept_list *list);
int kept_list_read(struct registry *r, const struct digest *subject, struct kept_list *ret_list,
                   struct err *err) MUST_USE;

/* The manifest that was resolved, from memory; NULL when it is another one. Closed before r is. */
struct source *resolve_kept(struct registry *r, const struct descriptor *desc);

/* "repository:NAME:pull,push" and, for mounts, "repository:FROM:pull", in the arena. */
const char *call_scopes(const struct registry *r, const char *actions, const char *mount_from,
                        struct arena *a);

#endif
