#include "builder/cli/build_run.h"
#include "builder/cli/push_signing.h"

#include <string.h>

#include "base/doc/fields.h"
#include "base/text.h"
#include "builder/cli/epoch.h"
#include "builder/image/part.h"
#include "builder/image/publish.h"

bool build_makes_archive(const struct build_options *o)
{
	return strcmp(o->format, "oci") != 0;
}

static int make_plan(struct build_run *run, struct err *err)
{
	const struct build_options *o = run->options;
	struct arena *a = &run->cli->arena;
	struct platform *only = arena_calloc(a, o->platform.n, sizeof(*only));

	for (size_t i = 0; i < o->platform.n; i++)
		if (platform_parse(o->platform.at[i], &only[i], err) != 0) {
			err->code = ERR_USAGE;
			return err_wrap(err, "--platform %s", o->platform.at[i]);
		}
	return plan_make(run->spec, o->platform.n > 0 ? only : NULL, o->platform.n, a, &run->plan,
	                 &run->cli->diags, err);
}

/* What --push-by-digest cannot handle is refused before anything is built. */
static int check_part(const struct build_run *run, struct err *err)
{
	const struct build_options *o = run->options;

	if (o->result_file != NULL && !o->push_by_digest) {
		err_set(err, ERR_USAGE, "--result-file needs --push-by-digest");
		return err_hint(err, "add it: the file is for `slipway index create`, which joins "
		                     "what was pushed so");
	}
	if (!o->push_by_digest)
		return 0;
	if (o->push)
		return err_set(err, ERR_USAGE,
		               "--push sets tags and --push-by-digest does not: choose one");
	return image_part_possible(run->spec, run->plan, err);
}

/* An archive is made from a layout that nobody sees: a folder beside it. */
static int choose_dir(struct build_run *run, struct err *err)
{
	const struct build_options *o = run->options;
	bool archive = build_makes_archive(o);

	run->dest =
		archive ? o->dest : spec_image_dir(&run->spec->image, o->dest, &run->cli->arena);
	int n = snprintf(run->dir, sizeof(run->dir), "%s%s", run->dest,
	                 archive ? ".layout-XXXXXX" : "");

	run->scratch_dir = archive;
	if (n < 0 || (size_t)n >= sizeof(run->dir)) {
		run->scratch_dir = false;
		return err_set(err, ERR_USAGE, "the path '%.40s...' is too long", o->dest);
	}
	if (run->scratch_dir && mkdtemp(run->dir) == NULL) {
		run->scratch_dir = false;
		return err_set(err, ERR_IO, "create a folder beside '%s'", o->dest);
	}
	return 0;
}

static int open_stores(struct build_run *run, struct err *err)
{
	char dir[PATH_MAX];

	if (choose_dir(run, err) != 0 ||
	    layout_open(run->dir, LAYOUT_WRITE, &run->layout, err) != 0)
		return -1;
	if (!run->options->no_cache &&
	    (fs_cache_dir(dir, err) != 0 || cache_open(dir, &run->cache, err) != 0)) {
		err_wrap(err, "build cache");
		return err_hint(err, "set XDG_CACHE_HOME to a writable folder, or pass --no-cache");
	}
	if (run->cache != NULL)
		cache_tell(run->cache, run->cli->progress);
	return remote_from_options(run->cli, &run->options->remote, run->options->jobs,
	                           run->spec->image.repository, &run->remote, err);
}

/* The part before '=' of each "KEY=VALUE", below a key of the spec: values may be secrets. */
static void add_keys(struct strlist *out, const char *section, const struct strlist *texts,
                     struct arena *a)
{
	for (size_t i = 0; i < texts->n; i++)
		out->at[out->n++] = arena_printf(a, "%s%.*s", section,
		                                 (int)strcspn(texts->at[i], "="), texts->at[i]);
}

struct strlist build_overrides(const struct build_options *o, struct arena *a)
{
	struct strlist out = {0};

	out.at = arena_calloc(a, o->spec.set.n + o->label.n + o->annotation.n + o->env.n,
	                      sizeof(*out.at));
	add_keys(&out, "", &o->spec.set, a);
	add_keys(&out, "image.labels.", &o->label, a);
	add_keys(&out, "image.annotations.", &o->annotation, a);
	add_keys(&out, "image.env.", &o->env, a);
	return out;
}

/* Where --push and --push-by-digest send the image. */
static int find_target(const struct build_run *run, struct image_target *ret_target,
                       struct err *err)
{
	if (image_target_of_spec(run->spec, &run->cli->arena, ret_target, err) != 0)
		return -1;
	ret_target->create = run->options->create_repository;
	return 0;
}

/* A push that is asked for begins with the build. */
static int start_ahead(struct build_run *run, struct err *err)
{
	struct image_target target;

	if (!run->options->push && !run->options->push_by_digest)
		return 0;
	if (find_target(run, &target, err) != 0)
		return -1;
	run->ahead = push_ahead_new(&run->remote, run->layout, &target);
	return 0;
}

static void layer_packed(void *ctx, const struct descriptor *layer)
{
	push_ahead_add(((struct build_run *)ctx)->ahead, layer);
}

static int build(struct build_run *run, struct err *err)
{
	const struct build_options *o = run->options;
	struct build_opts opts = {
		.plan = run->plan,
		.layout = run->layout,
		.cache = run->cache,
		.remote = &run->remote,
		.lock = &run->lock,
		.locked = o->locked,
		.overrides = build_overrides(o, &run->cli->arena),
		.sparse = o->sparse,
		.threads = (unsigned)o->jobs,
		.progress = run->cli->progress,
		.packed = layer_packed,
		.packed_ctx = run,
	};
	bool fixed;

	if (epoch_read(&opts.epoch, &fixed, err) != 0)
		return -1;
	if (lock_load(lock_path(run->spec->file, &run->cli->arena), &run->cli->arena, &run->lock,
	              err) != 0 ||
	    image_build(&opts, &run->cli->arena, &run->result, &run->cli->diags, err) != 0)
		return -1;
	if (o->locked)
		return 0;
	run->lock_made = run->lock.fresh && run->lock.changed;
	return lock_save(&run->lock, err);
}

