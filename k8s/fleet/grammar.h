/*
 * The grammar of single texts in the fleet's sections: checks for the field tables. Each returns
 * what is wrong, or NULL, and a hint (see field_check in base/doc/fields.h). Rules are Kubernetes'
 * and AWS's own.
 */
#ifndef SLIPWAY_K8S_FLEET_GRAMMAR_H
#define SLIPWAY_K8S_FLEET_GRAMMAR_H

#include "base/doc/fields.h"
#include "k8s/fleet/sections.h"

const char *check_dns_label(const char *text, const char **ret_hint);     /* RFC 1123, 63 */
const char *check_dns_subdomain(const char *text, const char **ret_hint); /* RFC 1123, 253 */
const char *check_cluster_name(const char *text, const char **ret_hint);  /* EKS, 100 */
const char *check_label_key(const char *text, const char **ret_hint);
const char *check_label_value(const char *text, const char **ret_hint);
const char *check_node_label_key(const char *text, const char **ret_hint);   /* Karpenter's rules */
const char *check_object_label_key(const char *text, const char **ret_hint); /* not ours */
const char *check_text(const char *text, const char **ret_hint); /* for a pod: env, args */
const char *check_annotation_value(const char *text, const char **ret_hint);
const char *check_env_name(const char *text, const char **ret_hint);
const char *check_region(const char *text, const char **ret_hint);
const char *check_zone(const char *text, const char **ret_hint);
const char *check_account(const char *text, const char **ret_hint);
const char *check_role_name(const char *text, const char **ret_hint);
const char *check_role_arn(const char *text, const char **ret_hint);
const char *check_topic_arn(const char *text, const char **ret_hint);
const char *check_kms_key(const char *text, const char **ret_hint);
const char *check_subnet(const char *text, const char **ret_hint);
const char *check_security_group(const char *text, const char **ret_hint);
const char *check_reservation(const char *text, const char **ret_hint);
const char *check_file_system(const char *text, const char **ret_hint);
const char *check_ami(const char *text, const char **ret_hint);
const char *check_ssm(const char *text, const char **ret_hint);
const char *check_ami_alias(const char *text, const char **ret_hint);
const char *check_tag_key(const char *text, const char **ret_hint);
const char *check_tag_value(const char *text, const char **ret_hint);
const char *check_s3(const char *text, const char **ret_hint);
const char *check_path(const char *text, const char **ret_hint);
const char *check_duration(const char *text, const char **ret_hint);       /* "5m", "720h" */
const char *check_duration_never(const char *text, const char **ret_hint); /* or "Never" */
const char *check_image_ref(const char *text, const char **ret_hint);
const char *check_digest(const char *text, const char **ret_hint);
const char *check_kubernetes_version(const char *text, const char **ret_hint);
const char *check_karpenter(const char *text, const char **ret_hint);

/* "1200Gi", "2Ti" as GiB; false when it is neither or overflows. */
bool parse_gib(const char *text, int64_t *ret_gib);

/* "1.35" as 35, "1.14.1" as 1 and 14; false when it is not a version. */
bool parse_version(const char *text, int *ret_major, int *ret_minor);

/* ---- decoders for FIELD_CUSTOM ---- */

/* member: struct placed_list. The grammar of the entries is checked by the section. */
void decode_placed(struct fields_context *c, const struct yaml_node *node, void *member);
/* member: int64_t: "500m" or "2" as milli-CPU; "512Mi" or "2Gi" as MiB. */
void decode_cpu(struct fields_context *c, const struct yaml_node *node, void *member);
void decode_mib(struct fields_context *c, const struct yaml_node *node, void *member);
/* member: int64_t, GiB. */
void decode_gib(struct fields_context *c, const struct yaml_node *node, void *member);

/* Checks every entry of a placed list by `check`; `what` is its key path. */
void check_placed(struct fields_context *c, const struct placed_list *list, const char *what,
                  field_check check);

#endif
