/*
 * The field tables of `fleet`: one mapping per target, all of one form.
 */
#include <string.h>

#include "base/text.h"
#include "k8s/fleet/env_fields.h"
#include "k8s/fleet/fields.h"
#include "k8s/fleet/grammar.h"

/* In the order of the CAPACITY_* bits. */
static const struct choices capacities = CHOICE_TEXTS("spot", "on-demand", "reserved");

static void decode_capacity(struct fields_context *c, const struct yaml_node *node, void *member)
{
	unsigned *bits = member;

	if (node->kind != YAML_SEQUENCE || node->n_items == 0) {
		diag_hint(c->diags, fields_problem(c, node, "capacity: expected a list"),
		          "write one or more of spot, on-demand and reserved, as in [spot, "
		          "on-demand]");
		return;
	}
	for (size_t i = 0; i < node->n_items; i++) {
		int choice = fields_choice(c, node->items[i], "capacity", &capacities);

		if (choice >= 0 && (*bits & 1U << choice) != 0)
			diags_error(c->diags, node->items[i]->at, "remove one of the two",
			            "capacity: '%s' appears twice",
			            choices_name(&capacities, (size_t)choice));
		if (choice >= 0)
			*bits |= 1U << choice;
	}
}

/* A count of interfaces, or true / false for all and none. */
static void decode_efa(struct fields_context *c, const struct yaml_node *node, void *member)
{
	int64_t *efa = member;
	bool all;

	if (node->kind == YAML_SCALAR && yaml_is_bool(node, &all)) {
		*efa = all ? EFA_ALL : 0;
		return;
	}
	if (node->kind == YAML_SCALAR && text_int64(node->text, strlen(node->text), efa) &&
	    *efa >= 0 && *efa <= 64)
		return;
	*efa = EFA_AUTO;
	diag_hint(c->diags, fields_problem(c, node, "efa: expected a count of interfaces"),
	          "write true for all of the instance's, false for none, or a number");
}

static const struct field volume_rows[] = {
	CUSTOM_AT(struct volume_section, size_gib, decode_gib, GIB_SCHEMA, "Gi", "size",
                  "Size of the root volume.", .fallback_doc = "200Gi"),
	NUMBER_AT(struct volume_section, iops, "iops", "IOPS of gp3.", .min = 3000, .max = 80000,
                  .fallback_doc = "gp3's own"),
	NUMBER_AT(struct volume_section, throughput, "throughput", "MiB/s of gp3.", .min = 125,
                  .max = 2000, .fallback_doc = "gp3's own"),
	TEXT_AT(struct volume_section, kms_key, "kms_key", "KMS key that encrypts it, by ARN.",
                .check = check_kms_key, .fallback_doc = "the account's"),
};

static const struct field_table volume_fields =
	FIELD_TABLE(struct volume_section, "volume", volume_rows,
                    "The nodes' root volume: gp3, always encrypted.", .shorthand = "size");

static const struct field reservation_rows[] = {
	FIELD_STRINGS(struct reservation_section, ids, "ids", "Capacity reservations, cr-....",
                      .flags = FIELD_LITERAL, .check = check_reservation),
	FIELD_MAP(struct reservation_section, tags, "tags", "Tags that reservations must have.",
                  .flags = FIELD_LITERAL),
	TEXT(struct reservation_section, owner, "owner", "Account that owns them.",
             .check = check_account),
};

static const struct field_table reservation_fields =
	FIELD_TABLE(struct reservation_section, "reservation", reservation_rows,
                    "Which capacity reservations `reserved` means.", .has_pos = true,
                    .pos_offset = offsetof(struct reservation_section, at));

static const struct field ami_rows[] = {
	TEXT(struct ami_section, alias, "alias",
             "Family and version, as in al2023@v20261105; pin it in production.",
             .check = check_ami_alias),
	TEXT(struct ami_section, id, "id", "One AMI, ami-....", .check = check_ami),
	TEXT(struct ami_section, ssm, "ssm", "SSM parameter that holds the AMI's id.",
             .check = check_ssm),
};

static const struct field_table ami_fields = FIELD_TABLE(
	struct ami_section, "ami", ami_rows, "The nodes' machine image: one of these.",
	.has_pos = true, .pos_offset = offsetof(struct ami_section, at), .shorthand = "alias");

static const struct field limits_rows[] = {
	NUMBER_AT(struct limits_section, nodes, "nodes", "Maximum number of nodes.", .min = 1,
                  .max = 10000),
	NUMBER_AT(struct limits_section, devices, "devices", "Maximum number of accelerators.",
                  .min = 1, .max = 1000000),
	NUMBER_AT(struct limits_section, cpu, "cpu", "Maximum number of vCPUs.", .min = 1,
                  .max = 10000000),
	CUSTOM_AT(struct limits_section, memory_gib, decode_gib, GIB_SCHEMA, "Gi", "memory",
                  "Maximum amount of memory."),
};

static const struct field_table limits_fields =
	FIELD_TABLE(struct limits_section, "limits", limits_rows,
                    "What the pool may not exceed; by default what the job needs.", .has_pos = true,
                    .pos_offset = offsetof(struct limits_section, at));

