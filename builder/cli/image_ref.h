/*
 * Opens whatever a reference on the command line or in the spec names: registry, layout or archive,
 * as a store with a root descriptor. Owns the connections behind it.
 */
#ifndef SLIPWAY_BUILDER_CLI_IMAGE_REF_H
#define SLIPWAY_BUILDER_CLI_IMAGE_REF_H

#include "base/net/http.h"
#include "builder/aws/ecr_registry.h"
#include "builder/cli/command.h"
#include "builder/oci/layout.h"
#include "builder/oci/ref.h"
#include "builder/oci/store.h"
#include "builder/registry/registry.h"

/* The rows of commands that talk to registries. */
#define REMOTE_OPTIONS                                                                             \
	FLAG_OPTION("insecure", 0, insecure,                                                       \
	            "Speak plain http to the registries of this command"),                         \
		TEXT_OPTION("ca", 0, ca, "FILE", "Trust the certificates in this PEM file",        \
	                    .complete = COMPLETE_FILE),                                            \
		TEXT_OPTION("username", 'u', username, "NAME", "User name for the registry"),      \
		FLAG_OPTION("password-stdin", 0, password_stdin,                                   \
	                    "Read the password from standard input"),                              \
		NUMBER_OPTION("retries", 0, retries, "N",                                          \
	                      "Tries per request after the first (default 5)"),                    \
		TEXT_OPTION("profile", 0, profile, "NAME",                                         \
	                    "The AWS profile for ECR, instead of AWS_PROFILE"),                    \
		TEXT_OPTION("ecr-region", 0, ecr_region, "REGION",                                 \
	                    "The registry is ECR in this region, under a name of its own"),        \
		LIST_OPTION("connect-to", 0, connect_to, "HOST:PORT:TO:PORT",                      \
	                    "Connect there instead, as curl does; names are checked as ever")

/* AWS, as far as the command's registries need it. What is wrong with its configuration is told
 * when something of ECR is asked for, and not before. */
struct remote_aws {
	struct aws_outside outside;
	struct aws_session *session; /* NULL: see err */
	struct ecr_registry *ecr;
	struct err err;
};

/* How registries are reached: made once per command from its options. */
struct remote {
	struct http_transport *transport;
	struct credential_provider *credentials;
	struct remote_aws *aws;
	struct progress *progress;
	struct arena *arena; /* of the command */
	bool insecure;
	unsigned jobs, retries;
};

/*
 * --insecure, --ca, --username, --password-stdin, --retries, --jobs. The password given goes to the
 * registry of `reference` (NULL = none) and nowhere else; other hosts get what docker's
 * configuration has for them.
 */
int remote_open(struct cli *cli, const char *reference, struct remote *ret_remote,
                struct err *err) MUST_USE;
void remote_done(struct remote *r);

int remote_registry(const struct remote *r, const struct ref *ref, struct registry **ret_registry,
                    struct err *err) MUST_USE;

/* An open image. Zero-initialise; AUTO(image). */
struct image {
	struct ref ref;
	struct layout *layout;     /* kind layout only */
	struct registry *registry; /* kind registry only */
	struct store *store;
};
void image_done(struct image *image);

/* Parses `text` and opens it; nothing is resolved yet. */
int image_open(const struct remote *remote, const char *text, struct arena *a,
               struct image *ret_image, struct err *err) MUST_USE;

/* The root descriptor: the reference's digest if it has one, else what its tag names. */
int image_root(const struct image *image, struct arena *a, struct descriptor *ret_root,
               struct err *err) MUST_USE;

#endif
