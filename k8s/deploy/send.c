/* Sending objects to the server: what fleets share, then the fleet's own. */
#include "base/attr.h"
#include "k8s/deploy/apply.h"
#include "k8s/deploy/shared.h"

/* One call; adds what came of it to `after`. No items = no call. */
static int send_items(struct kubectl *k, cJSON *items, const char *manager,
                      const struct apply_opts *opts, cJSON *after, struct err *err)
{
	AUTO(strbuf) struct strbuf input = STRBUF_INIT(0), field = STRBUF_INIT(256);
	AUTO(json) cJSON *done = NULL;
	size_t n = 7;

	if (items->child == NULL)
		return 0;
	strbuf_addf(&field, "--field-manager=%s", manager);
	const char *args[12] = {"apply", "--server-side", strbuf_str(&field), "-f", "-",
	                        "-o",    "json"};

	if (opts->force_conflicts)
		args[n++] = "--force-conflicts";
	if (opts->dry_run)
		args[n++] = "--dry-run=server";
	kubectl_print_list(items, &input);
	if (kubectl_list(k, args, strbuf_str(&input), &done, err) != 0)
		return -1;
	while (done->child != NULL)
		json_push(after, cJSON_DetachItemFromArray(done, 0));
	return 0;
}

/* Where another fleet's slipway wrote other values, ours replace them; anybody else's are left. */
static int send_each(struct kubectl *k, const cJSON *items, const char *manager,
                     const struct apply_opts *opts, cJSON *after, struct err *err)
{
	struct apply_opts forced = *opts;

	forced.force_conflicts = true;
	for (cJSON *item = items->child; item != NULL; item = item->next) {
		AUTO(json) cJSON *one = cJSON_CreateArray();

		cJSON_AddItemReferenceToArray(one, item);
		if (send_items(k, one, manager, opts, after, err) == 0)
			continue;
		if (err->code != ERR_CONFLICT || !shared_conflict_is_ours(err->msg))
			return -1;
		*err = (struct err){0};
		if (send_items(k, one, manager, &forced, after, err) != 0)
			return -1;
	}
	return 0;
}

static int send_shared(struct kubectl *k, cJSON *items, const struct apply_opts *opts, cJSON *after,
                       struct err *err)
{
	AUTO(strbuf) struct strbuf manager = STRBUF_INIT(128);

	if (items->child == NULL)
		return 0;
	strbuf_addf(&manager, "slipway-%s", opts->owner);
	if (send_items(k, items, strbuf_str(&manager), opts, after, err) == 0)
		return 0;
	if (err->code != ERR_CONFLICT)
		return -1;
	*err = (struct err){0};
	return send_each(k, items, strbuf_str(&manager), opts, after, err);
}

int objects_send(struct kubectl *k, cJSON *items, const struct apply_opts *opts, cJSON **ret,
                 struct err *err)
{
	AUTO(json) cJSON *own = cJSON_CreateArray(), *shared = cJSON_CreateArray();
	AUTO(json) cJSON *after = cJSON_CreateArray();

	for (cJSON *item = items->child; item != NULL; item = item->next)
		cJSON_AddItemReferenceToArray(object_is_shared(item) ? shared : own, item);
	/* First what is shared: the fleet's own may need it. */
	if (send_shared(k, shared, opts, after, err) != 0 ||
	    send_items(k, own, "slipway", opts, after, err) != 0)
		return -1;
	*ret = after;
	after = NULL;
	return 0;
}
