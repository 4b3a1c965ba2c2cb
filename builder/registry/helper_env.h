/*
 * The environment of a docker credential helper: the caller's, without secrets that are none of its
 * business. AWS's keys are for the helper that logs in to ECR, and for no other.
 */
#ifndef SLIPWAY_BUILDER_REGISTRY_HELPER_ENV_H
#define SLIPWAY_BUILDER_REGISTRY_HELPER_ENV_H

#include "base/arena.h"

/*
 * "NAME=value" texts, NULL-terminated: those of `env` that the helper docker-credential-NAME may
 * see. The list is the arena's, the texts are borrowed.
 */
const char *const *helper_environment(const char *name, char *const *env, struct arena *a);

#endif
