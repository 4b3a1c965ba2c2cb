/*
 * The field tables of `monitoring`.
 */
#include "k8s/fleet/fields.h"
#include "k8s/fleet/grammar.h"
#include "k8s/monitoring/monitoring.h"

static const char *const insights_names[] = {
	[INSIGHTS_ADDON] = "addon",
	[INSIGHTS_MANIFESTS] = "manifests",
};
_Static_assert(ARRAY_LEN(insights_names) == INSIGHTS_MODES, "insights_names: a name for each");

static const struct choices insights_modes = CHOICES(insights_names);

static const struct field alarms_rows[] = {
	TEXT_AT(struct alarms_section, topic, "topic", "ARN of the SNS topic that is notified.",
                .check = check_topic_arn),
	FIELD_INT(struct alarms_section, idle_percent, "idle_percent",
                  "Utilisation below which an accelerator is idle.", .min = 1, .max = 99,
                  .fallback = 5),
	FIELD_INT(struct alarms_section, idle_minutes, "idle_minutes",
                  "Minutes after which an idle accelerator is an alarm.", .min = 5, .max = 1440,
                  .fallback = 30),
};

static const struct field_table alarms_fields = FIELD_TABLE(
	struct alarms_section, "alarms", alarms_rows, "CloudWatch alarms for idle accelerators.",
	.has_pos = true, .pos_offset = offsetof(struct alarms_section, at));

/* A key per kind of accelerator: does the fleet bring its own exporter? */
#define EXPORTER_FIELD(kind, key_, doc_)                                                           \
	FIELD_BOOL(struct monitoring_section, exporter[ACCELERATOR_##kind], key_, doc_,            \
	           .pos_offset =                                                                   \
	                   offsetof(struct monitoring_section, exporter_at[ACCELERATOR_##kind])),

static const struct field rows[] = {
	FIELD_BOOL(struct monitoring_section, container_insights, "container_insights",
                   "CloudWatch Container Insights with accelerator metrics.",
                   .pos_offset = offsetof(struct monitoring_section, container_insights_at)),
	FIELD_CHOICE(struct monitoring_section, insights, &insights_modes, "insights",
                     "Container Insights by the managed add-on, or by rendered manifests.",
                     .fallback = INSIGHTS_ADDON),
	/* clang-format off */
	ACCELERATOR_LIST(EXPORTER_FIELD)
	/* clang-format on */
	FIELD_BOOL(struct monitoring_section, trainer, "trainer",
                   "Let Prometheus find the trainer's own metrics.", .fallback = 1),
	FIELD_OBJECT(struct monitoring_section, alarms, struct alarms_section, &alarms_fields,
                     "alarms", "CloudWatch alarms for idle accelerators.",
                     .set_offset = offsetof(struct monitoring_section, alarms.set)),
};

const struct field_table monitoring_fields =
	FIELD_TABLE(struct monitoring_section, "monitoring", rows, "Metrics and alarms.",
                    .has_pos = true, .pos_offset = offsetof(struct monitoring_section, at));
