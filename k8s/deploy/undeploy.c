#include "k8s/deploy/undeploy.h"

#include <string.h>

#include "base/attr.h"
#include "k8s/deploy/shared.h"
#include "k8s/storage/storage.h"

#define NODE_CLAIMS "nodeclaims.karpenter.sh"

bool undeploy_takes(const cJSON *object, const struct undeploy_opts *opts)
{
	enum leave_order leave = kind_of(object)->leave;

	if (!opts->keep_data || leave == LEAVE_JOB)
		return true;
	if (leave == LEAVE_CLAIM || leave == LEAVE_VOLUME || leave == LEAVE_NAMESPACE)
		return false;
	return !object_in(object, "storage");
}

/* ---- what goes with a rank ---- */

/*
 * Nodes of the pools that went, and of the spec's, which an earlier run may have deleted: an
 * instance is paid for until its node is gone.
 */
static int await_nodes(struct kubectl *k, const cJSON *pools, const struct undeploy_opts *opts,
                       struct err *err)
{
	AUTO(strbuf) struct strbuf selector = STRBUF_INIT(16384);
	size_t n = 0;

	strbuf_addf(&selector, "%s in (", opts->pool_label);
	for (size_t i = 0; i < opts->pools.n; i++)
		strbuf_addf(&selector, "%s%s", n++ > 0 ? "," : "", opts->pools.at[i]);
	for (const cJSON *o = pools->child; o != NULL; o = o->next)
		if (!strlist_has(&opts->pools, object_name(o)))
			strbuf_addf(&selector, "%s%s", n++ > 0 ? "," : "", object_name(o));
	strbuf_addc(&selector, ')');
	if (n == 0)
		return 0;
	const char *const args[] = {"get", opts->node_claims ? "nodes," NODE_CLAIMS : "nodes",
	                            "-l",  strbuf_str(&selector),
	                            "-o",  "json",
	                            NULL};
	struct gone_wait wait = {"nodes", NULL, args};

	return gone_await(k, &wait, &opts->gone, err);
}

/* A claim's volume, as it was before the claim went: deleted with it, or reported as left. */
static int await_volume(struct kubectl *k, const cJSON *volume, const struct undeploy_opts *opts,
                        struct err *err)
{
	const cJSON *spec = json_get(volume, "spec"), *csi = json_get(spec, "csi");
	const char *handle = json_string(csi, "volumeHandle");
	const struct storage_driver *driver = storage_driver_find(json_string(csi, "driver"));
	struct strbuf *left = opts->gone.left;
	const char *const args[] = {
		"get", "persistentvolumes", object_name(volume), "--ignore-not-found", "-o", "json",
		NULL};
	struct gone_wait wait = {"volumes", NULL, args};

	if (object_says(spec, "persistentVolumeReclaimPolicy", "Delete"))
		return gone_await(k, &wait, &opts->gone, err);
	strbuf_addf(left, "file system %s (volume %s is retained)",
	            handle != NULL ? handle : "of unknown id", object_name(volume));
	if (driver != NULL && driver->delete_command != NULL)
		strbuf_addf(left, ": `%s %s`", driver->delete_command,
		            handle != NULL ? handle : "ID");
	strbuf_addc(left, '\n');
	return 0;
}

/* Adds the claim's volume, if it is bound to one. */
static int read_volume(struct kubectl *k, const cJSON *claim, cJSON *volumes, struct err *err)
{
	const char *name = json_string(json_get(claim, "spec"), "volumeName");
	const char *const args[] = {
		"get", "persistentvolumes", name, "--ignore-not-found", "-o", "json", NULL};
	cJSON *volume = NULL;

	if (name == NULL)
		return 0;
	if (kubectl_json(k, args, NULL, &volume, err) != 0)
		return -1;
	if (volume != NULL)
		json_push(volumes, volume);
	return 0;
}

/* ---- the namespace ---- */

/* Something in the namespace that is not ours would die with it. */
static int has_strangers(struct kubectl *k, const char *namespace, const char *owner, bool *ret,
                         struct err *err)
{
	static const char kinds[] = "pods,services,configmaps,persistentvolumeclaims,"
				    "deployments.apps,statefulsets.apps,jobs.batch";
	const char *const args[] = {"get", kinds, "-n", namespace, "-o", "json", NULL};
	AUTO(json) cJSON *items = NULL;

	*ret = false;
	if (kubectl_list(k, args, NULL, &items, err) != 0)
		return -1;
	for (const cJSON *o = items->child; o != NULL; o = o->next) {
		const char *holder = object_label(o, OWNER_LABEL), *name = object_name(o);

		if ((holder != NULL && strcmp(holder, owner) == 0) ||
		    json_get(json_get(o, "metadata"), "ownerReferences") != NULL ||
		    (name != NULL && strcmp(name, "kube-root-ca.crt") == 0))
			continue;
		*ret = true;
	}
	return 0;
}

