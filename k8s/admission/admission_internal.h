/*
 * What the policies share; nobody else includes it.
 */
#ifndef SLIPWAY_K8S_ADMISSION_ADMISSION_INTERNAL_H
#define SLIPWAY_K8S_ADMISSION_ADMISSION_INTERNAL_H

#include "k8s/fleet/admission.h"
#include "k8s/object/object.h"

void render_kyverno(const struct fleet *fleet, const struct admission_rule *rule,
                    struct k8s_output *out);
void render_kyverno_clusterpolicy(const struct fleet *fleet, const struct admission_rule *rule,
                                  struct k8s_output *out);
void render_policy_controller(const struct fleet *fleet, const struct admission_rule *rule,
                              struct k8s_output *out);

/* "FLEET-trust-1", or "FLEET-trust-1-SUFFIX". */
const char *policy_name(const struct fleet *fleet, const struct admission_rule *rule,
                        const char *suffix, struct k8s_output *out);

/* The key in KMS' spelling, or in PEM with its hash, under the object's own names for them. */
void policy_key(cJSON *object, const struct admission_key *key, const char *kms, const char *pem,
                const char *hash);

#endif
