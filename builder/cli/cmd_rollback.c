/*
 * slipway rollback: a former run of the fleet's job, brought back as a new run.
 */
#include <string.h>

#include "builder/cli/deploy_diff.h"
#include "builder/cli/deploy_image.h"
#include "builder/cli/deploy_job.h"
#include "k8s/deploy/owned.h"
#include "k8s/deploy/runs.h"
#include "k8s/view/explain.h"

struct rollback_options {
	struct deploy_options deploy; /* what rollback has of it: how the job is placed */
	int64_t to;
	bool list;
};

static const struct option options[] = {
	CLUSTER_OPTIONS(struct rollback_options, deploy.cluster),
	NUMBER_OPTION(struct rollback_options, to, "to", 0, "RUN",
                      "The run to bring back (default: the one before that in the cluster)"),
	FLAG_OPTION(struct rollback_options, list, "list", 0,
                    "Change nothing: list the runs that can be brought back"),
	FLAG_OPTION(struct rollback_options, deploy.diff, "diff", 0,
                    "Change nothing: show each field that would change; exit status 1 if there "
                    "are any"),
	FLAG_OPTION(struct rollback_options, deploy.wait, "wait", 0,
                    "Wait until the job has ended; exit status 8 if it failed"),
	FLAG_OPTION(struct rollback_options, deploy.no_wait, "no-wait", 0,
                    "Return when the job is created, without waiting for its pods"),
	TEXT_OPTION(struct rollback_options, deploy.interval, "interval", 0, "DURATION",
                    "Time between polls of the cluster, as in 30s", .fallback = "5s"),
	REMOTE_OPTIONS(struct rollback_options, deploy.remote),
};

struct rollback {
	struct cli *cli;
	const struct rollback_options *options;
	struct deploy_options wanted; /* a copy of its part of deploy's */
	struct cluster cluster;
	struct deploy_image image;
	struct lease lease;
	struct placement placement;
	cJSON *runs, *resources, *owned, *result;
	const cJSON *row;                 /* of `runs`: what is brought back */
	const struct fleet_target *there; /* whose job is in the cluster, NULL = none */
};

static void rollback_done(struct rollback *b)
{
	deploy_image_done(&b->image);
	cJSON_Delete(b->runs);
	cJSON_Delete(b->resources);
	cJSON_Delete(b->owned);
	cJSON_Delete(b->result);
}

static struct fleet *fleet_of(struct rollback *b)
{
	return &b->cluster.spec->fleet;
}

/* ---- what is there ---- */

static int look_around(struct rollback *b, struct err *err)
{
	struct kubectl *k = &b->lease.base;
	const struct fleet *fleet = fleet_of(b);
	struct stage_list nothing = {0};
	struct kubectl_versions versions;
	const char *namespaces[] = {fleet->namespace};

	if (kubectl_versions(k, &versions, err) != 0 ||
	    runs_read(k, fleet->namespace, fleet->name, &b->runs, err) != 0 ||
	    stages_check_kinds(k, &nothing, &b->resources, err) != 0)
		return -1;
	struct owned_query query = {.owner = b->cluster.opts.owner,
	                            .resources = b->resources,
	                            .namespaces = {namespaces, ARRAY_LEN(namespaces)},
	                            .jobs_only = true};

	if (owned_list(k, &query, &b->owned, NULL, err) != 0)
		return -1;
	b->there = job_find_target(b->owned, fleet);
	return 0;
}

/* The number of the job in the cluster; 0 = there is none, or it has none. */
static int64_t number_there(const struct rollback *b)
{
	return b->there != NULL ? run_number(job_find(b->owned, b->there)) : 0;
}

/* ---- the list ---- */

static void print_row(struct rollback *b, const cJSON *row)
{
	bool there = number_there(b) == runs_number(row);
	const char *since = json_string(row, "since"), *reason = json_string(row, "reason");
	const char *image = json_string(row, "image");

	fprintf(b->cli->out, "%4lld  %-20s  %-10s  %-20s  %s\n", (long long)runs_number(row),
	        since != NULL ? since : "", there ? b->there->name : "",
	        reason != NULL ? reason : "", image != NULL ? image : "");
}

