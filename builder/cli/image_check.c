#include "builder/cli/image_check.h"

#include <string.h>

#include "base/text.h"

int spec_from_options(struct cli *cli, struct spec **ret_spec, struct err *err)
{
	const struct strlist *texts = &cli->options.sets;
	struct spec_set *sets = arena_calloc(&cli->arena, texts->n, sizeof(*sets));

	for (size_t i = 0; i < texts->n; i++)
		sets[i].assignment = texts->at[i];
	if (spec_load(cli->options.file, sets, texts->n, &cli->arena, ret_spec, &cli->diags, err) ==
	    0)
		return 0;
	if (err->code == ERR_NOT_FOUND)
		err_hint(err, "name the spec with -f FILE; `slipway schema` describes its form");
	return -1;
}

int64_t image_cache_limit(void)
{
	const char *text = getenv("SLIPWAY_CACHE_MAX");
	int64_t bytes;

	if (text != NULL && text_int64(text, strlen(text), &bytes) && bytes >= 0)
		return bytes;
	return (int64_t)10 << 30;
}

/* sonames that any layer says the node brings, and the check's own list. */
static struct strlist provided(const struct plan *plan, struct arena *a)
{
	const struct strlist *own = &plan->spec->image.check.provided;
	struct strlist all = {0};
	size_t n = own->n;

	for (size_t i = 0; i < plan->n_images; i++)
		for (size_t k = 0; k < plan->images[i].n_layers; k++)
			n += plan->images[i].layers[k].provided.n;
	all.at = arena_calloc(a, n, sizeof(*all.at));
	for (size_t i = 0; i < own->n; i++)
		all.at[all.n++] = own->at[i];
	for (size_t i = 0; i < plan->n_images; i++)
		for (size_t k = 0; k < plan->images[i].n_layers; k++) {
			const struct strlist *list = &plan->images[i].layers[k].provided;

			for (size_t j = 0; j < list->n; j++)
				all.at[all.n++] = list->at[j];
		}
	return all;
}

static void hash_list(struct hasher *h, const struct strlist *list)
{
	for (size_t i = 0; i < list->n; i++)
		hasher_update(h, list->at[i], strlen(list->at[i]) + 1);
	hasher_update(h, "", 1);
}

/* Everything that a verdict depends on. */
static struct digest verdict_key(const struct descriptor *root, const struct check_opts *opts)
{
	AUTO(hasher) struct hasher h = {0};
	const int64_t numbers[] = {CHECK_RULES_VERSION, opts->size_budget};

	hasher_init(&h);
	hasher_update(&h, numbers, sizeof(numbers));
	hasher_update(&h, root->digest.bytes, sizeof(root->digest.bytes));
	hash_list(&h, &opts->off);
	hash_list(&h, &opts->provided);
	return hasher_final(&h);
}

int image_check_cached(struct cli *cli, struct store *store, const struct descriptor *root,
                       const struct plan *plan, struct layer_cache *cache,
                       struct check_report *ret_report, bool *ret_cached, struct err *err)
{
	const struct check_spec *spec = &plan->spec->image.check;
	const struct check_opts opts = {
		.off = spec->off,
		.provided = provided(plan, &cli->arena),
		.size_budget = spec->size_budget,
		.threads = (unsigned)cli->options.jobs,
		.progress = cli->progress,
	};
	const struct digest key = verdict_key(root, &opts);

	*ret_cached = cache != NULL && cache_find_verdict(cache, &key);
	if (*ret_cached)
		return 0;
	if (check_image(store, root, &opts, &cli->arena, ret_report, &cli->diags, err) != 0)
		return -1;
	if (cache != NULL && cli->diags.n == 0)
		cache_put_verdict(cache, &key);
	return 0;
}
