/*
 * slipway undeploy: the fleet out of the cluster, in the reverse order, and what still costs money.
 */
#include <string.h>

#include "builder/cli/cluster.h"
#include "builder/cli/price_option.h"
#include "k8s/deploy/claim_cost.h"
#include "k8s/deploy/lease.h"
#include "k8s/deploy/shared.h"
#include "k8s/deploy/undeploy.h"

struct undeploy_options {
	struct cluster_options cluster;
	const char *prices;
	bool keep_data, yes;
};

static const struct option options[] = {
	CLUSTER_OPTIONS(struct undeploy_options, cluster),
	PRICE_OPTION(struct undeploy_options, prices),
	FLAG_OPTION(struct undeploy_options, keep_data, "keep-data", 0,
                    "Keep the file system, its claim and its driver"),
	FLAG_OPTION(struct undeploy_options, yes, "yes", 'y',
                    "Delete; without it, show what would be deleted"),
};

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

static int find_owned(struct cluster *c, cJSON **ret, struct err *err)
{
	struct stage_list nothing = {0};
	AUTO(json) cJSON *resources = NULL;
	struct kubectl_versions versions;
	struct kubectl *k = &c->kubectl.base;

	if (kubectl_versions(k, &versions, err) != 0 ||
	    stages_check_kinds(k, &nothing, &resources, err) != 0 ||
	    owned_list(k, resources, c->opts.owner, ret, err) != 0)
		return -1;
	leave_lease_out(*ret);
	return 0;
}

/*
 * A deploy that runs in the cluster goes first: it would hold the lease, and start the job again.
 */
static int stop_controller(struct cluster *c, const cJSON *owned, bool *ret_stopped,
                           struct err *err)
{
	*ret_stopped = false;
	for (const cJSON *o = owned->child; o != NULL; o = o->next) {
		if (kind_of(o)->leave != LEAVE_JOB || !is_deploys_own(o))
			continue;
		*ret_stopped = true;
		if (object_delete(&c->kubectl.base, o, &c->opts, err) != 0)
			return -1;
	}
	return 0;
}

/* Without the namespace there is nothing to hold, and nobody else at work. */
static int take_lease(struct cluster *c, struct lease *lease, const cJSON *owned, struct err *err)
{
	bool stopped;

	if (stop_controller(c, owned, &stopped, err) != 0)
		return -1;
	if (lease_take(lease, stopped ? c->opts.deadline_ms : 0, err) == 0)
		return 0;
	if (err->code != ERR_NOT_FOUND)
		return -1;
	*err = (struct err){0};
	return 0;
}

/* Other fleets use it: this one leaves, the object does not. */
static bool tell_staying(struct cli *cli, const cJSON *object, const char *owner, bool print)
{
	AUTO(strbuf) struct strbuf others = STRBUF_INIT(8192);

	if (shared_others(object, owner, &others) == 0)
		return false;
	if (print)
		fprintf(cli->out, "%s %s stays: used by %s\n", json_string(object, "kind"),
		        object_name(object), strbuf_str(&others));
	return true;
}

/* In the order of going; returns how many. */
static size_t tell_going(struct cli *cli, const cJSON *owned, const struct undeploy_opts *opts,
                         cJSON *list, bool print)
{
	size_t n = 0;

	for (int rank = 0; rank < LEAVE_ORDERS; rank++)
		for (const cJSON *o = owned->child; o != NULL; o = o->next) {
			if ((int)kind_of(o)->leave != rank || !undeploy_takes(o, opts) ||
			    tell_staying(cli, o, opts->apply.owner, print))
				continue;
			n++;
			json_push_string(list, object_name(o));
			if (print)
				fprintf(cli->out, "%s %s\n", json_string(o, "kind"),
				        object_name(o));
		}
	return n;
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

static int take_down(struct cluster *c, const cJSON *owned, const struct undeploy_opts *opts,
                     struct strbuf *left, struct err *err)
{
	struct lease lease;
	int rc;

	lease_init(&lease, &c->kubectl.base, c->spec->fleet.namespace, c->spec->fleet.name);
	if (take_lease(c, &lease, owned, err) != 0)
		return -1;
	rc = undeploy_run(&lease.base, owned, opts, left, err);
	lease_release(&lease, rc == 0);
	return rc;
}

static int cmd_undeploy_run(struct cli *cli, struct err *err)
{
	const struct undeploy_options *o = cli->options;
	AUTO(json) cJSON *owned = NULL;
	AUTO(json) cJSON *result = cJSON_CreateObject();
	AUTO(strbuf) struct strbuf left = STRBUF_INIT(16384), price = STRBUF_INIT(256);
	struct prices prices;
	bool priced;
	cJSON *list = json_add_array(result, "objects");
	struct cluster c;

	if (cluster_open(cli, &o->cluster, &c, err) != 0 ||
	    price_option(cli, o->prices, &prices, &priced, err) != 0 ||
	    find_owned(&c, &owned, err) != 0)
		return err_wrap(err, "undeploy");
	struct undeploy_opts opts = {c.opts, k8s_pool_label(&c.spec->fleet), o->keep_data};
	size_t n = tell_going(cli, owned, &opts, list, !cli_json(cli));

	if (n > 0 && !o->yes) {
		err_set(err, ERR_USAGE,
		        "%zu object%s of '%s' would be deleted; nothing was deleted", n,
		        n == 1 ? "" : "s", c.opts.owner);
		return err_hint(err, "Pass --yes to delete them%s.",
		                opts.keep_data ? "" : "; --keep-data keeps the file system");
	}
	if (take_down(&c, owned, &opts, &left, err) != 0)
		return err_wrap(err, "undeploy");
	add_storage_price(&c.spec->fleet, priced ? &prices : NULL, owned, &price);
	tell_standing(&c.spec->fleet, opts.keep_data, strbuf_str(&price), &left);
	tell_end(cli, n, &left, result);
	return 0;
}

const struct command cmd_undeploy = {
	.name = "undeploy",
	.summary = "Delete the fleet from a cluster, so that it costs nothing",
	.synopsis = "",
	.details = "Deletes the objects with the fleet's owner label, in the reverse order of "
		   "deploy: the job, the claim and its file system, the node pools, then plugins "
		   "and the namespace; waits until nodes and volumes are gone, and lists what is "
		   "left and may incur costs. Objects of other owners are never touched; a "
		   "namespace that holds some is kept.\n\n"
		   "Without --yes it shows what would be deleted, and exits with status 2.\n",
	.examples = "slipway undeploy\tShow what would be deleted\n"
		    "slipway undeploy --yes --keep-data\tDelete all but the file system\n",
	.options = OPTION_TABLE(struct undeploy_options, options),
	.run = cmd_undeploy_run,
};
