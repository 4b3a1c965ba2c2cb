/*
 * slipway deploy: the spec's fleet into a cluster, stage by stage, the job last.
 */
#include <string.h>

#include "base/text.h"
#include "builder/cli/deploy_cluster.h"
#include "builder/cli/deploy_diff.h"
#include "builder/cli/deploy_image.h"
#include "builder/cli/deploy_job.h"
#include "builder/cli/epoch.h"
#include "builder/cli/renderers.h"
#include "k8s/cluster/cluster.h"
#include "k8s/deploy/compiling.h"
#include "k8s/deploy/found.h"
#include "k8s/deploy/owned.h"
#include "k8s/deploy/shared.h"
#include "k8s/deploy/volcano.h"
#include "k8s/job/compile.h"
#include "k8s/view/explain.h"

static const char *const dry_run_choices[] = {"client", "server", NULL};

static const struct option options[] = {
	CLUSTER_OPTIONS(struct deploy_options, cluster),
	TEXT_OPTION(struct deploy_options, job, "job", 0, "TARGET",
                    "Target to run on (default: the one whose job is in the cluster, else the "
                    "highest weight)"),
	TEXT_OPTION(struct deploy_options, image_digest, "image-digest", 0, "DIGEST",
                    "Deploy this image digest instead of resolving the tag at the registry"),
	TEXT_OPTION(struct deploy_options, dry_run, "dry-run", 0, "client|server",
                    "Change nothing: show the plan, or have the API server validate every object",
                    .complete = COMPLETE_CHOICES, .choices = dry_run_choices),
	FLAG_OPTION(struct deploy_options, diff, "diff", 0,
                    "Change nothing: show each field that would change; exit status 1 if there "
                    "are any"),
	FLAG_OPTION(struct deploy_options, force_conflicts, "force-conflicts", 0,
                    "Take over fields that another field manager owns"),
	FLAG_OPTION(struct deploy_options, keep_trying, "keep-trying", 0,
                    "When no target has capacity, pause and try all of them again, without limit"),
	FLAG_OPTION(struct deploy_options, no_failover, "no-failover", 0,
                    "Stay on the first target, even without capacity"),
	FLAG_OPTION(struct deploy_options, wait, "wait", 0,
                    "Wait until the job has ended; exit status 8 if it failed"),
	FLAG_OPTION(struct deploy_options, no_wait, "no-wait", 0,
                    "Return when the job is created, without waiting for its pods"),
	FLAG_OPTION(struct deploy_options, in_cluster, "in-cluster", 0,
                    "Let a Job in the cluster place and watch the training job; return at once"),
	FLAG_OPTION(struct deploy_options, job_only, "job-only", 0,
                    "Deploy the job only: pools, plugins and storage are already deployed"),
	TEXT_OPTION(struct deploy_options, interval, "interval", 0, "DURATION",
                    "Least time between two looks at the cluster; the time between polls where it "
                    "cannot be watched",
                    .fallback = "5s"),
	REMOTE_OPTIONS(struct deploy_options, remote),
};

struct deploy {
	struct cli *cli;
	struct deploy_options *options; /* a copy: --set gains the image's digest */
	struct cluster cluster;
	struct deploy_image image;
	struct lease lease; /* its base makes the calls to the cluster */
	struct placement placement;
	struct k8s_output out;
	cJSON *release; /* the jobs of all targets */
	cJSON *ahead;   /* what is compiled before them */
	struct stage_list stages;
	cJSON *resources, *owned;
	const char *target; /* "" without a job */
	struct apply_counts total;
	size_t pruned;
	cJSON *result;
};

static void deploy_done(struct deploy *d)
{
	deploy_image_done(&d->image);
	stage_list_done(&d->stages);
	k8s_output_done(&d->out);
	cJSON_Delete(d->release);
	cJSON_Delete(d->ahead);
	cJSON_Delete(d->resources);
	cJSON_Delete(d->owned);
	cJSON_Delete(d->result);
}

static bool in_mode(const struct deploy *d, const char *mode)
{
	return d->options->dry_run != NULL && strcmp(d->options->dry_run, mode) == 0;
}

/* ---- whose job ---- */

/* By weight; "" in a fleet without targets. */
static const char *first_target(const struct fleet *fleet)
{
	return fleet->targets != NULL && fleet->n_targets > 0 ? fleet->targets[0].name : "";
}

