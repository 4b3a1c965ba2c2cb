/*
 * Alarms for accelerators that cost and do nothing, as CloudFormation: utilisation of the job's
 * pods as Container Insights measures it. No pods, no data, no alarm.
 */
#include "base/attr.h"
#include "k8s/monitoring/monitoring.h"

enum { PERIOD_SECONDS = 300 };

static void add_dimension(cJSON *dimensions, const char *name, const char *value)
{
	cJSON *dimension = k8s_push_object(dimensions);

	json_add_string(dimension, "Name", name);
	json_add_string(dimension, "Value", value);
}

static void add_alarm(const struct fleet *fleet, const struct accelerator *accelerator,
                      cJSON *resources)
{
	const struct alarms_section *alarms = &fleet->monitoring->alarms;
	int64_t periods = (alarms->idle_minutes * 60 + PERIOD_SECONDS - 1) / PERIOD_SECONDS;
	cJSON *resource = json_add_object(resources, accelerator->idle_alarm);

	json_add_string(resource, "Type", "AWS::CloudWatch::Alarm");
	cJSON *p = json_add_object(resource, "Properties");

	k8s_addf(p, "AlarmDescription", "%s devices of %s were below %lld %% for %lld minutes",
	         accelerator->title, fleet->name, (long long)alarms->idle_percent,
	         (long long)alarms->idle_minutes);
	json_add_string(p, "Namespace", "ContainerInsights");
	json_add_string(p, "MetricName", accelerator->idle_metric);
	cJSON *dimensions = json_add_array(p, "Dimensions");

	add_dimension(dimensions, "ClusterName", fleet->cluster_name);
	add_dimension(dimensions, "Namespace", fleet->namespace);
	json_add_string(p, "Statistic", "Average");
	json_add_int(p, "Period", PERIOD_SECONDS);
	json_add_int(p, "EvaluationPeriods", periods);
	json_add_int(p, "Threshold", alarms->idle_percent);
	json_add_string(p, "ComparisonOperator", "LessThanThreshold");
	json_add_string(p, "TreatMissingData", "notBreaching");
	if (alarms->topic != NULL)
		json_push_string(json_add_array(p, "AlarmActions"), alarms->topic);
}

void render_alarms(const struct fleet *fleet, struct k8s_output *out)
{
	k8s_file(out, "alarms.yaml",
	         "Alarms for idle accelerators, for CloudFormation:\n"
	         "  aws cloudformation deploy --template-file alarms.yaml --stack-name NAME");
	cJSON *template = k8s_add_foreign(out);

	json_add_string(template, "AWSTemplateFormatVersion", "2010-09-09");
	k8s_addf(template, "Description", "Idle accelerators of the training fleet %s",
	         fleet->name);
	cJSON *resources = json_add_object(template, "Resources");

	for (size_t i = 0; i < ACCELERATORS; i++)
		if (accelerators[i].idle_alarm != NULL &&
		    fleet_has_accelerator(fleet, accelerators[i].kind))
			add_alarm(fleet, &accelerators[i], resources);
}