static int check_built(struct build_run *run, struct err *err)
{
	struct cli *cli = run->cli;
	struct image_check_opts opts = {.root = &run->result.index,
	                                .plan = run->plan,
	                                .built = &run->result,
	                                .cache = run->cache,
	                                .threads = (unsigned)run->options->jobs,
	                                .progress = cli->progress};
	int result;

	if (run->options->no_check || run->options->sparse)
		return 0;
	opts.store = layout_store(run->layout);
	result = image_check_cached(&opts, &cli->arena, &run->report, &run->check_cached,
	                            &cli->diags, err);
	store_close(opts.store);
	run->checked = result == 0;
	return result;
}

/* The image gets its name only now: what was refused never replaces what was good. */
static int publish(struct build_run *run, struct err *err)
{
	bool in_use;

	if (image_publish(run->layout, run->spec, &run->result.index, &run->cli->arena, &in_use,
	                  err) != 0)
		return -1;
	if (in_use)
		progress_note(run->cli->progress,
		              "'%s' is in use by another process: a later build removes its unused "
		              "blobs",
		              run->dir);
	return 0;
}

static int write_archive(struct build_run *run, struct err *err)
{
	const struct build_options *o = run->options;
	bool docker = strcmp(o->format, "docker-archive") == 0;

	if (!run->scratch_dir)
		return 0;
	if (image_archive(run->layout, &run->result.index, run->spec, docker, run->dest,
	                  &run->cli->arena, err) == 0)
		return 0;
	if (err->code == ERR_USAGE)
		err_hint(err, "choose one platform, as in --platform linux/amd64");
	return -1;
}

static int push_to(struct build_run *run, const struct image_target *target, struct err *err)
{
	if (run->options->push_by_digest)
		return image_part_push(&run->remote, run->layout, &run->result, target,
		                       &run->pushed, err);
	return image_push(&run->remote, run->layout, &run->result.index, target, &run->pushed, err);
}

/* While the last layers are still on their way the configurations follow them. They wait for the
 * check to pass, for it may refuse what they say. */
static void finish_ahead(struct build_run *run, struct push_result *result)
{
	for (size_t i = 0; i < run->result.n_images; i++)
		push_ahead_add(run->ahead, &run->result.images[i].config);
	push_ahead_end(run->ahead, false, result);
	run->ahead = NULL;
}

/* The push proper sends what did not go ahead, then what names it, then the tags. */
static int push_built(struct build_run *run, struct err *err)
{
	AUTO(push_signing) struct push_signing signing = {0};
	struct push_result ahead = {0};
	struct image_target target;

	if (!run->options->push && !run->options->push_by_digest)
		return 0;
	finish_ahead(run, &ahead);
	if (find_target(run, &target, err) != 0 ||
	    (!run->options->no_sign && push_signing_open(run->cli, run->variables, &run->remote,
	                                                 run->spec, &signing, &target, err) != 0) ||
	    push_to(run, &target, err) != 0)
		return -1;
	run->pushed.n_uploaded += ahead.n_uploaded;
	run->pushed.bytes_uploaded += ahead.bytes_uploaded;
	run->pushed.n_existed -=
		ahead.n_uploaded < run->pushed.n_existed ? ahead.n_uploaded : run->pushed.n_existed;
	return 0;
}

/* $SLIPWAY_CACHE_MAX: bytes, or a size with its unit; 0 keeps nothing. */
static int read_cache_limit(int64_t *ret_bytes, struct err *err)
{
	const char *text = getenv("SLIPWAY_CACHE_MAX");

	*ret_bytes = (int64_t)10 << 30;
	if (text == NULL || text[0] == '\0' || fields_parse_size(text, ret_bytes) ||
	    (text_int64(text, strlen(text), ret_bytes) && *ret_bytes >= 0))
		return 0;
	err_set(err, ERR_USAGE, "SLIPWAY_CACHE_MAX '%.100s' is not a size", text);
	return err_hint(err, "write bytes with a unit, as in 20GiB or 500MB");
}

int build_run(struct build_run *run, struct err *err)
{
	if (read_cache_limit(&run->cache_limit, err) != 0 || make_plan(run, err) != 0 ||
	    check_part(run, err) != 0)
		return -1;
	if (run->options->dry_run)
		return build_report_plan(run);
	if (open_stores(run, err) != 0 || start_ahead(run, err) != 0 || build(run, err) != 0 ||
	    check_built(run, err) != 0 || publish(run, err) != 0 || write_archive(run, err) != 0 ||
	    push_built(run, err) != 0)
		return -1;
	return build_report(run, err);
}

void build_run_done(struct build_run *run, bool built)
{
	struct push_result unused;
	struct err ignored = {0};

	push_ahead_end(run->ahead, true, &unused);
	if (run->cache != NULL && built && cache_prune(run->cache, run->cache_limit, &ignored) != 0)
		progress_note(run->cli->progress, "build cache: %s", ignored.msg);
	layout_close(run->layout);
	cache_close(run->cache);
	remote_done(&run->remote);
	if (run->scratch_dir && fs_remove_tree(run->dir, &ignored) != 0)
		progress_note(run->cli->progress, "%s", ignored.msg);
}
