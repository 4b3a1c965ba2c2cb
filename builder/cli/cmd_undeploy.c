/*
 * slipway undeploy: the fleet out of the cluster, in the reverse order, and what still costs money.
 */
#include <string.h>

#include "builder/cli/cluster.h"
#include "builder/cli/confirm.h"
#include "builder/cli/price_option.h"
#include "builder/cli/renderers.h"
#include "k8s/deploy/claim_cost.h"
#include "k8s/deploy/finalizers.h"
#include "k8s/deploy/lease_wait.h"
#include "k8s/deploy/owned.h"
#include "k8s/deploy/shared.h"
#include "k8s/deploy/undeploy.h"

struct undeploy_options {
	struct cluster_options cluster;
	const char *prices;
	bool keep_data, force_finalizers, yes;
};

static const struct option options[] = {
	CLUSTER_OPTIONS(struct undeploy_options, cluster),
	PRICE_OPTION(struct undeploy_options, prices),
	FLAG_OPTION(struct undeploy_options, keep_data, "keep-data", 0,
                    "Keep the file system, its claim and its driver"),
	FLAG_OPTION(struct undeploy_options, force_finalizers, "force-finalizers", 0,
                    "After --timeout, remove the finalizers of what is still there"),
	FLAG_OPTION(struct undeploy_options, yes, "yes", 'y',
                    "Delete; without it, show what would be deleted"),
};

/* What is found out before anything is deleted, and lasts as long as the command. */
struct removal {
	struct cli *cli;
	struct cluster cluster;
	struct undeploy_opts opts;
	cJSON *resources, *owned, *unseen;
	struct k8s_output out;
	struct strbuf left;
	struct lease lease;
};

static void removal_done(struct removal *r)
{
	cJSON_Delete(r->resources);
	cJSON_Delete(r->owned);
	cJSON_Delete(r->unseen);
	k8s_output_done(&r->out);
	strbuf_done(&r->left);
}

/* The lease itself is not in the list: it is held until all else is gone. */
static void leave_lease_out(cJSON *owned)
{
	cJSON *next;

	for (cJSON *o = owned->child; o != NULL; o = next) {
		next = o->next;
		if (strcmp(kind_of(o)->kind, "Lease") == 0 && is_deploys_own(o))
			cJSON_Delete(cJSON_DetachItemViaPointer(owned, o));
	}
}

/* To say "all is gone", all that the spec renders must have been looked for. */
static int check_seen(const struct removal *r, struct err *err)
{
	for (size_t i = 0; i < r->out.n; i++)
		for (size_t j = 0; j < r->out.files[i].n; j++) {
			const cJSON *o = r->out.files[i].at[j].doc;

			if (!r->out.files[i].renderer->deployed || kind_of(o) == NULL ||
			    !owned_is_unseen(r->unseen, o))
				continue;
			err_set(err, ERR_DENIED,
			        "%s may not be listed%s%s, so it is not known "
			        "whether the cluster has some of this fleet",
			        kind_of(o)->resource, object_namespace(o) != NULL ? " in " : "",
			        object_namespace(o) != NULL ? object_namespace(o) : "");
			return err_hint(err,
			                "`slipway rbac undeploy` prints the roles that suffice.");
		}
	return 0;
}

static int find_owned(struct removal *r, struct err *err)
{
	struct stage_list nothing = {0};
	struct kubectl_versions versions;
	struct kubectl *k = &r->cluster.kubectl.base;
	const struct fleet *fleet = &r->cluster.spec->fleet;
	AUTO(strbuf) struct strbuf kinds = STRBUF_INIT(8192);

	if (k8s_render(&renderers, fleet, NULL, &r->out, err) != 0 ||
	    kubectl_versions(k, &versions, err) != 0 ||
	    stages_check_kinds(k, &nothing, &r->resources, err) != 0)
		return -1;
	struct owned_query query = {
		.owner = r->cluster.opts.owner,
		.resources = r->resources,
		.namespaces = owned_namespaces(fleet, &r->out, &r->cli->arena),
	};

	if (owned_list(k, &query, &r->owned, &r->unseen, err) != 0 || check_seen(r, err) != 0)
		return -1;
	owned_tell_unseen(r->unseen, &kinds);
	if (kinds.len > 0)
		strbuf_addf(&r->left,
		            "objects of former specs, if there are any, of kinds that may "
		            "not be listed: %s\n",
		            strbuf_str(&kinds));
	leave_lease_out(r->owned);
	return 0;
}

/*
 * A deploy that runs in the cluster goes first: it would hold the lease, and start the job again.
 */
static int stop_controller(struct removal *r, bool *ret_stopped, struct err *err)
{
	struct kubectl *k = &r->cluster.kubectl.base;
	AUTO(json) cJSON *going = cJSON_CreateArray();
	struct gone_wait wait = {"jobs", going, NULL};

	for (cJSON *o = r->owned->child; o != NULL; o = o->next) {
		if (kind_of(o)->leave != LEAVE_JOB || !is_deploys_own(o))
			continue;
		cJSON_AddItemReferenceToArray(going, o);
		if (gone_ask(k, o, err) != 0)
			return -1;
	}
	*ret_stopped = going->child != NULL;
	return *ret_stopped ? gone_await(k, &wait, &r->opts.gone, err) : 0;
}

