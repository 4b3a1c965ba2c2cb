/*
 * The options of commands that talk to registries.
 */
#ifndef SLIPWAY_BUILDER_CLI_REMOTE_OPTION_H
#define SLIPWAY_BUILDER_CLI_REMOTE_OPTION_H

#include "builder/cli/command.h"
#include "builder/image/remote.h"

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

/* `--create-repository`, for every command that pushes. */
#define CREATE_REPOSITORY_OPTION                                                                   \
	FLAG_OPTION("create-repository", 0, create_repository,                                     \
	            "Create the repository in ECR if it does not exist")

/*
 * Opens the remote as the options say. A password on standard input goes to the registry of
 * `reference` (NULL = none) and nowhere else. ERR_USAGE for options that do not go together.
 */
int remote_from_options(struct cli *cli, const char *reference, struct remote *ret_remote,
                        struct err *err) MUST_USE;

#endif
