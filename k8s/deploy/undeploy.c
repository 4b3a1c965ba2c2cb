#include "k8s/deploy/undeploy.h"

#include <string.h>

#include "base/attr.h"
#include "k8s/deploy/shared.h"
#include "k8s/storage/storage.h"

enum { POLL_MS = 5000 };

bool undeploy_takes(const cJSON *object, const struct undeploy_opts *opts)
{
	enum leave_order leave = kind_of(object)->leave;

	if (!opts->keep_data || leave == LEAVE_JOB)
		return true;
	if (leave == LEAVE_CLAIM || leave == LEAVE_VOLUME || leave == LEAVE_NAMESPACE)
		return false;
	return !object_in(object, "storage");
}

/* Polls until the query finds nothing. */
static int await_none(struct kubectl *k, const char *const *args, const char *what,
                      const struct undeploy_opts *opts, struct err *err)
{
	int said = -1;

	for (;;) {
		AUTO(json) cJSON *items = NULL;
		int n;

		if (kubectl_list(k, args, NULL, &items, err) != 0)
			return -1;
		n = cJSON_GetArraySize(items);
		if (n == 0)
			return 0;
		if (k->clock->now_ms(k->clock) >= opts->apply.deadline_ms) {
			err_set(err, ERR_NETWORK, "%d %s still exist and incur costs", n, what);
			return err_hint(err, "Run the same command again to continue.");
		}
		if (n != said)
			progress_await(k->progress, "%d %s left", n, what);
		said = n;
		k->clock->sleep_ms(k->clock, POLL_MS);
	}
}

/* Nodes of the pools that went: an instance is paid for until its node is gone. */
static int await_nodes(struct kubectl *k, const cJSON *owned, const struct undeploy_opts *opts,
                       struct err *err)
{
	AUTO(strbuf) struct strbuf selector = STRBUF_INIT(4096);
	size_t n = 0;

	strbuf_addf(&selector, "%s in (", opts->pool_label);
	for (const cJSON *o = owned->child; o != NULL; o = o->next)
		if (kind_of(o)->leave == LEAVE_POOL)
			strbuf_addf(&selector, "%s%s", n++ > 0 ? "," : "", object_name(o));
	strbuf_addc(&selector, ')');
	if (n == 0)
		return 0;
	const char *const args[] = {"get", "nodes", "-l", strbuf_str(&selector),
	                            "-o",  "json",  NULL};

	return await_none(k, args, "nodes", opts, err);
}

/* A claim's volume, as it was before the claim went: deleted with it, or reported as left. */
static int await_volume(struct kubectl *k, const cJSON *volume, const struct undeploy_opts *opts,
                        struct strbuf *left, struct err *err)
{
	const cJSON *spec = json_get(volume, "spec"), *csi = json_get(spec, "csi");
	const char *policy = json_string(spec, "persistentVolumeReclaimPolicy");
	const char *handle = json_string(csi, "volumeHandle");
	const struct storage_driver *driver = storage_driver_find(json_string(csi, "driver"));
	const char *const args[] = {
		"get", "persistentvolumes", object_name(volume), "--ignore-not-found", "-o", "json",
		NULL};

	if (policy != NULL && strcmp(policy, "Delete") == 0)
		return await_none(k, args, "volumes", opts, err);
	strbuf_addf(left, "file system %s (volume %s is retained)",
	            handle != NULL ? handle : "of unknown id", object_name(volume));
	if (driver != NULL && driver->delete_command != NULL)
		strbuf_addf(left, ": `%s %s`", driver->delete_command,
		            handle != NULL ? handle : "ID");
	strbuf_addc(left, '\n');
	return 0;
}

static int read_volume(struct kubectl *k, const cJSON *claim, cJSON **ret, struct err *err)
{
	const char *name = json_string(json_get(claim, "spec"), "volumeName");
	const char *const args[] = {
		"get", "persistentvolumes", name, "--ignore-not-found", "-o", "json", NULL};

	*ret = NULL;
	return name == NULL ? 0 : kubectl_json(k, args, NULL, ret, err);
}

static int delete_claim(struct kubectl *k, const cJSON *claim, const struct undeploy_opts *opts,
                        struct strbuf *left, struct err *err)
{
	AUTO(json) cJSON *volume = NULL;

	if (read_volume(k, claim, &volume, err) != 0 ||
	    object_delete(k, claim, &opts->apply, err) != 0)
		return -1;
	return volume == NULL ? 0 : await_volume(k, volume, opts, left, err);
}

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

static int delete_namespace(struct kubectl *k, const cJSON *namespace,
                            const struct undeploy_opts *opts, struct strbuf *left, struct err *err)
{
	bool strangers;

	if (shared_others(namespace, opts->apply.owner, NULL) > 0)
		return object_delete(k, namespace, &opts->apply, err);
	if (has_strangers(k, object_name(namespace), opts->apply.owner, &strangers, err) != 0)
		return -1;
	if (!strangers)
		return object_delete(k, namespace, &opts->apply, err);
	strbuf_addf(left, "namespace %s: it holds objects of other owners\n",
	            object_name(namespace));
	return 0;
}

/* A live table names what is being deleted; elsewhere it is a line each. */
static void tell_deletion(struct kubectl *k, const cJSON *object, const char *owner)
{
	const char *kind = json_string(object, "kind");

	if (k->progress != NULL && k->progress->await != NULL)
		progress_await(k->progress, "%s %s", kind, object_name(object));
	else
		progress_note(k->progress, "%s %s %s",
		              shared_others(object, owner, NULL) > 0 ? "release" : "delete", kind,
		              object_name(object));
}

static int delete_one(struct kubectl *k, const cJSON *object, const struct undeploy_opts *opts,
                      struct strbuf *left, struct err *err)
{
	switch (kind_of(object)->leave) {
	case LEAVE_CLAIM:
		return delete_claim(k, object, opts, left, err);
	case LEAVE_NAMESPACE:
		return delete_namespace(k, object, opts, left, err);
	default:
		tell_deletion(k, object, opts->apply.owner);
		return object_delete(k, object, &opts->apply, err);
	}
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
                       const struct undeploy_opts *opts, struct strbuf *left, struct err *err)
{
	for (const cJSON *o = owned->child; o != NULL; o = o->next)
		if ((int)kind_of(o)->leave == rank && undeploy_takes(o, opts) &&
		    delete_one(k, o, opts, left, err) != 0)
			return -1;
	return rank == LEAVE_POOL ? await_nodes(k, owned, opts, err) : 0;
}

int undeploy_run(struct kubectl *k, const cJSON *owned, const struct undeploy_opts *opts,
                 struct strbuf *left, struct err *err)
{
	for (int rank = 0; rank < LEAVE_ORDERS; rank++)
		if (count_rank(owned, rank, opts) > 0)
			progress_stage(k->progress, rank_names[rank], "pending", "%d to delete",
			               count_rank(owned, rank, opts));
	for (int rank = 0; rank < LEAVE_ORDERS; rank++) {
		int n = count_rank(owned, rank, opts);

		if (n > 0)
			progress_stage(k->progress, rank_names[rank], "deleting", "%s", "");
		if (delete_rank(k, owned, rank, opts, left, err) != 0) {
			progress_stage(k->progress, rank_names[rank], "failed", "%s", "");
			return -1;
		}
		if (n > 0)
			progress_stage(k->progress, rank_names[rank], "gone", "%d deleted", n);
	}
	return 0;
}
