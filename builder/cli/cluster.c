#include "builder/cli/cluster.h"

enum { TIMEOUT_SECONDS = 1800 };

int cluster_open(struct cli *cli, const struct cluster_options *o, struct cluster *ret,
                 struct err *err)
{
	struct clock *clock = clock_system();
	int64_t seconds = o->timeout > 0 ? o->timeout : TIMEOUT_SECONDS;

	*ret = (struct cluster){0};
	if (spec_from_options(cli, &o->spec, &ret->spec, err) != 0)
		return -1;
	if (!ret->spec->sections.cluster.set) {
		err_set(err, ERR_USAGE, "'%s' has no cluster", ret->spec->file);
		return err_hint(err, "Add the sections cluster and fleet.");
	}
	kubectl_exec_init(&ret->kubectl, clock, cli->progress);
	ret->kubectl.context = o->context;
	ret->kubectl.kubeconfig = o->kubeconfig;
	ret->opts = (struct apply_opts){
		.owner = ret->spec->fleet.name,
		.deadline_ms = clock->now_ms(clock) + seconds * 1000,
	};
	return 0;
}

void cluster_outlast(struct cluster *cluster)
{
	struct kubectl *k = &cluster->kubectl.base;

	k->patience->window_ms = cluster->opts.deadline_ms - k->clock->now_ms(k->clock);
}
