/*
 * How registries are reached: HTTP, credentials, and AWS as far as ECR needs it. Made once per
 * command.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_REMOTE_H
#define SLIPWAY_BUILDER_IMAGE_REMOTE_H

#include "base/net/http.h"
#include "builder/aws/ecr_registry.h"
#include "builder/oci/ref.h"
#include "builder/registry/registry.h"

/* All of it is borrowed, and but for progress and arena only while remote_open runs. */
struct remote_opts {
	const char *host; /* the registry that password and region are for; NULL = none */
	const char *username, *password; /* for `host` and nowhere else; both NULL = none */
	const char *ecr_region;          /* `host` is ECR in this region, whatever its name */
	const char *profile;             /* of AWS; NULL = as the environment says */
	const char *ca_file;             /* certificates to trust, in PEM; NULL = the usual ones */
	struct strlist connect_to;       /* "HOST:PORT:TO:PORT" */
	bool insecure;                   /* plain http */
	unsigned jobs;                   /* blobs at a time; 0 = default */
	unsigned retries;                /* tries of a request after the first */
	/* As in struct aws_outside: asks for a code of MFA; NULL = there is nobody to ask. */
	int (*prompt)(const struct aws_outside *s, const char *question, char **ret_answer,
	              struct err *err);
	struct progress *progress; /* NULL = silent */
	struct arena *arena;       /* lives as long as the remote */
};

/* AWS, as far as the command's registries need it. An error in its configuration is reported when
 * ECR is first needed, and not before. */
struct remote_aws {
	struct aws_outside outside;
	struct aws_session *session; /* NULL: see err */
	struct ecr_registry *ecr;
	struct err err;
};

struct remote {
	struct http_transport *transport;
	struct credential_provider *credentials;
	struct remote_aws *aws;
	struct progress *progress;
	struct arena *arena;
	bool typed; /* somebody typed a password in */
	bool insecure;
	unsigned jobs, retries;
};

/* The credentials given go to `host`; other hosts get what docker's configuration has for them,
 * and ECR's get AWS's. Zero-initialise; AUTO(remote). */
int remote_open(const struct remote_opts *opts, struct remote *ret_remote,
                struct err *err) MUST_USE;
void remote_done(struct remote *r);

/* A connection to one repository; caller closes it. */
int remote_registry(const struct remote *r, const struct ref *ref, struct registry **ret_registry,
                    struct err *err) MUST_USE;

#endif