static int choose_target(struct deploy *d, struct err *err)
{
	const struct fleet *fleet = &d->cluster.spec->fleet;
	const struct fleet_target *there = job_find_target(d->owned, fleet);
	const char *wanted = d->options->job;

	d->target = there != NULL ? there->name : first_target(fleet);
	if (wanted == NULL)
		return 0;
	if (fleet_target_find(fleet, wanted) == NULL) {
		err_set(err, ERR_USAGE, "--job: the fleet has no target '%s'", wanted);
		return err_hint(err, "`slipway explain` lists the targets in their order.");
	}
	if (there != NULL && strcmp(there->name, wanted) != 0) {
		err_set(err, ERR_CONFLICT,
		        "the job of '%s' is in the cluster; --job does not move a job "
		        "that may run",
		        there->name);
		return err_hint(err,
		                "`kubectl delete -n %s %s %s` ends it with a checkpoint; then run "
		                "this again.",
		                fleet->namespace, kind_of(job_find(d->owned, there))->resource,
		                there->job);
	}
	d->target = wanted;
	return 0;
}

/* ---- what is said ---- */

static void tell_stage(struct deploy *d, const struct stage *stage, const struct apply_counts *c)
{
	cJSON *row = cJSON_CreateObject();

	json_add_string(row, "name", stage->name);
	json_add_int(row, "created", (int64_t)c->created);
	json_add_int(row, "changed", (int64_t)c->changed);
	json_add_int(row, "unchanged", (int64_t)c->unchanged);
	json_push(cJSON_GetObjectItemCaseSensitive(d->result, "stages"), row);
	d->total.created += c->created;
	d->total.changed += c->changed;
	if (cli_json(d->cli) || d->options->diff || d->cli->live)
		return;
	fprintf(d->cli->out, "%-11s %zu created, %zu changed, %zu unchanged%s\n", stage->name,
	        c->created, c->changed, c->unchanged,
	        c->left > 0 ? "; the namespace is not the fleet's and is left unchanged" : "");
	fflush(d->cli->out);
}

/* What others have installed already is used as it is. */
static int use_found(struct deploy *d, struct err *err)
{
	cJSON *used = json_add_array(d->result, "used");

	if (volcano_check(&d->lease.base, &d->cluster.spec->fleet, err) != 0)
		return -1;
	if (stages_use_found(&d->lease.base, &d->cluster.spec->fleet, &d->stages, used, err) != 0)
		return -1;
	for (const cJSON *row = used->child; row != NULL; row = row->next) {
		const char *namespace = json_string(row, "namespace");

		if (!cli_json(d->cli) && !d->options->diff && !d->cli->live)
			fprintf(d->cli->out,
			        "%-11s %s %s%s%s: installed by others, used as it is\n", "uses",
			        json_string(row, "kind"), json_string(row, "name"),
			        namespace != NULL ? " in " : "",
			        namespace != NULL ? namespace : "");
	}
	return 0;
}

/* What is to come, where progress is a table. */
static void tell_pending(struct deploy *d)
{
	for (size_t i = 0; i < d->stages.n; i++)
		progress_stage(d->cli->progress, d->stages.at[i].name, "pending", "%d objects",
		               cJSON_GetArraySize(d->stages.at[i].items));
}

static void tell_plan(struct deploy *d)
{
	for (size_t i = 0; i < d->stages.n; i++) {
		const struct stage *stage = &d->stages.at[i];

		for (const cJSON *o = stage->items->child; o != NULL; o = o->next) {
			cJSON *row = cJSON_CreateObject();

			json_add_string(row, "stage", stage->name);
			json_add_string(row, "kind", json_string(o, "kind"));
			json_add_string(row, "name", object_name(o));
			json_push(cJSON_GetObjectItemCaseSensitive(d->result, "stages"), row);
			if (!cli_json(d->cli))
				fprintf(d->cli->out, "%-11s %s %s\n", stage->name,
				        json_string(o, "kind"), object_name(o));
		}
	}
}

/* ---- what has left the spec ---- */

static bool is_planned(const struct deploy *d, const cJSON *object)
{
	for (size_t i = 0; i < d->stages.n; i++)
		if (object_find(d->stages.at[i].items, object) != NULL)
			return true;
	return false;
}

/* Compiled for a target that the job has left. */
static bool is_ahead(const struct deploy *d, const cJSON *object)
{
	for (const cJSON *list = d->ahead->child; list != NULL; list = list->next)
		if (object_find(list, object) != NULL)
			return true;
	return false;
}

