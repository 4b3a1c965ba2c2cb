#include <string.h>

#include "base/attr.h"
#include "base/text.h"
#include "k8s/render.h"

static bool with_cluster(const struct fleet *fleet)
{
	return fleet->cluster->set;
}

static bool with_job(const struct fleet *fleet)
{
	return fleet->job->set && fleet->n_targets > 0;
}

static bool with_storage(const struct fleet *fleet)
{
	return fleet->storage->fsx.set;
}

static bool with_monitoring(const struct fleet *fleet)
{
	return fleet->monitoring->set && fleet->n_targets > 0;
}

static bool with_volcano(const struct fleet *fleet)
{
	return with_job(fleet) && fleet->job->scheduler == SCHEDULER_VOLCANO;
}

static bool with_nettest(const struct fleet *fleet)
{
	return with_job(fleet) && fleet->job->network_test.set;
}

static bool with_pipeline(const struct fleet *fleet)
{
	return fleet->pipeline != NULL;
}

static bool with_fleet(const struct fleet *fleet)
{
	return fleet->n_targets > 0;
}

/* In the order of applying: what a row needs stands above it. */
const struct k8s_renderer k8s_renderers[] = {
	{"00", "cluster", "the cluster, for eksctl", with_cluster, render_cluster},
	{"01", "account", "Karpenter's roles and queue, for CloudFormation", with_cluster,
         render_account},
	{"05", "namespace", "the namespace and the job's service account", with_cluster,
         render_namespace},
	{"10", "karpenter", "one node pool per target", with_fleet, render_karpenter},
	{"20", "devices", "device plugins, or their drivers for resource claims", with_fleet,
         render_devices},
	{"30", "storage", "FSx for Lustre: driver, file system, claim, preparation", with_storage,
         render_storage},
	{"40", "monitoring", "exporters, agents and alarms", with_monitoring, render_monitoring},
	{"50", "scheduler", "Volcano's configuration and the job's queue", with_volcano,
         render_scheduler},
	{"60", "jobs", "the job, once per target", with_job, render_jobs},
	{"70", "nettest", "an NCCL all-reduce over EFA", with_nettest, render_nettest},
	{"80", "pipeline", "from a commit to a checked image", with_pipeline, render_pipeline},
};
const size_t n_k8s_renderers = ARRAY_LEN(k8s_renderers);

static bool listed(const struct strlist *only, const char *name)
{
	for (size_t i = 0; i < only->n; i++)
		if (strcmp(only->at[i], name) == 0)
			return true;
	return false;
}

static int check_names(const struct strlist *only, struct err *err)
{
	const char *names[ARRAY_LEN(k8s_renderers)];

	for (size_t i = 0; i < n_k8s_renderers; i++)
		names[i] = k8s_renderers[i].name;
	for (size_t i = 0; i < only->n; i++) {
		struct strlist known = {names, n_k8s_renderers};
		const char *near = text_nearest(only->at[i], names, n_k8s_renderers);

		if (listed(&known, only->at[i]))
			continue;
		err_set(err, ERR_USAGE, "--only: nothing is called '%s'", only->at[i]);
		return err_hint(
			err,
			"Known are cluster, account, namespace, karpenter, devices, storage, "
			"monitoring, scheduler, jobs, nettest and pipeline%s%s%s.",
			near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
			near != NULL ? "'?" : "");
	}
	return 0;
}

int k8s_render(const struct fleet *fleet, const struct strlist *only, struct k8s_output *out,
               struct err *err)
{
	bool all = only == NULL || only->n == 0;

	if (!all && check_names(only, err) != 0)
		return -1;
	out->fleet = fleet;
	out->partial = !all;
	for (size_t i = 0; i < n_k8s_renderers; i++) {
		const struct k8s_renderer *r = &k8s_renderers[i];

		if (!r->wanted(fleet) || (!all && !listed(only, r->name)))
			continue;
		out->folder = arena_printf(&out->arena, "%s-%s", r->number, r->name);
		out->component = r->name;
		r->render(fleet, out);
	}
	return 0;
}
