/*
 * The field tables of `monitoring`.
 */
#include "k8s/fleet/fields.h"
#include "k8s/fleet/grammar.h"

static void decode_insights(struct fields_context *c, const struct yaml_node *node, void *member)
{
	static const char *const names[] = {"addon", "manifests"};
	int choice = decode_choice(c, node, "monitoring.insights", names, ARRAY_LEN(names));

	if (choice >= 0)
		*(enum insights_mode *)member = (enum insights_mode)choice;
}

static const struct field alarms_rows[] = {
	TEXT(struct alarms_section, topic, "topic", "SNS topic that is told, by ARN.",
             .check = check_topic_arn),
	FIELD_INT(struct alarms_section, idle_percent, "idle_percent",
                  "Utilisation below which an accelerator is idle.", .min = 1, .max = 99,
                  .fallback = 5, .fallback_doc = "5"),
	FIELD_INT(struct alarms_section, idle_minutes, "idle_minutes",
                  "Minutes after which an idle accelerator is an alarm.", .min = 5, .max = 1440,
                  .fallback = 30, .fallback_doc = "30"),
};

static const struct field_table alarms_fields =
	FIELD_TABLE(struct alarms_section, "alarms", alarms_rows,
                    "CloudWatch alarms for accelerators that cost and do nothing.", .has_pos = true,
                    .pos_offset = offsetof(struct alarms_section, at));

static const struct field rows[] = {
	FIELD_BOOL(struct monitoring_section, container_insights, "container_insights",
                   "CloudWatch Container Insights with accelerator metrics.",
                   .pos_offset = offsetof(struct monitoring_section, container_insights_at)),
	FIELD_CUSTOM(struct monitoring_section, insights, decode_insights,
                     "{\"type\":\"string\",\"enum\":[\"addon\",\"manifests\"]}", "insights",
                     "Container Insights by the managed add-on, or by rendered manifests.",
                     .type_doc = "addon or manifests", .fallback_doc = "addon"),
	FIELD_BOOL(struct monitoring_section, exporter[ACCELERATOR_NVIDIA], "gpu",
                   "Metrics of NVIDIA devices; an exporter of our own without Container Insights.",
                   .pos_offset =
                           offsetof(struct monitoring_section, exporter_at[ACCELERATOR_NVIDIA])),
	FIELD_BOOL(struct monitoring_section, exporter[ACCELERATOR_NEURON], "neuron",
                   "Metrics of Neuron devices; a monitor of our own without Container Insights.",
                   .pos_offset =
                           offsetof(struct monitoring_section, exporter_at[ACCELERATOR_NEURON])),
	FIELD_BOOL(struct monitoring_section, trainer, "trainer",
                   "Let Prometheus find the trainer's own metrics.", .fallback = 1,
                   .fallback_doc = "true"),
	FIELD_OBJECT(struct monitoring_section, alarms, struct alarms_section, &alarms_fields,
                     "alarms", "CloudWatch alarms for idle accelerators.",
                     .set_offset = offsetof(struct monitoring_section, alarms.set)),
};

const struct field_table monitoring_fields =
	FIELD_TABLE(struct monitoring_section, "monitoring", rows, "Metrics and alarms.",
                    .has_pos = true, .pos_offset = offsetof(struct monitoring_section, at));