/* Data, and what deploy does not apply itself (the network test), are not its own to remove. */
static bool prunable(const struct deploy *d, const cJSON *object)
{
	const char *component = object_component(object);
	const struct k8s_renderer *row =
		component != NULL ? k8s_renderer_find(&renderers, component) : NULL;
	enum leave_order leave = kind_of(object)->leave;

	if (leave == LEAVE_CLAIM || leave == LEAVE_VOLUME || leave == LEAVE_NAMESPACE ||
	    is_deploys_own(object))
		return false;
	if (component == NULL || (row != NULL && !row->deployed))
		return false;
	return !is_planned(d, object) && !is_ahead(d, object);
}

static void tell_pruned(const struct deploy *d, const cJSON *o)
{
	bool stays = shared_others(o, d->cluster.opts.owner, NULL) > 0;

	fprintf(d->cli->out, "%-11s %s %s is no longer in the spec: %s%s\n", "prune",
	        json_string(o, "kind"), object_name(o), d->cluster.opts.dry_run ? "would be " : "",
	        stays ? "released" : "deleted");
}

static int prune_objects(struct deploy *d, struct err *err)
{
	bool dry_run = d->cluster.opts.dry_run;
	cJSON *list = json_add_array(d->result, "pruned");

	for (const cJSON *o = d->owned != NULL ? d->owned->child : NULL; o != NULL; o = o->next) {
		if (!prunable(d, o))
			continue;
		if (!dry_run && object_delete(&d->lease.base, o, &d->cluster.opts, err) != 0)
			return err_wrap(err, "prune");
		d->pruned++;
		progress_rest(d->cli->progress);
		json_push_string(list, object_name(o));
		if (!cli_json(d->cli))
			tell_pruned(d, o);
	}
	return 0;
}

/* ---- the order of it all ---- */

/* What may not be listed is not pruned. */
static int find_owned(struct deploy *d, struct err *err)
{
	AUTO(strbuf) struct strbuf kinds = STRBUF_INIT(8192);
	AUTO(json) cJSON *unseen = NULL;
	struct owned_query query = {
		.owner = d->cluster.opts.owner,
		.resources = d->resources,
		.namespaces = owned_namespaces(&d->cluster.spec->fleet, &d->out, &d->cli->arena),
	};

	if (owned_list(&d->lease.base, &query, &d->owned, &unseen, err) != 0)
		return -1;
	owned_tell_unseen(unseen, &kinds);
	if (kinds.len > 0)
		progress_note(d->cli->progress,
		              "objects of former specs are not looked for among kinds that may not "
		              "be listed: %s",
		              strbuf_str(&kinds));
	return 0;
}

static int look_around(struct deploy *d, struct err *err)
{
	struct kubectl *k = &d->lease.base;
	const struct fleet *fleet = &d->cluster.spec->fleet;
	struct kubectl_versions versions;

	if (kubectl_versions(k, &versions, err) != 0)
		return -1;
	/* In a pod there is no right to look at more. */
	if (d->options->job_only)
		return choose_target(d, err);
	d->target = first_target(fleet);
	stages_plan(&d->out, d->target, &d->stages);
	if (stages_check_kinds(k, &d->stages, &d->resources, err) != 0 || find_owned(d, err) != 0)
		return -1;
	stage_list_done(&d->stages);
	return choose_target(d, err);
}

/* From the first object that is not the namespace on, nobody else changes the fleet. */
static int take_lease(struct deploy *d, struct err *err)
{
	struct deploy_cluster in = {d->options, &d->cli->arena, &d->cluster, &d->out, d->owned};

	if (d->cluster.opts.dry_run || d->lease.held)
		return 0;
	if (d->options->in_cluster)
		return deploy_cluster_take_over(&in, &d->lease, err);
	return lease_take(&d->lease, 0, err);
}

static struct deploy_job job_of(struct deploy *d)
{
	return (struct deploy_job){.cli = d->cli,
	                           .options = d->options,
	                           .cluster = &d->cluster,
	                           .release = d->release,
	                           .ahead = d->ahead,
	                           .reason = "deploy",
	                           .result = d->result};
}

/* A dry run of the job asks what would become of the one that is there. */
static int send_stage(struct deploy *d, const struct stage *stage, struct apply_counts *ret,
                      struct err *err)
{
	const struct fleet_target *target = fleet_target_find(&d->cluster.spec->fleet, d->target);
	struct deploy_job job = job_of(d);