static bool is_own_namespace(const struct removal *r, const cJSON *object)
{
	return object_is(object, "Namespace") &&
	       strcmp(object_name(object), r->cluster.spec->fleet.namespace) == 0;
}

/* In a namespace that is going nothing can be made any more. */
static bool namespace_is_leaving(const struct removal *r)
{
	for (const cJSON *o = r->owned->child; o != NULL; o = o->next)
		if (is_own_namespace(r, o) && object_is_leaving(o))
			return true;
	return false;
}

/* Without the namespace there is nothing to hold, and nobody else at work. */
static int take_lease(struct removal *r, struct err *err)
{
	int64_t deadline = r->cluster.opts.deadline_ms;
	struct lease *lease = &r->lease;
	bool stopped;

	if (stop_controller(r, &stopped, err) != 0)
		return -1;
	if (namespace_is_leaving(r))
		return 0;
	if ((stopped ? lease_take(lease, deadline, err)
	             : lease_take_silent(lease, deadline, err)) == 0)
		return 0;
	if (err->code != ERR_NOT_FOUND)
		return -1;
	*err = (struct err){0};
	return 0;
}

/* ---- what is said ---- */

/* Other fleets use it: this one leaves, the object does not. */
static bool stays(const struct removal *r, const cJSON *object)
{
	AUTO(strbuf) struct strbuf others = STRBUF_INIT(8192);

	if (shared_others(object, r->opts.owner, &others) == 0)
		return false;
	if (!cli_json(r->cli))
		fprintf(r->cli->out, "%s %s stays: used by %s\n", json_string(object, "kind"),
		        object_name(object), strbuf_str(&others));
	return true;
}

/* In the order of going; returns how many. */
static size_t list_going(const struct removal *r, cJSON *list)
{
	size_t n = 0;

	for (int rank = 0; rank < LEAVE_ORDERS; rank++)
		for (const cJSON *o = r->owned->child; o != NULL; o = o->next) {
			if ((int)kind_of(o)->leave != rank || !undeploy_takes(o, &r->opts) ||
			    stays(r, o))
				continue;
			n++;
			json_push_string(list, object_name(o));
			if (!cli_json(r->cli) && r->opts.tell == NULL)
				fprintf(r->cli->out, "%s %s\n", json_string(o, "kind"),
				        object_name(o));
		}
	return n;
}

/* Once: as it is deleted. Where a table shows it, or a document lists it, not here. */
static void tell_deletion(void *ctx, const cJSON *object)
{
	struct removal *r = ctx;

	/* The lease goes with its namespace, and is not to be missed then. */
	if (is_own_namespace(r, object))
		r->lease.held = false;
	if (cli_json(r->cli) || r->cli->live)
		return;
	fprintf(r->cli->out, "%s %s %s\n",
	        shared_others(object, r->opts.owner, NULL) > 0 ? "release" : "delete",
	        json_string(object, "kind"), object_name(object));
	fflush(r->cli->out);
}

static bool may_force(void *ctx, const char *what)
{
	const struct removal *r = ctx;

	if (!confirm(
		    r->cli, what,
		    "Remove these finalizers? What their controllers would have cleaned up is left "
		    "behind.",
		    true))
		return false;
	for (; *what != '\0'; what += strcspn(what, "\n") + 1)
		progress_note(r->cli->progress, "by force: %.*s", (int)strcspn(what, "\n"), what);
	return true;
}

/* ", 0.24 USD an hour": of the file system behind the fleet's claim, where the price is known. */
static void add_storage_price(const struct fleet *fleet, const struct prices *prices,
                              const cJSON *owned, struct strbuf *sb)
{
	char text[PRICE_TEXT_MAX];
	int64_t micros;

	if (claim_cost(fleet, prices, owned, &micros))
		strbuf_addf(sb, ", %s an hour", price_text(prices, micros, text));
}

/* What undeploy never touches, and goes on costing. */
static void tell_standing(const struct fleet *fleet, bool keep_data, const char *price,
                          struct strbuf *left)
{
	if (fleet->storage.id != NULL)
		strbuf_addf(left, "file system %s: it existed before the fleet%s\n",
		            fleet->storage.id, price);
	else if (fleet_has_storage(fleet) && keep_data)
		strbuf_addf(left,
		            "the file system behind the claim %s: kept because of --keep-data%s\n",
		            fleet->storage.claim, price);
	strbuf_addf(left, "the cluster %s itself: `eksctl delete cluster --name %s --region %s`\n",
	            fleet->cluster_name, fleet->cluster_name, fleet->cluster->region);
}

