/*
 * Rows for the environment of containers, which several sections have. For *_fields.c only.
 */
#ifndef SLIPWAY_K8S_FLEET_ENV_FIELDS_H
#define SLIPWAY_K8S_FLEET_ENV_FIELDS_H

#include "k8s/fleet/fields.h"
#include "k8s/fleet/grammar.h"
#include "k8s/fleet/sections.h"

extern const struct field_table env_variable_fields, env_source_fields;

enum { ENV_MAX = 4096, ENV_SOURCES_MAX = 64 };

/* The struct has a struct env_list `env`; and env_from with n_env_from. */
#define ENV_ROW(object, ...)                                                                       \
	FIELD_NAMED(object, env.at, env.n, struct env_variable, name, &env_variable_fields, "env", \
	            __VA_ARGS__, .check_key = check_env_name, .max = ENV_MAX)
#define ENV_FROM_ROW(object, ...)                                                                  \
	FIELD_OBJECTS(object, env_from, n_env_from, struct env_source, &env_source_fields,         \
	              "env_from", __VA_ARGS__, .max = ENV_SOURCES_MAX)

#endif
