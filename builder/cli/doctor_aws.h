/*
 * The part of `slipway doctor` that looks at AWS: whose credentials these are, where ECR is,
 * whether it accepts them.
 */
#ifndef SLIPWAY_BUILDER_CLI_DOCTOR_AWS_H
#define SLIPWAY_BUILDER_CLI_DOCTOR_AWS_H

#include "builder/cli/command.h"
#include "builder/image/remote.h"

struct doctor {
	struct cli *cli;
	cJSON *doc;
};

/* Into the document under `key` ("ecr.token": member of an object), and as a line of text. */
void doctor_say(const struct doctor *d, const char *key, const char *value);
void doctor_say_bool(const struct doctor *d, const char *key, bool value);
void doctor_say_int(const struct doctor *d, const char *key, int64_t value);

/* Credentials and region only, without asking ECR: trouble is shown, not an error. */
void doctor_aws_local(const struct doctor *d, const struct remote *remote);

/*
 * All of it for one ECR registry: provider, principal, account, region, endpoint, token, clock.
 * ERR_NETWORK, or ERR_DENIED for everything else, when no token was obtained.
 */
int doctor_ecr(const struct doctor *d, const struct remote *remote, const struct ecr_host *host,
               struct err *err) MUST_USE;

#endif
