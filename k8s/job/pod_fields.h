/*
 * The field tables of what a job's pods have beside its own container. For *_fields.c only.
 */
#ifndef SLIPWAY_K8S_JOB_POD_FIELDS_H
#define SLIPWAY_K8S_JOB_POD_FIELDS_H

#include "k8s/fleet/sections.h"

extern const struct field_table job_volume_fields, job_container_fields, job_toleration_fields;

enum { POD_VOLUMES_MAX = 64, POD_CONTAINERS_MAX = 16, POD_TOLERATIONS_MAX = 64 };

/* member: const char *: why a rule is not kept. `true` and the like give no reason. */
void decode_reason(struct fields_context *c, const struct yaml_node *node, void *member);

/* Of struct toleration: the first is none. */
extern const struct choices toleration_effects;

#endif
