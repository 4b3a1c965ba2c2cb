#include "builder/cli/nettest_run.h"

#include <string.h>

#include "base/interrupt.h"
#include "builder/cli/renderers.h"
#include "builder/spec/spec.h"
#include "k8s/deploy/object_read.h"
#include "k8s/nettest/nettest.h"
#include "k8s/view/explain.h"

enum { DELETE_SECONDS = 120 };

/* The test at work: one MPIJob, as a stage of its own. */
struct test {
	struct kubectl *k;
	const struct fleet *fleet;
	const struct fleet_target *target;
	struct k8s_output out;
	struct stage stage;
	struct apply_opts opts;
	bool started;
};

static void test_done(struct test *t)
{
	cJSON_Delete(t->stage.items);
	k8s_output_done(&t->out);
}

/* ---- which ---- */

static const struct fleet_target *first_target(const struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->n_targets; i++)
		if (nettest_runs_on(&fleet->targets[i]))
			return &fleet->targets[i];
	return NULL;
}

static int choose_target(struct test *t, const char *name, struct err *err)
{
	t->target = name != NULL ? fleet_target_find(t->fleet, name) : first_target(t->fleet);
	if (!fleet_has_job(t->fleet) || !t->fleet->job->network_test.set) {
		err_set(err, ERR_USAGE, "the spec has no job.network_test");
		return err_hint(err, "Add `network_test: {}` to the section job.");
	}
	if (t->target != NULL && nettest_runs_on(t->target))
		return 0;
	if (name == NULL)
		return err_set(err, ERR_USAGE, "no target of the fleet can run the network test");
	err_set(err, ERR_USAGE,
	        t->target == NULL ? "--target: the fleet has no target '%s'"
	                          : "--target: '%s' cannot run the network test, which needs "
	                            "NVIDIA devices, EFA and whole nodes",
	        name);
	return err_hint(err, "`slipway explain` lists the targets.");
}

/* The MPIJob of the target, among those of all. */
static int render(struct test *t, struct err *err)
{
	const char *only[] = {nettest_renderer.name};
	const char *name = nettest_name(t->target, &t->out.arena);

	if (k8s_render(&renderers, t->fleet, &(struct strlist){only, 1}, &t->out, err) != 0)
		return -1;
	t->stage = (struct stage){nettest_renderer.name, cJSON_CreateArray()};
	for (size_t i = 0; i < t->out.n; i++)
		for (size_t k = 0; k < t->out.files[i].n; k++)
			if (strcmp(object_name(t->out.files[i].at[k].doc), name) == 0)
				cJSON_AddItemReferenceToArray(t->stage.items,
				                              t->out.files[i].at[k].doc);
	return 0;
}

/* ---- in the cluster ---- */

static int check_cluster(struct test *t, struct err *err)
{
	struct stage_list stages = {&t->stage, 1, 1};
	AUTO(json) cJSON *resources = NULL;
	struct kubectl_versions versions;

	if (kubectl_versions(t->k, &versions, err) != 0)
		return -1;
	return stages_check_kinds(t->k, &stages, &resources, err);
}

/* One that has ended makes room; one that runs is somebody's. */
static int clear_former(struct test *t, struct err *err)
{
	AUTO(json) cJSON *live = NULL;
	char why[WHY_MAX];

	if (kubectl_look(t->k, t->stage.items, &live, err) != 0)
		return -1;
	const cJSON *former = object_first(live);

	if (former == NULL)
		return 0;
	const char *owner = object_label(former, "slipway/owner");

	if (owner == NULL || strcmp(owner, t->fleet->name) != 0)
		return 0; /* applying says whose it is */
	if (object_readiness(former, why) != NOT_YET)
		return object_delete(t->k, former, &t->opts, err);
	err_set(err, ERR_CONFLICT, "the network test of '%s' is in the cluster already",
	        t->target->name);
	return err_hint(err, "Wait for its end, or end it: `kubectl delete mpijob -n %s %s`.",
	                t->fleet->namespace, object_name(former));
}

static int read_log(struct test *t, struct strbuf *ret, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	const char *const args[] = {
		"logs",
		"-n",
		t->fleet->namespace,
		arena_printf(&a, "job/%s-launcher", nettest_name(t->target, &a)),
		"-c",
		"launcher",
		NULL};
	struct kubectl_reply reply;

	if (kubectl_run(t->k, args, NULL, &reply, err) != 0)
		return err_wrap(err, "read the launcher's log");
	*ret = reply.out;
	strbuf_done(&reply.err_text);
	return 0;
}

/* A test that failed may have said why: its log counts, if there is one. */
static int await_end(struct test *t, struct strbuf *ret_log, struct err *err)
{
	struct err ignored = {0};

	if (stage_await(t->k, &t->stage, &t->opts, err) == 0)
		return read_log(t, ret_log, err);
	if (err->code == ERR_SERVER && read_log(t, ret_log, &ignored) == 0 && ret_log->len > 0)
		return 0;
	return -1;
}

/* Even when a person has had enough of waiting. */
static int take_away(struct test *t, struct err *err)
{
	struct apply_opts opts = t->opts;
	const cJSON *object = t->stage.items->child;
	int rc;

	if (!t->started)
		return 0;
	opts.deadline_ms = t->k->clock->now_ms(t->k->clock) + DELETE_SECONDS * 1000LL;
	interrupt_hold(true);
	rc = object_delete(t->k, object, &opts, err);
	interrupt_hold(false);
	if (rc == 0)
		return 0;
	err_wrap(err, "take the network test away");
	return err_hint(err, "Its nodes go on costing money: `kubectl delete mpijob -n %s %s`.",
	                t->fleet->namespace, object_name(object));
}

static int run_test(struct test *t, const struct nettest_run_options *o, struct strbuf *ret_log,
                    struct err *err)
{
	struct err left = {0};
	struct apply_counts counts;
	int rc;

	if (choose_target(t, o->target, err) != 0 || render(t, err) != 0 ||
	    check_cluster(t, err) != 0 || clear_former(t, err) != 0)
		return -1;
	t->started = !o->keep;
	rc = stage_apply(t->k, &t->stage, &t->opts, &counts, err);
	if (rc != 0 && err->code == ERR_CONFLICT)
		t->started = false; /* nothing was applied, and what is there is another's */
	if (rc == 0)
		rc = await_end(t, ret_log, err);
	if (take_away(t, &left) != 0 && rc == 0) {
		*err = left;
		rc = -1;
	}
	return rc;
}

int nettest_run(struct cluster *cluster, const struct nettest_run_options *o,
                struct nettest_result *ret, struct err *err)
{
	AUTO(test)
	struct test t = {
		.k = &cluster->kubectl.base,
		.fleet = &cluster->spec->fleet,
		.opts = cluster->opts,
	};

	*ret = (struct nettest_result){.log = STRBUF_INIT(NETTEST_LOG_MAX)};
	if (run_test(&t, o, &ret->log, err) != 0) {
		strbuf_done(&ret->log);
		return -1;
	}
	ret->target = t.target;
	ret->floor_gbps = t.fleet->job->network_test.floor_gbps;
	return 0;
}