/* The record without the objects, which are many. */
static cJSON *brief(struct rollback *b, const cJSON *row)
{
	cJSON *copy = cJSON_CreateObject(), *targets;

	json_add_int(copy, "run", runs_number(row));
	json_add_string(copy, "since", json_string(row, "since"));
	json_add_string(copy, "reason", json_string(row, "reason"));
	json_add_string(copy, "image", json_string(row, "image"));
	targets = json_add_array(copy, "targets");
	for (const cJSON *t = runs_release(row)->child; t != NULL; t = t->next)
		json_push_string(targets, t->string);
	if (number_there(b) == runs_number(row))
		json_add_string(copy, "in_use", b->there->name);
	return copy;
}

static void list_runs(struct rollback *b)
{
	cJSON *rows = json_add_array(b->result, "runs");

	for (const cJSON *row = b->runs->child; row != NULL; row = row->next)
		json_push(rows, brief(b, row));
	if (cli_json(b->cli)) {
		cli_print_json(b->cli, b->result);
		return;
	}
	if (b->runs->child == NULL) {
		fprintf(b->cli->out, "no run is recorded\n");
		return;
	}
	fprintf(b->cli->out, "%4s  %-20s  %-10s  %-20s  %s\n", "RUN", "SINCE", "IN USE", "REASON",
	        "IMAGE");
	for (const cJSON *row = b->runs->child; row != NULL; row = row->next)
		print_row(b, row);
}

/* ---- which one ---- */

static int tell_unknown(struct rollback *b, struct err *err)
{
	if (b->options->to > 0)
		err_set(err, ERR_NOT_FOUND, "run %lld is not recorded: the last %d runs are kept",
		        (long long)b->options->to, RUNS_KEPT);
	else
		err_set(err, ERR_NOT_FOUND, "there is no run before the one in use");
	return err_hint(err, "`slipway rollback --list` lists the runs that can be brought back.");
}

static int choose_run(struct rollback *b, struct err *err)
{
	int64_t now = number_there(b);

	if (now == 0)
		now = runs_number(runs_last(b->runs));
	b->row =
		b->options->to > 0 ? runs_find(b->runs, b->options->to) : runs_before(b->runs, now);
	return b->row != NULL ? 0 : tell_unknown(b, err);
}

/* The fleet as the run knows it: its image, and the targets that it and the spec both have. */
static int take_targets(struct rollback *b, struct err *err)
{
	struct fleet *fleet = fleet_of(b);
	const char *image = json_string(b->row, "image");
	size_t kept = 0;

	fleet->image = image != NULL ? arena_strdup(&b->cli->arena, image) : NULL;
	if (b->there != NULL && json_get(runs_release(b->row), b->there->name) == NULL) {
		err_set(err, ERR_CONFLICT,
		        "run %lld has no job for target '%s', whose job is in the cluster",
		        (long long)runs_number(b->row), b->there->name);
		return err_hint(err,
		                "`kubectl delete -n %s %s %s` ends it with a checkpoint; then run "
		                "this again.",
		                fleet->namespace, kind_of(job_find(b->owned, b->there))->resource,
		                b->there->job);
	}
	for (size_t i = 0; i < fleet->n_targets; i++) {
		if (json_get(runs_release(b->row), fleet->targets[i].name) == NULL)
			continue;
		if (b->there == &fleet->targets[i])
			b->there = &fleet->targets[kept];
		fleet->targets[kept++] = fleet->targets[i];
	}
	fleet->n_targets = kept;
	if (kept > 0)
		return 0;
	return err_set(err, ERR_NOT_FOUND, "run %lld has a job for none of the fleet's targets",
	               (long long)runs_number(b->row));
}

/* ---- back to it ---- */

/* A job of another scheduler's kind: it is not seen as a former run, and goes first. */
static int end_stranger(struct rollback *b, struct err *err)
{
	const cJSON *live = b->there != NULL ? job_find(b->owned, b->there) : NULL;
	struct stage stage;
	bool same;

	if (live == NULL)
		return 0;
	stage = release_stage(runs_release(b->row), b->there->name);
	same = object_find(stage.items, live) != NULL;
	stage_done(&stage);
	return same ? 0 : object_delete(&b->lease.base, live, &b->cluster.opts, err);
}