	if (!stage_has_job(stage))
		return stage_apply(&d->lease.base, stage, &d->cluster.opts, ret, err);
	return deploy_job_preview(&job, &d->lease.base, d->target, job_find(d->owned, target), ret,
	                          err);
}

static int apply_one(struct deploy *d, const struct stage *stage, struct err *err)
{
	struct kubectl *k = &d->lease.base;
	struct apply_counts counts;

	if (strcmp(stage->name, namespace_renderer.name) != 0 && take_lease(d, err) != 0)
		return -1;
	if (send_stage(d, stage, &counts, err) != 0)
		return err_wrap(err, "stage %s", stage->name);
	tell_stage(d, stage, &counts);
	if (!d->cluster.opts.dry_run && stage_await(k, stage, &d->cluster.opts, err) != 0)
		return err_wrap(err, "stage %s", stage->name);
	return 0;
}

static int place_job(struct deploy *d, const struct stage *stage, struct err *err)
{
	struct deploy_job job = job_of(d);
	int rc = deploy_job_run(&job, &d->lease, &d->placement, err);

	if (d->placement.state.target[0] != '\0')
		d->target = d->placement.state.target;
	if (rc != 0)
		return err_wrap(err, "stage %s", stage->name);
	tell_stage(d, stage, &d->placement.counts);
	return 0;
}

/* The job is for the cluster's own deploy to place. */
static int hand_over(struct deploy *d, struct err *err)
{
	static const struct stage stage = {.name = "in-cluster"};
	struct deploy_cluster in = {d->options, &d->cli->arena, &d->cluster, &d->out, d->owned};
	struct apply_counts counts;

	if (deploy_cluster_start(&in, &d->lease, &counts, err) != 0)
		return err_wrap(err, "stage %s", stage.name);
	tell_stage(d, &stage, &counts);
	return 0;
}

static int apply_all(struct deploy *d, struct err *err)
{
	const struct stage *job = NULL;

	for (size_t i = 0; i < d->stages.n; i++) {
		const struct stage *stage = &d->stages.at[i];

		bool placed = !d->cluster.opts.dry_run;

		if (stage_has_job(stage) && placed)
			job = stage;
		/* Where the job goes is not known yet: it is compiled for that alone. */
		else if (stage_compiles(stage) && placed)
			continue;
		else if (apply_one(d, stage, err) != 0)
			return -1;
	}
	if (take_lease(d, err) != 0 || prune_objects(d, err) != 0)
		return -1;
	if (d->options->in_cluster)
		return hand_over(d, err);
	return job != NULL ? place_job(d, job, err) : 0;
}

static void tell_end(struct deploy *d)
{
	bool same = d->total.created + d->total.changed + d->pruned == 0;

	json_add_bool(d->result, "unchanged", same);
	json_add_string(d->result, "target", d->target);
	json_add_string(d->result, "image", d->cluster.spec->fleet.image);
	progress_rest(d->cli->progress);
	if (cli_json(d->cli))
		cli_print_json(d->cli, d->result);
	else if (same)
		fprintf(d->cli->out, "nothing to do: the cluster matches the spec\n");
	else if (d->options->in_cluster)
		fprintf(d->cli->out,
		        "the deploy continues in the cluster; follow it with `kubectl logs -n "
		        "%s -f job/%s-deploy`\n",
		        d->cluster.spec->fleet.namespace, d->cluster.spec->fleet.name);
	else if (d->target[0] != '\0')
		fprintf(d->cli->out, "%s %s: %s\n", d->cluster.opts.dry_run ? "would run" : "job",
		        d->target, d->cluster.spec->fleet.image);
}

static void keep_job_stage(struct stage_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->n; i++)
		if (stage_has_job(&list->at[i]))
			list->at[kept++] = list->at[i];
		else
			cJSON_Delete(list->at[i].items);
	list->n = kept;
}

