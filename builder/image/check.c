#include "builder/image/check.h"

#include <string.h>

#include "k8s/job/scheduler.h"

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

/* Where the spec says what starts, and what is packed. */
static struct check_at positions(const struct spec_image *image, struct arena *a)
{
	struct check_layer_at *layers = arena_calloc(a, image->n_layers, sizeof(*layers));

	for (size_t i = 0; i < image->n_layers; i++)
		layers[i] = (struct check_layer_at){image->layers[i].name, image->layers[i].at};
	return (struct check_at){.layers = layers,
	                         .n_layers = image->n_layers,
	                         .image = image->at,
	                         .entrypoint = image->entrypoint_at,
	                         .cmd = image->cmd_at,
	                         .user = image->user_at,
	                         .workdir = image->workdir_at,
	                         .env = image->env_at,
	                         .size_budget = image->check.size_budget_at};
}

/* The digests of the base's layers, of all platforms. */
static struct strlist base_layers(const struct build_result *built, struct arena *a)
{
	struct strlist all = {0};
	size_t n = 0;

	for (size_t i = 0; i < built->n_images; i++)
		n += built->images[i].n_base_layers;
	all.at = arena_calloc(a, n, sizeof(*all.at));
	for (size_t i = 0; i < built->n_images; i++)
		for (size_t k = 0; k < built->images[i].n_base_layers; k++) {
			char text[DIGEST_TEXT_MAX];

			all.at[all.n++] = arena_strdup(
				a, digest_text(&built->images[i].base_layers[k].digest, text));
		}
	return all;
}

/* The instance of the fleet whose processor has the least, NULL without a fleet for amd64. */
static const struct instance *least_instance(const struct fleet *fleet)
{
	const struct instance *least = NULL;

	for (size_t i = 0; i < fleet->n_targets; i++)
		for (size_t k = 0; k < fleet->targets[i].n_instances; k++) {
			const struct instance *row = fleet->targets[i].instances[k];
			unsigned level = instance_x86_level(row);

			if (level > 0 && (least == NULL || level < instance_x86_level(least)))
				least = row;
		}
	return least;
}

/* Whether the job is of this image, has several pods, and no mpirun starts them. */
static bool ranks_meet(const struct job_section *job)
{
	return job->set && job->image == NULL && job->nodes > 1 &&
	       !schedulers[job->scheduler].needs_command;
}

static void hash_list(struct hasher *h, const struct strlist *list)
{
	for (size_t i = 0; i < list->n; i++)
		hasher_update(h, list->at[i], strlen(list->at[i]) + 1);
	hasher_update(h, "", 1);
}

static void hash_text(struct hasher *h, const char *text)
{
	/* NULL and "" differ. */
	hasher_update(h, text != NULL ? "1" : "0", 1);
	if (text != NULL)
		hasher_update(h, text, strlen(text) + 1);
}

static void hash_allowances(struct hasher *h, const struct check_opts *opts)
{
	for (size_t i = 0; i < opts->n_allow; i++) {
		hash_text(h, opts->allow[i].rule);
		hash_text(h, opts->allow[i].path);
		hash_text(h, opts->allow[i].digest);
	}
	hasher_update(h, "", 1);
}

/* Everything that a verdict depends on. */
static struct digest verdict_key(const struct descriptor *root, const struct check_opts *opts)
{
	AUTO(hasher) struct hasher h = {0};
	const int64_t numbers[] = {CHECK_RULES_VERSION, opts->size_budget,  opts->program_elsewhere,
	                           opts->isa_level,     opts->max_unpacked, opts->ranks_meet};

	hasher_init(&h);
	hasher_update(&h, numbers, sizeof(numbers));
	hasher_update(&h, root->digest.bytes, sizeof(root->digest.bytes));
	hash_text(&h, opts->program);
	hash_list(&h, &opts->off);
	hash_list(&h, &opts->provided);
	hash_list(&h, &opts->base_layers);
	hash_allowances(&h, opts);
	return hasher_final(&h);
}

int image_check_cached(const struct image_check_opts *o, struct arena *a,
                       struct check_report *ret_report, bool *ret_cached, struct diags *d,
                       struct err *err)
{
	const struct check_spec *spec = &o->plan->spec->image.check;
	const struct instance *least = least_instance(&o->plan->spec->fleet);
	const struct job_section *job = &o->plan->spec->sections.job;
	const struct check_opts opts = {
		.off = spec->off,
		.provided = provided(o->plan, a),
		.base_layers = base_layers(o->built, a),
		.allow = spec->allow,
		.n_allow = spec->n_allow,
		.isa_level = least != NULL ? instance_x86_level(least) : 0,
		.isa_instance = least != NULL ? least->type : NULL,
		.max_unpacked = spec->max_unpacked,
		.size_budget = spec->size_budget,
		.at = positions(&o->plan->spec->image, a),
		.program_elsewhere = job->command.n > 0,
		.program = job->command.n > 0 ? job->command.at[0] : NULL,
		.ranks_meet = ranks_meet(job),
		.threads = o->threads,
		.progress = o->progress,
	};
	const struct digest key = verdict_key(o->root, &opts);

	*ret_cached = o->cache != NULL && cache_find_verdict(o->cache, &key);
	if (*ret_cached)
		return 0;
	if (check_image(o->store, o->root, &opts, a, ret_report, d, err) != 0)
		return -1;
	if (o->cache != NULL && d->n == 0)
		cache_put_verdict(o->cache, &key);
	return 0;
}