static void tell_end(struct cli *cli, size_t n, const struct strbuf *left, cJSON *result)
{
	json_add_int(result, "deleted", (int64_t)n);
	json_add_string(result, "still_there", strbuf_str(left));
	progress_rest(cli->progress);
	if (cli_json(cli)) {
		cli_print_json(cli, result);
		return;
	}
	fprintf(cli->out,
	        "%zu object%s deleted\n"
	        "still there, and may incur costs:\n"
	        "%s",
	        n, n == 1 ? "" : "s", strbuf_str(left));
}

static int take_down(struct removal *r, struct err *err)
{
	const struct fleet *fleet = &r->cluster.spec->fleet;
	int rc;

	lease_init(&r->lease, &r->cluster.kubectl.base, fleet->namespace, fleet->name);
	if (take_lease(r, err) != 0)
		return -1;
	rc = undeploy_run(&r->lease.base, r->owned, &r->opts, err);
	lease_release(&r->lease, rc == 0);
	return rc;
}

static struct strlist pool_names(const struct fleet *fleet, struct arena *a)
{
	struct strlist list = {arena_calloc(a, fleet->n_targets + 2, sizeof(*list.at)), 0};

	for (size_t i = 0; i < fleet->n_targets; i++)
		list.at[list.n++] = fleet->targets[i].pool;
	if (fleet->compile_pool != NULL)
		list.at[list.n++] = fleet->compile_pool;
	return list;
}

static void set_opts(struct removal *r, const struct undeploy_options *o)
{
	const struct fleet *fleet = &r->cluster.spec->fleet;

	r->opts = (struct undeploy_opts){
		.owner = r->cluster.opts.owner,
		.pool_label = k8s_pool_label(fleet),
		.pools = pool_names(fleet, &r->cli->arena),
		.keep_data = o->keep_data,
		.node_claims = resource_is_known(r->resources, "nodeclaims.karpenter.sh"),
		.gone = {.deadline_ms = r->cluster.opts.deadline_ms,
	                 .may_force = o->force_finalizers ? may_force : NULL,
	                 .ctx = r,
	                 .left = &r->left},
		.tell = o->yes ? tell_deletion : NULL,
		.ctx = r,
	};
}

static int refuse(const struct removal *r, size_t n, struct err *err)
{
	err_set(err, ERR_USAGE, "%zu object%s of '%s' would be deleted; nothing was deleted", n,
	        n == 1 ? "" : "s", r->opts.owner);
	return err_hint(err, "Pass --yes to delete them%s.",
	                r->opts.keep_data ? "" : "; --keep-data keeps the file system");
}

static int cmd_undeploy_run(struct cli *cli, struct err *err)
{
	const struct undeploy_options *o = cli->options;
	AUTO(removal) struct removal r = {.cli = cli, .left = STRBUF_INIT(65536)};
	AUTO(json) cJSON *result = cJSON_CreateObject();
	AUTO(strbuf) struct strbuf price = STRBUF_INIT(256);
	struct prices prices;
	bool priced;
	size_t n;

	if (cluster_open(cli, &o->cluster, &r.cluster, err) != 0 ||
	    price_option(cli, o->prices, &prices, &priced, err) != 0 || find_owned(&r, err) != 0)
		return err_wrap(err, "undeploy");
	cluster_outlast(&r.cluster);
	set_opts(&r, o);
	n = list_going(&r, json_add_array(result, "objects"));
	if (n > 0 && !o->yes)
		return refuse(&r, n, err);
	if (take_down(&r, err) != 0)
		return err_wrap(err, "undeploy");
	const struct fleet *fleet = &r.cluster.spec->fleet;

	add_storage_price(fleet, priced ? &prices : NULL, r.owned, &price);
	tell_standing(fleet, o->keep_data, strbuf_str(&price), &r.left);
	tell_end(cli, n, &r.left, result);
	return 0;
}

const struct command cmd_undeploy = {
	.name = "undeploy",
	.summary = "Delete the fleet from a cluster, so that it costs nothing",
	.synopsis = "",
	.details =
		"Deletes the objects with the fleet's owner label, in the reverse order of "
		"deploy: the job, the claim and its file system, the node pools, then plugins "
		"and the namespace; waits until nodes and volumes are gone, and lists what is "
		"left and may incur costs. Objects of other owners are never touched; a "
		"namespace that holds some is kept.\n\n"
		"Without --yes it shows what would be deleted, and exits with status 2.\n\n"
		"What is still there after --timeout is named with the finalizers that keep "
		"it and the controllers that remove them. --force-finalizers removes them "
		"instead: for controllers that were uninstalled before the fleet. On a terminal "
		"it asks first; what is left behind, such as a running instance, is listed.\n\n"
		"A deploy that is at work is not disturbed: exit status 7. The lease of one that "
		"was killed is taken over, on another machine when it has expired.\n",
	.examples = "slipway undeploy\tShow what would be deleted\n"
		    "slipway undeploy --yes --timeout 120 --force-finalizers\tWithout the "
		    "controllers' help\n"
		    "slipway undeploy --yes --keep-data\tDelete all but the file system\n",
	.options = OPTION_TABLE(struct undeploy_options, options),
	.run = cmd_undeploy_run,
};
