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

/* The plain agent brings no exporters. */
static bool with_dcgm(const struct fleet *fleet)
{
	return fleet->has_nvidia &&
	       (fleet->own_dcgm || (with_agent(fleet) && fleet->monitoring->gpu));
}

static bool with_neuron_monitor(const struct fleet *fleet)
{
	return fleet->has_neuron &&
	       (fleet->own_neuron_monitor || (with_agent(fleet) && fleet->monitoring->neuron));
}

static bool with_trainer(const struct fleet *fleet)
{
	return fleet->monitoring->trainer && fleet->job->set && fleet->job->metrics_port > 0;
}

static bool with_alarms(const struct fleet *fleet)
{
	return fleet->monitoring->alarms.set;
}

static const struct {
	bool (*wanted)(const struct fleet *fleet);
	void (*render)(const struct fleet *fleet, struct k8s_output *out);
} parts[] = {
	{with_agent, render_cloudwatch_agent},
	{with_dcgm, render_dcgm_exporter},
	{with_neuron_monitor, render_neuron_monitor},
	{with_trainer, render_trainer_metrics},
	{with_alarms, render_alarms},
};

static void render_monitoring(const struct fleet *fleet, struct k8s_output *out)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (parts[i].wanted(fleet))
			parts[i].render(fleet, out);
}

const struct k8s_renderer monitoring_renderer = {
	.number = "40",
	.name = "monitoring",
	.summary = "exporters, agents and alarms",
	.deployed = true,
	.wanted = fleet_has_monitoring,
	.render = render_monitoring,
};