static void check_target(struct fields_context *c, const struct yaml_node *node, void *object)
{
	struct target_section *target = object;

	target->has_efa = node->kind == YAML_MAPPING && yaml_get(node, "efa") != NULL;
	if (!target->has_efa)
		target->efa = EFA_AUTO;
	if (target->capacity == 0)
		target->capacity = CAPACITY_ON_DEMAND;
	if (target->volume.size_gib == 0)
		target->volume.size_gib = 200;
	if (target->ami.set &&
	    (target->ami.alias != NULL) + (target->ami.id != NULL) + (target->ami.ssm != NULL) != 1)
		diag_hint(c->diags,
		          diags_add(c->diags, DIAG_ERROR, target->ami.at,
		                    "ami: one of alias, id and ssm is needed"),
		          "write ami: al2023@v20261105");
}

static const char *const pull_names[] = {
	[PULL_AUTO] = "auto",
	[PULL_PARALLEL] = "parallel",
	[PULL_SERIAL] = "serial",
};
_Static_assert(ARRAY_LEN(pull_names) == PULL_MODES, "pull_names: a name for each");

static const struct choices pull_modes = CHOICES(pull_names);

static const struct field rows[] = {
	NUMBER_AT(struct target_section, weight, "weight",
                  "Order among the targets: the highest comes first.", .min = 1, .max = 100,
                  .fallback = 50),
	TEXT(struct target_section, reason, "reason",
             "Why it may have the weight of another target."),
	CUSTOM_AT(struct target_section, instances, decode_placed, STRINGS_SCHEMA,
                  "list of strings", "instances",
                  "Instance types; a pod is sized for the first, and lands on any that holds it.",
                  .fallback_doc = "every size"),
	CUSTOM_AT(struct target_section, capacity, decode_capacity, STRINGS_SCHEMA,
                  "list of spot, on-demand, reserved", "capacity", "Kinds of capacity.",
                  .fallback_doc = "[on-demand]"),
	FIELD_OBJECT(struct target_section, reservation, struct reservation_section,
                     &reservation_fields, "reservation",
                     "Which capacity reservations `reserved` means.",
                     .set_offset = offsetof(struct target_section, reservation.set)),
	TEXT_AT(struct target_section, zone, "zone", "Availability zone of the pool.",
                .check = check_zone, .fallback_doc = "cluster.zone"),
	NUMBER_AT(struct target_section, devices, "devices", "Accelerators per pod.", .min = 1,
                  .max = 64, .fallback_doc = "all of the first instance"),
	NUMBER_AT(struct target_section, time_slices, "time_slices",
                  "Pods that share each NVIDIA device, in turns and without bounds between their "
                  "memory.",
                  .min = 2, .max = 48, .fallback_doc = "a pod has its devices alone"),
	TEXT_AT(struct target_section, mig, "mig",
                "Profile of the parts that each NVIDIA device is divided into, as in 3g.20gb; a "
                "pod gets one part. NVIDIA's GPU operator divides them.",
                .fallback_doc = "whole devices"),
	CUSTOM_AT(struct target_section, efa, decode_efa, "{\"type\":[\"boolean\",\"integer\"]}",
                  "true, false or a number", "efa", "EFA interfaces per pod.",
                  .fallback_doc = "all, when the job has several nodes"),
	FIELD_BOOL(struct target_section, hugepages, "hugepages",
                   "Request huge pages along with EFA. Karpenter learns of them from a "
                   "NodeOverlay, which is behind a feature gate.",
                   .pos_offset = offsetof(struct target_section, hugepages_at),
                   .fallback_doc = "false"),
	NUMBER_AT(struct target_section, nodes, "nodes", "Nodes of the job on this target.",
                  .min = 1, .max = 1000, .fallback_doc = "job.nodes"),
	FIELD_OBJECT(struct target_section, limits, struct limits_section, &limits_fields, "limits",
                     "What the pool may not exceed.",
                     .set_offset = offsetof(struct target_section, limits.set)),
	FIELD_OBJECT(struct target_section, volume, struct volume_section, &volume_fields, "volume",
                     "The nodes' root volume."),
	FIELD_OBJECT(struct target_section, ami, struct ami_section, &ami_fields, "ami",
                     "The nodes' machine image; by default al2023@latest, whose variant follows "
                     "the accelerator.",
                     .set_offset = offsetof(struct target_section, ami.set)),
	CHOICE_AT(
		struct target_section, pull, &pull_modes, "pull",
		"How nodes fetch an image: several connections and layers at a time, which halves "
		"the time for gigabytes, or one after the other. auto: in parallel where AL2023 or "
		"Bottlerocket can, on nodes of 4 vCPU and more.",
		.fallback = PULL_AUTO),
	TEXT_AT(struct target_section, placement_group, "placement_group",
                "Name of an existing cluster placement group.", .check = check_cluster_name),
	TEXT(struct target_section, expire_after, "expire_after",
             "Age at which nodes are replaced.", .check = check_duration_never,
             .fallback_text = "Never"),
	TEXT(struct target_section, consolidate_after, "consolidate_after",
             "How long an empty node is kept.", .check = check_duration_never,
             .fallback_text = "5m"),
	FIELD_BOOL(struct target_section, taint, "taint",
                   "Taint the nodes, so that pods that do not request the accelerator stay away.",
                   .fallback = 1),
	MAP_AT(struct target_section, labels, "labels", "Labels of the nodes.",
               .check_key = check_node_label_key, .check = check_label_value),
	MAP_AT(struct target_section, annotations, "annotations", "Annotations of the nodes.",
               .check_key = check_label_key, .check = check_annotation_value),
	ENV_ROW(struct target_section, "Environment variables of the job on this target."),
	FIELD_STRINGS(struct target_section, args, "args",
                      "Arguments after job.args on this target.", .flags = FIELD_LITERAL,
                      .check = check_text),
	FIELD_OBJECT(struct target_section, compiler, struct compiler_section, &compiler_fields,
                     "compiler", "Who compiles what the devices run, ahead of the job.",
                     .set_offset = offsetof(struct target_section, compiler.set)),
};