static int run_deploy(struct deploy *d, struct err *err)
{
	d->result = cJSON_CreateObject();
	json_add_array(d->result, "stages");
	if (deploy_job_check(d->options, err) != 0 || deploy_image_open(&d->image, err) != 0 ||
	    epoch_check_support(d->cli, d->cluster.spec, err) != 0 ||
	    k8s_render(&renderers, &d->cluster.spec->fleet, NULL, &d->out, err) != 0 ||
	    deploy_image_trust(&d->image, &d->out, d->result, err) != 0)
		return -1;
	d->release = release_of(&d->out);
	d->ahead = choices_of(&d->out, &compile_renderer);
	d->cluster.opts.dry_run = in_mode(d, "server");
	if (d->options->diff &&
	    deploy_diff_begin(d->cli, d->options, &d->cluster.opts, d->result, err) != 0)
		return -1;
	if (in_mode(d, "client")) {
		if (choose_target(d, err) != 0)
			return -1;
		stages_plan(&d->out, d->target, &d->stages);
		tell_plan(d);
		if (cli_json(d->cli))
			cli_print_json(d->cli, d->result);
		return deploy_image_end(&d->image, err);
	}
	lease_init(&d->lease, &d->cluster.kubectl.base, d->cluster.spec->fleet.namespace,
	           d->cluster.spec->fleet.name);
	if ((d->options->in_cluster && deploy_cluster_check(&d->cluster, err) != 0) ||
	    look_around(d, err) != 0)
		return -1;
	stages_plan(&d->out, d->target, &d->stages);
	if (d->options->job_only)
		keep_job_stage(&d->stages);
	else if (use_found(d, err) != 0)
		return -1;
	tell_pending(d);
	if (apply_all(d, err) != 0)
		return -1;
	if (d->options->diff)
		deploy_diff_end(d->cli, d->result, d->pruned);
	else
		tell_end(d);
	return deploy_image_end(&d->image, err);
}

/* A JSON caller learns what was tried, whatever the end. */
static void tell_failure(const struct deploy *d, const struct err *err)
{
	cJSON *error;

	if (!cli_json(d->cli) || json_get(d->result, "state") == NULL)
		return;
	error = json_add_object(d->result, "error");
	json_add_string(error, "code", err_code_name(err->code));
	json_add_string(error, "message", err->msg);
	if (err->hint[0] != '\0')
		json_add_string(error, "hint", err->hint);
	cli_print_json(d->cli, d->result);
}

static int cmd_deploy_run(struct cli *cli, struct err *err)
{
	const struct deploy_options *given = cli->options;
	struct deploy_options wanted = *given;
	AUTO(deploy) struct deploy d = {.cli = cli, .options = &wanted};
	d.image = (struct deploy_image){.cli = cli, .options = &wanted, .cluster = &d.cluster};
	int rc = run_deploy(&d, err);

	lease_release(&d.lease, false);
	if (rc == 0)
		return 0;
	err_wrap(err, "deploy");
	tell_failure(&d, err);
	return -1;
}

const struct command cmd_deploy = {
	.name = "deploy",
	.summary = "Deploy the fleet and one job to a cluster",
	.synopsis = "",
	.details =
		"Applies what `slipway render` renders, through kubectl and with its access to "
		"the cluster: namespace, node pools, device plugins, storage, monitoring, then "
		"the job of one target, by digest. deploy waits for each stage: pools Ready, "
		"plugins rolled out, the claim bound. Missing operators and objects of other "
		"owners are reported before anything of a stage is applied.\n\n"
		"Where the spec has `trust`, every image that the job's pods run is looked at "
		"first, and nothing is applied when one is refused (exit status 3).\n\n"
		"The job starts on the target with the highest weight. When that has no "
		"capacity (Karpenter or EC2 reports it, or a time limit passes), its job is "
		"deleted and the next target's is started. A job that has run is moved only when "
		"it lost all its nodes, gets none back, and its checkpoints are shared "
		"(fleet.failover.reclaimed), or back to a better target (job.return). deploy "
		"returns when all its pods run. The attempts are recorded "
		"in the cluster, and only one deploy runs at a time. Exit status 6: no target "
		"has capacity; 7: another deploy is running; 8: the job failed.\n\n"
		"It can be run again at any time: after a failure or Ctrl-C it continues, and "
		"when nothing has changed it says so. Objects with the fleet's owner label that "
		"are no longer in the spec are deleted, except volumes and claims.\n\n"
		"--diff changes nothing: it asks the API server for a dry run and shows the "
		"fields that would change with both values. It exits 0 when nothing would "
		"change, 1 when something would, 2 to 5 as for every command, 11 on any other "
		"failure.\n",
	.examples = "slipway deploy --diff\tWhat would change\n"
		    "slipway deploy\tApply the fleet and start the first target's job\n"
		    "slipway deploy --dry-run=server\tLet the API server validate every object\n"
		    "slipway deploy --job g5\tRun on another target\n"
		    "slipway deploy --keep-trying --in-cluster\tLet the cluster find capacity\n",
	.options = OPTION_TABLE(struct deploy_options, options),
	.run = cmd_deploy_run,
};