static int bring_back(struct rollback *b, struct deploy_job *job, struct err *err)
{
	const struct apply_counts *counts = &b->placement.counts;
	bool same;

	if (lease_take(&b->lease, 0, err) != 0 || end_stranger(b, err) != 0 ||
	    deploy_job_run(job, &b->lease, &b->placement, err) != 0)
		return -1;
	same = counts->created + counts->changed == 0;
	json_add_bool(b->result, "unchanged", same);
	json_add_string(b->result, "target", b->placement.state.target);
	json_add_string(b->result, "image", fleet_of(b)->image);
	progress_rest(b->cli->progress);
	if (cli_json(b->cli)) {
		cli_print_json(b->cli, b->result);
		return 0;
	}
	fprintf(b->cli->out, "job %s: run %lld%s: %s\n", b->placement.state.target,
	        (long long)b->placement.run, same ? ", as it was" : "",
	        fleet_of(b)->image != NULL ? fleet_of(b)->image : "");
	if (!same)
		fprintf(b->cli->out, "the spec has not changed: the next `slipway deploy` starts "
		                     "what it says\n");
	return 0;
}

static int show_diff(struct rollback *b, struct deploy_job *job, struct err *err)
{
	const struct fleet *fleet = fleet_of(b);
	const struct fleet_target *target = b->there != NULL ? b->there : &fleet->targets[0];
	struct apply_counts counts;

	if (deploy_diff_begin(b->cli, job->options, &b->cluster.opts, b->result, err) != 0 ||
	    deploy_job_preview(job, &b->lease.base, target->name, job_find(b->owned, target),
	                       &counts, err) != 0)
		return -1;
	deploy_diff_end(b->cli, b->result, 0);
	return deploy_image_end(&b->image, err);
}

static int run_rollback(struct rollback *b, struct err *err)
{
	struct deploy_job job = {.cli = b->cli,
	                         .options = &b->options->deploy,
	                         .cluster = &b->cluster,
	                         .result = b->result};

	if (deploy_job_check(job.options, err) != 0 ||
	    cluster_open(b->cli, &b->options->deploy.cluster, &b->cluster, err) != 0)
		return -1;
	lease_init(&b->lease, &b->cluster.kubectl.base, fleet_of(b)->namespace, fleet_of(b)->name);
	if (look_around(b, err) != 0)
		return -1;
	if (b->options->list) {
		list_runs(b);
		return 0;
	}
	if (choose_run(b, err) != 0 || take_targets(b, err) != 0)
		return -1;
	job.release = runs_release(b->row);
	job.reason = arena_printf(&b->cli->arena, "rollback to run %lld",
	                          (long long)runs_number(b->row));
	b->wanted = b->options->deploy;
	b->image =
		(struct deploy_image){.cli = b->cli, .options = &b->wanted, .cluster = &b->cluster};
	if (deploy_image_trust_run(&b->image, job.release, b->result, err) != 0)
		return -1;
	return job.options->diff ? show_diff(b, &job, err) : bring_back(b, &job, err);
}

static int cmd_rollback_run(struct cli *cli, struct err *err)
{
	AUTO(rollback)
	struct rollback b = {.cli = cli, .options = cli->options, .result = cJSON_CreateObject()};
	int rc = run_rollback(&b, err);

	lease_release(&b.lease, false);
	return rc == 0 ? 0 : err_wrap(err, "rollback");
}

const struct command cmd_rollback = {
	.name = "rollback",
	.summary = "Bring a former run of the fleet's job back",
	.synopsis = "",
	.details =
		"Each `slipway deploy` that changes the job starts a new run of it; what the last "
		"five were is kept in the cluster. rollback starts one of them again, by "
		"default the one before that in use, as a run with a new number: the job in the "
		"cluster is stopped with a checkpoint, and the former one takes its place on the "
		"same target, or on the next where there is no capacity.\n\n"
		"Pools, plugins and storage stay as they are, and so does the spec: the next "
		"deploy starts what it says. Where the spec has `trust`, it is asked of the "
		"run's images, too. Exit statuses are those of deploy.\n",
	.examples = "slipway rollback --list\tThe runs that can be brought back\n"
		    "slipway rollback --diff\tWhat would change\n"
		    "slipway rollback\tBack to the run before\n"
		    "slipway rollback --to 5 --wait\tBack to run 5, until it has ended\n",
	.options = OPTION_TABLE(struct rollback_options, options),
	.run = cmd_rollback_run,
};