/* *ret: it stays, which is told. */
static int namespace_stays(struct kubectl *k, const cJSON *namespace,
                           const struct undeploy_opts *opts, bool *ret, struct err *err)
{
	*ret = false;
	if (shared_others(namespace, opts->owner, NULL) > 0)
		return 0;
	if (has_strangers(k, object_name(namespace), opts->owner, ret, err) != 0)
		return -1;
	if (*ret)
		strbuf_addf(opts->gone.left, "namespace %s: it holds objects of other owners\n",
		            object_name(namespace));
	return 0;
}

/* ---- one after another ---- */

/* What is deleted together: references to owned objects, and the volumes of its claims. */
struct rank_going {
	cJSON *objects, *volumes;
};

static void rank_going_done(struct rank_going *r)
{
	cJSON_Delete(r->objects);
	cJSON_Delete(r->volumes);
}

/* What other fleets go on using is not awaited. */
static int release_one(struct kubectl *k, cJSON *object, const struct undeploy_opts *opts,
                       struct rank_going *r, struct err *err)
{
	bool going;

	if (shared_release(k, object, opts->owner, &going, err) != 0)
		return -1;
	if (going)
		cJSON_AddItemReferenceToArray(r->objects, object);
	return 0;
}

static int delete_one(struct kubectl *k, cJSON *object, const struct undeploy_opts *opts,
                      struct rank_going *r, struct err *err)
{
	enum leave_order leave = kind_of(object)->leave;
	bool stays = false;

	if (leave == LEAVE_CLAIM && read_volume(k, object, r->volumes, err) != 0)
		return -1;
	if (leave == LEAVE_NAMESPACE && namespace_stays(k, object, opts, &stays, err) != 0)
		return -1;
	if (stays)
		return 0;
	if (opts->tell != NULL)
		opts->tell(opts->ctx, object);
	if (object_is_shared(object))
		return release_one(k, object, opts, r, err);
	cJSON_AddItemReferenceToArray(r->objects, object);
	return gone_ask(k, object, err);
}

static int await_rank(struct kubectl *k, const struct rank_going *r, enum leave_order rank,
                      const char *what, const struct undeploy_opts *opts, struct err *err)
{
	struct gone_wait wait = {what, r->objects, NULL};

	if (r->objects->child != NULL && gone_await(k, &wait, &opts->gone, err) != 0)
		return -1;
	for (const cJSON *v = r->volumes->child; v != NULL; v = v->next)
		if (await_volume(k, v, opts, err) != 0)
			return -1;
	return rank == LEAVE_POOL ? await_nodes(k, r->objects, opts, err) : 0;
}

/* What a rank is called where stages are shown. */
static const char *const rank_names[] = {[LEAVE_JOB] = "job",
                                         [LEAVE_CLAIM] = "claim",
                                         [LEAVE_VOLUME] = "volume",
                                         [LEAVE_POOL] = "pools",
                                         [LEAVE_NODE_CLASS] = "node classes",
                                         [LEAVE_PLUGIN] = "plugins",
                                         [LEAVE_RBAC] = "RBAC",
                                         [LEAVE_NAMESPACE] = "namespace"};
_Static_assert(ARRAY_LEN(rank_names) == LEAVE_ORDERS, "rank_names: one per enum leave_order");

static int count_rank(const cJSON *owned, int rank, const struct undeploy_opts *opts)
{
	int n = 0;

	for (const cJSON *o = owned->child; o != NULL; o = o->next)
		n += (int)kind_of(o)->leave == rank && undeploy_takes(o, opts);
	return n;
}

static int delete_rank(struct kubectl *k, const cJSON *owned, int rank,
                       const struct undeploy_opts *opts, struct err *err)
{
	AUTO(rank_going) struct rank_going r = {cJSON_CreateArray(), cJSON_CreateArray()};

	for (cJSON *o = owned->child; o != NULL; o = o->next)
		if ((int)kind_of(o)->leave == rank && undeploy_takes(o, opts) &&
		    delete_one(k, o, opts, &r, err) != 0)
			return -1;
	return await_rank(k, &r, (enum leave_order)rank, rank_names[rank], opts, err);
}

int undeploy_run(struct kubectl *k, const cJSON *owned, const struct undeploy_opts *opts,
                 struct err *err)
{
	for (int rank = 0; rank < LEAVE_ORDERS; rank++)
		if (count_rank(owned, rank, opts) > 0)
			progress_stage(k->progress, rank_names[rank], "pending", "%d to delete",
			               count_rank(owned, rank, opts));
	for (int rank = 0; rank < LEAVE_ORDERS; rank++) {
		int n = count_rank(owned, rank, opts);

		if (n > 0)
			progress_stage(k->progress, rank_names[rank], "deleting", "%s", "");
		if (delete_rank(k, owned, rank, opts, err) != 0) {
			progress_stage(k->progress, rank_names[rank], "failed", "%s", "");
			return -1;
		}
		if (n > 0)
			progress_stage(k->progress, rank_names[rank], "gone", "%d deleted", n);
	}
	return 0;
}
