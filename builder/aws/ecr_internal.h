/*
 * The one way to call ECR. Private to this folder.
 */
#ifndef SLIPWAY_BUILDER_AWS_ECR_INTERNAL_H
#define SLIPWAY_BUILDER_AWS_ECR_INTERNAL_H

#include "builder/aws/ecr.h"

/* Sends `request` (taken over) as OPERATION; *ret_doc (AUTO(json)) is the reply. ret_failure may be
 * NULL; its strings live in the arena. */
int ecr_call(struct aws_session *s, const struct ecr_host *host, const char *operation,
             cJSON *request, struct arena *a, cJSON **ret_doc, struct aws_failure *ret_failure,
             struct err *err) MUST_USE;

/* A request that names the repository (NULL = none), and the account where it is not the caller's
 * own by nature. */
cJSON *ecr_request(const struct ecr_host *host, const char *repository);

#endif