static const struct field_table target_fields =
	FIELD_TABLE(struct target_section, "target", rows,
                    "A kind of machine the job may run on. A number alone is its weight.",
                    .has_pos = true, .pos_offset = offsetof(struct target_section, at),
                    .shorthand = "weight", .check = check_target);

static const struct field failover_rows[] = {
	FIELD_BOOL(struct failover_section, enabled, "enabled",
                   "Move a job that has not begun to the next target when one has no capacity.",
                   .fallback = 1),
	FIELD_BOOL(struct failover_section, reclaimed, "reclaimed",
                   "Move a job on, too, that has lost all its nodes and gets none: its checkpoints "
                   "are where every target sees them. Default: whether the spec has storage.",
                   .set_offset = offsetof(struct failover_section, has_reclaimed)),
	TEXT(struct failover_section, after, "after",
             "How long Karpenter or EC2 must have reported missing capacity: time to try every "
             "instance type, zone and kind of capacity of the pool.",
             .check = check_duration, .fallback_text = "3m"),
	TEXT(struct failover_section, unschedulable, "unschedulable",
             "How long pods may wait without a node being made for them, whatever the reason.",
             .check = check_duration, .fallback_text = "10m"),
	TEXT(struct failover_section, boot, "boot",
             "How long a node may take to become ready, and a pod on it to start.",
             .check = check_duration, .fallback_text = "20m"),
	TEXT(struct failover_section, backoff, "backoff",
             "First pause of --keep-trying after all targets; it doubles up to 32 times this.",
             .check = check_duration, .fallback_text = "1m"),
	TEXT_AT(struct failover_section, image, "image",
                "Image with slipway and kubectl, by digest: what `slipway deploy --in-cluster` "
                "runs.",
                .check = check_image_ref),
};

static const struct field_table failover_fields =
	FIELD_TABLE(struct failover_section, "failover", failover_rows,
                    "When `slipway deploy` gives up on a target and takes the next one by weight.");

static void check_fleet(struct fields_context *c, const struct yaml_node *node, void *object UNUSED)
{
	if (node->kind == YAML_MAPPING &&
	    node->n_pairs == (size_t)(yaml_get(node, "failover") != NULL))
		diag_hint(c->diags, fields_problem(c, node, "fleet: no target"),
		          "name at least one of trn1, trn2, p4d, p5, g5, g6 and g5g");
}

#define TARGET(id, name_, doc_)                                                                    \
	FIELD_OBJECT(struct fleet_section, target[FLEET_TARGET_##id], struct target_section,       \
	             &target_fields, name_, doc_,                                                  \
	             .set_offset = offsetof(struct fleet_section, has[FLEET_TARGET_##id])),

/* clang-format off */
static const struct field fleet_rows[] = {
	FLEET_TARGET_LIST(TARGET)
	FIELD_OBJECT(struct fleet_section, failover, struct failover_section, &failover_fields,
                     "failover",
                     "When `slipway deploy` gives up on a target and takes the next one."),
};
/* clang-format on */

/* What belongs one level deeper, below the name of a target. */
static const struct field_habit fleet_habits[] = {
	{"instances", "a target has them: write `g5: {instances: [g5.12xlarge]}`"},
	{"capacity", "a target has it: write `g5: {capacity: [spot, on-demand]}`"},
	{"gpu", "write the family, as in `g5: {}`; `slipway instances` lists the machines"},
	{"cpu", "the fleet has machines with accelerators: `slipway instances` lists them"},
	{"", "write a key for each target, as in `g5: {}`"},
	{NULL, NULL},
};

const struct field_table fleet_fields =
	FIELD_TABLE(struct fleet_section, "fleet", fleet_rows,
                    "The machines the same job may run on; the highest weight comes first.",
                    .has_pos = true, .habits = fleet_habits,
                    .pos_offset = offsetof(struct fleet_section, at), .check = check_fleet);
