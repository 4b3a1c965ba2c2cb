/*
 * What the parts of ecr_registry share. Private to this folder.
 */
#ifndef SLIPWAY_BUILDER_AWS_ECR_REGISTRY_INTERNAL_H
#define SLIPWAY_BUILDER_AWS_ECR_REGISTRY_INTERNAL_H

#include <pthread.h>

#include "builder/aws/ecr_registry.h"

struct kept_token {
	char *region;
	bool is_public, fips;
	struct ecr_token token;
	int64_t renew_ms;
};

/* Its face towards the registry client: the interface, and whose it is. */
struct ecr_provider {
	struct credential_provider provider;
	struct ecr_registry *owner;
};

struct ecr_advisor {
	struct registry_advisor advisor;
	struct ecr_registry *owner;
};

struct ecr_registry {
	struct ecr_registry_opts opts;
	struct ecr_provider provider;
	struct ecr_advisor advisor;
	pthread_mutex_t lock; /* of the tokens; held while one is fetched */
	VEC(struct kept_token) tokens;
	bool bought; /* a token of the session's own was got: its principal is who pushes */
	bool noted;  /* that ECR Public is read without credentials */
};

/* Sets the two interfaces up. */
void ecr_registry_wire(struct ecr_registry *e);

/* credential_provider's get. */
int ecr_registry_get(struct ecr_registry *e, const char *host, bool renew, struct credential *ret,
                     struct err *err);

#endif
