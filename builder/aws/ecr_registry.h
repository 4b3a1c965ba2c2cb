/*
 * ECR seen from the registry client: its credentials, what its failures mean, and what is checked
 * before a push. One object per command; all hosts of ECR are served by it, each in its own region.
 */
#ifndef SLIPWAY_BUILDER_AWS_ECR_REGISTRY_H
#define SLIPWAY_BUILDER_AWS_ECR_REGISTRY_H

#include "builder/aws/ecr.h"
#include "builder/registry/push.h"
#include "builder/registry/registry.h"

struct ecr_registry; /* opaque */

struct ecr_registry_opts {
	struct aws_session *session;   /* borrowed; NULL: why not is in session_err */
	const struct err *session_err; /* told when an ECR host is asked for; borrowed */
	/*
	 * taken over: for hosts that are not ECR's, and for ECR where AWS credentials are not
	 * configured at all
	 */
	struct credential_provider *others;
	struct progress *progress; /* NULL = silent */
	/* A host that stands for ECR under another name, and its region; NULL = none. */
	const char *alias_host, *alias_region;
};

struct ecr_registry *ecr_registry_new(const struct ecr_registry_opts *opts);
void ecr_registry_free(struct ecr_registry *e); /* accepts NULL */

/* Borrowed; live as long as the object. The provider's `close` does nothing. */
struct credential_provider *ecr_registry_credentials(struct ecr_registry *e);
struct registry_advisor *ecr_registry_advisor(struct ecr_registry *e);

/* False when the host is not ECR's. Strings live in the arena. */
bool ecr_registry_host(const struct ecr_registry *e, const char *host, struct arena *a,
                       struct ecr_host *ret_host);

/* The limits of ECR's kinds of registry; NULL for other hosts. */
const struct push_limits *ecr_registry_limits(const struct ecr_registry *e, const char *host);

struct ecr_preflight {
	struct registry *registry;           /* of the target */
	const struct ecr_settings *settings; /* how to create the repository; NULL = never */
	const struct strlist *tags;
	const struct digest *digest; /* what they are to name */
	bool needs_token;            /* nobody typed a password in */
	struct progress *progress;
};

/*
 * Before the first byte is sent: creates the repository where that is wanted, and refuses
 * (ERR_CONFLICT) when a tag that cannot be moved names another image. What the principal may not
 * look up is passed over: the registry will say it.
 */
int ecr_registry_preflight(struct ecr_registry *e, const struct ecr_preflight *p,
                           struct err *err) MUST_USE;

#endif
