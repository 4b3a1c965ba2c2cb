/* See pack.h. */
#include "builder/image/pack.h"

#include "builder/image/copy_plan.h"
#include "builder/oci/archive.h"

static bool is_attached(const struct copy_plan *plan, const struct descriptor *entry)
{
	for (size_t i = 0; i < plan->documents.n; i++) {
		const struct copy_document *doc = &plan->documents.at[i];

		if (digest_equal(&doc->desc.digest, &entry->digest))
			return doc->attached || doc->tag != NULL;
	}
	return false;
}

/* The layout's entries of what is attached to the image: they say to what. */
static int list_attached(struct copy_plan *plan, const struct layout *layout,
                         struct index *ret_list, struct err *err)
{
	struct index all;

	if (layout_index(layout, &plan->arena, &all, err) != 0)
		return -1;
	*ret_list = (struct index){
		.manifests = arena_calloc(&plan->arena, all.n_manifests, sizeof(*all.manifests))};
	for (size_t i = 0; i < all.n_manifests; i++)
		if (is_attached(plan, &all.manifests[i]))
			ret_list->manifests[ret_list->n_manifests++] = all.manifests[i];
	return 0;
}

int image_pack(struct layout *layout, const struct descriptor *root, const char *tag,
               const char *path, struct err *err)
{
	struct copy_plan plan = {0};
	struct store *store = layout_store(layout);
	struct archive_opts opts = {.from = store, .root = root, .tag = tag};
	struct index others;
	int rc = copy_plan_make(&plan, store, root, err);

	if (rc == 0)
		rc = list_attached(&plan, layout, &others, err);
	if (rc == 0) {
		opts.others = others.manifests;
		opts.n_others = others.n_manifests;
		rc = archive_write_oci(path, &opts, err);
	}
	store_close(store);
	copy_plan_done(&plan);
	return rc;
}
