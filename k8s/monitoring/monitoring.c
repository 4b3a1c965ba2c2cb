/*
 * 40-monitoring: the exporters that the fleet needs and nobody else brings. The Container Insights
 * add-on comes with exporters of its own for both vendors; a second one would double the load, and
 * two Neuron monitors disturb each other.
 */
#include "k8s/monitoring/monitoring.h"

#include "base/attr.h"

bool insights_as(const struct fleet *fleet, enum insights_mode mode)
{
	return fleet->monitoring->container_insights && fleet->monitoring->insights == mode;
}

static bool with_agent(const struct fleet *fleet)
{
	return insights_as(fleet, INSIGHTS_MANIFESTS);
}

static bool with_trainer(const struct fleet *fleet)
{
	return fleet->monitoring->trainer && fleet->job->set && fleet->job->metrics_port > 0;
}

static const struct {
	enum accelerator_kind kind;
	void (*render)(const struct fleet *fleet, struct k8s_output *out);
} exporters[] = {
	{ACCELERATOR_NVIDIA, render_dcgm_exporter},
	{ACCELERATOR_NEURON, render_neuron_monitor},
};

/* The plain agent brings no exporters. */
static bool with_exporter(const struct fleet *fleet, enum accelerator_kind kind)
{
	return fleet_has_accelerator(fleet, kind) &&
	       (fleet->own_exporter[kind] ||
	        (with_agent(fleet) && fleet->monitoring->exporter[kind]));
}

static void render_monitoring(const struct fleet *fleet, struct k8s_output *out)
{
	if (with_agent(fleet))
		render_cloudwatch_agent(fleet, out);
	for (size_t i = 0; i < ARRAY_LEN(exporters); i++)
		if (with_exporter(fleet, exporters[i].kind))
			exporters[i].render(fleet, out);
	if (with_trainer(fleet))
		render_trainer_metrics(fleet, out);
	if (fleet->monitoring->alarms.set)
		render_alarms(fleet, out);
}

const struct k8s_renderer monitoring_renderer = {
	.number = "40",
	.name = "monitoring",
	.summary = "exporters, agents and alarms",
	.deployed = true,
	.wanted = fleet_has_monitoring,
	.render = render_monitoring,
};
