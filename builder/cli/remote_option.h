/*
 * The options of commands that talk to registries.
 */
#ifndef SLIPWAY_BUILDER_CLI_REMOTE_OPTION_H
#define SLIPWAY_BUILDER_CLI_REMOTE_OPTION_H

#include "builder/cli/command.h"
#include "builder/image/remote.h"

struct remote_options {
	bool insecure;
	const char *ca, *username;
	bool password_stdin;
	int64_t retries;
	const char *profile, *ecr_region;
	struct strlist connect_to;
};
#define REMOTE_OPTIONS(object, member)                                                             \
	REMOTE_OPTIONS_IN(OPTION_MEMBER(object, member, struct remote_options))
#define REMOTE_OPTIONS_IN(base)                                                                    \
	FLAG_OPTION_IN(base, struct remote_options, insecure, "insecure", 0,                       \
	               "Use plain HTTP for the registries of this command"),                       \
		TEXT_OPTION_IN(base, struct remote_options, ca, "ca", 0, "FILE",                   \
	                       "Trust the certificates in this PEM file",                          \
	                       .complete = COMPLETE_FILE),                                         \
		TEXT_OPTION_IN(base, struct remote_options, username, "username", 'u', "NAME",     \
	                       "User name for the registry"),                                      \
		FLAG_OPTION_IN(base, struct remote_options, password_stdin, "password-stdin", 0,   \
	                       "Read the password from standard input"),                           \
		NUMBER_OPTION_IN(base, struct remote_options, retries, "retries", 0, "N",          \
	                         "Retries per request; 0 = none", .fallback = "5"),                \
		TEXT_OPTION_IN(base, struct remote_options, profile, "profile", 0, "NAME",         \
	                       "The AWS profile for ECR, instead of AWS_PROFILE"),                 \
		ECR_REGION_OPTION_IN(base, struct remote_options, ecr_region),                     \
		LIST_OPTION_IN(base, struct remote_options, connect_to, "connect-to", 0,           \
	                       "HOST:PORT:TO:PORT",                                                \
	                       "Connect to TO:PORT instead, as curl does; certificates are "       \
	                       "checked for HOST")
#define ECR_REGION_OPTION(object, member) ECR_REGION_OPTION_IN(0, object, member)
#define ECR_REGION_OPTION_IN(base, object, member)                                                 \
	TEXT_OPTION_IN(base, object, member, "ecr-region", 0, "REGION",                            \
	               "Treat the registry as ECR in this region, under its own name")

/* For every command that pushes. */
#define CREATE_REPOSITORY_OPTION(object, member)                                                   \
	FLAG_OPTION(object, member, "create-repository", 0,                                        \
	            "Create the repository in ECR if it does not exist")

/* For every command that unpacks layers (builder/oci/budget.h). */
#define MAX_UNPACKED_OPTION(object, member)                                                        \
	SIZE_OPTION(object, member, "max-unpacked",                                                \
	            "Most bytes that the layers may unpack to (default: by their size)")

/*
 * Opens the remote as the options say, for `jobs` blobs at a time (0 = the default). A password on
 * standard input goes to the registry of `reference` (NULL = none) and nowhere else. ERR_USAGE for
 * options that do not go together.
 */
int remote_from_options(struct cli *cli, const struct remote_options *o, int64_t jobs,
                        const char *reference, struct remote *ret_remote, struct err *err) MUST_USE;

#endif
