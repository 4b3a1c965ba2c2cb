/*
 * slipway build: spec -> plan -> image in a layout -> check -> results.
 */
#include <string.h>

#include "base/pool.h"
#include "base/text.h"
#include "builder/cli/command.h"
#include "builder/cli/remote_option.h"
#include "builder/cli/result_file.h"
#include "builder/cli/spec_option.h"
#include "builder/image/build.h"
#include "builder/image/check.h"
#include "builder/image/part.h"
#include "builder/image/publish.h"
#include "builder/image/push.h"
#include "builder/oci/part.h"

static const char *const format_choices[] = {"oci", "oci-archive", "docker-archive", NULL};

struct build_options {
	struct spec_options spec;
	const char *dest, *format;
	struct strlist platform;
	bool no_check, no_cache, sparse, locked, dry_run, push, push_by_digest;
	const char *result_file;
	int64_t jobs;
	const char *digest_file, *metadata_file;
	bool create_repository;
	struct remote_options remote;
};

static const struct option options[] = {
	SPEC_OPTIONS(struct build_options, spec, "The spec",
                     "Override one value of the spec, as in image.tags=[v2]"),
	TEXT_OPTION(struct build_options, dest, "dest", 'o', "DIR",
                    "Where the image goes: an OCI layout folder, or a file for archives",
                    .fallback = "build/image", .complete = COMPLETE_DIR),
	TEXT_OPTION(struct build_options, format, "format", 0, "oci|oci-archive|docker-archive",
                    "Format of the image", .fallback = "oci", .complete = COMPLETE_CHOICES,
                    .choices = format_choices),
	LIST_OPTION(struct build_options, platform, "platform", 0, "OS/ARCH",
                    "Build only this platform of the spec"),
	FLAG_OPTION(struct build_options, no_check, "no-check", 0, "Skip the image check"),
	FLAG_OPTION(struct build_options, no_cache, "no-cache", 0,
                    "Neither read nor write the build cache"),
	FLAG_OPTION(struct build_options, sparse, "sparse", 0,
                    "Leave base layers out of the layout; push mounts or copies them; implies "
                    "--no-check"),
	FLAG_OPTION(struct build_options, locked, "locked", 0,
                    "Take base digests from slipway.lock only, and never write it"),
	FLAG_OPTION(struct build_options, dry_run, "dry-run", 0, "Print the plan and stop"),
	FLAG_OPTION(struct build_options, push, "push", 0,
                    "Push the image to the spec's repository afterwards"),
	FLAG_OPTION(
		struct build_options, push_by_digest, "push-by-digest", 0,
		"Then push each platform's manifest, without index and tags, for `slipway index "
		"create` to join"),
	TEXT_OPTION(struct build_options, result_file, "result-file", 0, "FILE",
                    "With --push-by-digest: write the result file that `slipway index create` "
                    "reads",
                    .complete = COMPLETE_FILE),
	NUMBER_OPTION(struct build_options, jobs, "jobs", 'j', "N",
                      "Threads for compression and connections (default: all CPUs)"),
	TEXT_OPTION(struct build_options, digest_file, "digest-file", 0, "FILE",
                    "Write the index digest to this file", .complete = COMPLETE_FILE),
	TEXT_OPTION(struct build_options, metadata_file, "metadata-file", 0, "FILE",
                    "Write digests, sizes and layers as JSON", .complete = COMPLETE_FILE),
	CREATE_REPOSITORY_OPTION(struct build_options, create_repository),
	REMOTE_OPTIONS(struct build_options, remote),
};

/* One build on its way. */
struct build_run {
	struct cli *cli;
	const struct build_options *options;
	struct spec *spec;
	struct plan *plan;
	struct layout *layout;
	struct layer_cache *cache;
	struct remote remote;
	struct lock lock;
	struct build_result result;
	struct check_report report;
	struct push_result pushed;
	bool checked, check_cached;
	char dir[PATH_MAX]; /* the layout's folder */
	bool scratch_dir;   /* it is ours to remove */
};

static int make_plan(struct build_run *run, struct err *err)
{
	const struct build_options *o = run->options;
	struct arena *a = &run->cli->arena;
	struct platform *only = arena_calloc(a, o->platform.n, sizeof(*only));

	if (spec_from_options(run->cli, &o->spec, &run->spec, err) != 0)
		return -1;
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

	if (o->result_file != NULL && !o->push_by_digest)
		return err_set(err, ERR_USAGE, "--result-file needs --push-by-digest");
	if (!o->push_by_digest)
		return 0;
	if (o->push)
		return err_set(err, ERR_USAGE,
		               "--push sets tags and --push-by-digest does not: choose one");
	return image_part_possible(run->spec, run->plan, err);
}

static int print_plan(const struct build_run *run)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);

	if (cli_json(run->cli)) {
		AUTO(json) cJSON *doc = plan_json(run->plan);

		cli_print_json(run->cli, doc);
		return 0;
	}
	plan_text(run->plan, &text);
	fputs(strbuf_str(&text), run->cli->out);
	return 0;
}

/* SOURCE_DATE_EPOCH (reproducible-builds.org): seconds since 1970, 0 when unset. */
static int read_epoch(int64_t *ret_epoch, struct err *err)
{
	const char *text = getenv("SOURCE_DATE_EPOCH");

	*ret_epoch = 0;
	if (text == NULL || text[0] == '\0')
		return 0;
	if (!text_int64(text, strlen(text), ret_epoch) || *ret_epoch < 0 ||
	    *ret_epoch > 253402300799)
		return err_set(err, ERR_USAGE, "SOURCE_DATE_EPOCH '%s' is not a number of seconds",
		               text);
	return 0;
}

/* An archive is made from a layout that nobody sees: a folder beside it. */
static int choose_dir(struct build_run *run, struct err *err)
{
	const struct build_options *o = run->options;
	int n = snprintf(run->dir, sizeof(run->dir), "%s", o->dest);

	if (strcmp(o->format, "oci") != 0) {
		n = snprintf(run->dir, sizeof(run->dir), "%s.layout-XXXXXX", o->dest);
		run->scratch_dir = true;
	}
	if (n < 0 || (size_t)n >= sizeof(run->dir))
		return err_set(err, ERR_USAGE, "the path '%.40s...' is too long", o->dest);
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
		.sparse = o->sparse,
		.threads = (unsigned)o->jobs,
		.progress = run->cli->progress,
	};

	if (read_epoch(&opts.epoch, err) != 0)
		return -1;
	if (lock_load(lock_path(run->spec->file, &run->cli->arena), &run->cli->arena, &run->lock,
	              err) != 0 ||
	    image_build(&opts, &run->cli->arena, &run->result, &run->cli->diags, err) != 0)
		return -1;
	return o->locked ? 0 : lock_save(&run->lock, err);
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

	if (image_publish(run->layout, &run->spec->image.tags, &run->result.index, &in_use, err) !=
	    0)
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
	if (image_archive(run->layout, &run->result.index, run->spec, docker, o->dest,
	                  &run->cli->arena, err) == 0)
		return 0;
	if (err->code == ERR_USAGE)
		err_hint(err, "choose one platform, as in --platform linux/amd64");
	return -1;
}

static int push_built(struct build_run *run, struct err *err)
{
	const struct build_options *o = run->options;
	struct image_target target;

	if (!o->push && !o->push_by_digest)
		return 0;
	if (image_target_of_spec(run->spec, &run->cli->arena, &target, err) != 0)
		return -1;
	target.create = o->create_repository;
	if (o->push_by_digest)
		return image_part_push(&run->remote, run->layout, &run->result, &target,
		                       &run->pushed, err);
	return image_push(&run->remote, run->layout, &run->result.index, &target, &run->pushed,
	                  err);
}

static cJSON *metadata(const struct build_run *run)
{
	cJSON *doc = cJSON_CreateObject();
	char text[DIGEST_TEXT_MAX];

	json_add_string(doc, "name", run->spec->name);
	json_add_string(doc, "digest", digest_text(&run->result.index.digest, text));
	json_add_string(doc, "media_type", run->result.index.media_type);
	json_add_int(doc, "size", run->result.index.size);
	json_add_string(doc, "layout", run->scratch_dir ? run->options->dest : run->dir);
	json_add_bool(doc, "checked", run->checked);
	built_images_json(&run->result, json_add_array(doc, "images"));
	if (run->options->push || run->options->push_by_digest)
		push_result_json(&run->pushed, json_add_object(doc, "push"));
	return doc;
}

static void print_images(const struct build_run *run)
{
	char size[TEXT_BYTES_MAX], text[DIGEST_TEXT_MAX], platform[PLATFORM_TEXT_MAX];
	FILE *out = run->cli->out;

	for (size_t i = 0; i < run->result.n_images; i++) {
		const struct built_image *image = &run->result.images[i];

		fprintf(out, "%s  %s  %s compressed\n", platform_text(&image->platform, platform),
		        digest_text(&image->manifest.digest, text), text_bytes(image->size, size));
		for (size_t k = 0; k < image->n_layers; k++) {
			const struct built_layer *layer = &image->layers[k];

			fprintf(out, "  %-16s %s  %9s%s%s\n", layer->name,
			        digest_text(&layer->result.digest, text),
			        text_bytes(layer->result.size, size),
			        layer->shared ? "  shared" : "",
			        layer->result.cached ? "  cached" : "");
		}
	}
	if (run->checked)
		fprintf(out, "image check passed%s\n", run->check_cached ? " (remembered)" : "");
}

/* What the machine that joins the parts is to know. */
static int write_part(const struct build_run *run, const char *path, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(PART_BYTES_MAX);

	image_part_print(&run->result, run->spec, &run->cli->arena, &text);
	return result_file_write(path, text.ptr, text.len, err);
}

static int report_image(struct build_run *run, struct err *err)
{
	const struct build_options *o = run->options;
	AUTO(json) cJSON *doc = metadata(run);
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(0);
	char digest[DIGEST_TEXT_MAX];

	digest_text(&run->result.index.digest, digest);
	json_print_pretty(doc, &text);
	if (o->result_file != NULL && write_part(run, o->result_file, err) != 0)
		return -1;
	if (o->metadata_file != NULL &&
	    result_file_write(o->metadata_file, text.ptr, text.len, err) != 0)
		return -1;
	if (o->digest_file != NULL) {
		strbuf_reset(&text);
		strbuf_addf(&text, "%s\n", digest);
		if (result_file_write(o->digest_file, text.ptr, text.len, err) != 0)
			return -1;
	}
	if (cli_json(run->cli)) {
		cli_print_json(run->cli, doc);
		return 0;
	}
	print_images(run);
	fprintf(run->cli->out, "%s\n", digest);
	return 0;
}

/* $SLIPWAY_CACHE_MAX in bytes. */
static int64_t cache_limit(void)
{
	const char *text = getenv("SLIPWAY_CACHE_MAX");
	int64_t bytes;

	if (text != NULL && text_int64(text, strlen(text), &bytes) && bytes >= 0)
		return bytes;
	return (int64_t)10 << 30;
}

static int run_all(struct build_run *run, struct err *err)
{
	if (make_plan(run, err) != 0 || check_part(run, err) != 0)
		return -1;
	if (run->options->dry_run)
		return print_plan(run);
	if (open_stores(run, err) != 0 || build(run, err) != 0 || check_built(run, err) != 0 ||
	    publish(run, err) != 0 || write_archive(run, err) != 0 || push_built(run, err) != 0)
		return -1;
	return report_image(run, err);
}

static int cmd_build_run(struct cli *cli, struct err *err)
{
	struct build_run run = {.cli = cli, .options = cli->options};
	int result = run_all(&run, err);
	struct err ignored = {0};

	if (run.cache != NULL && result == 0 &&
	    cache_prune(run.cache, cache_limit(), &ignored) != 0)
		progress_note(cli->progress, "build cache: %s", ignored.msg);
	layout_close(run.layout);
	cache_close(run.cache);
	remote_done(&run.remote);
	if (run.scratch_dir && fs_remove_tree(run.dir, &ignored) != 0)
		progress_note(cli->progress, "%s", ignored.msg);
	return result;
}

const struct command cmd_build = {
	.name = "build",
	.summary = "Build the spec's image for every platform into an OCI layout",
	.synopsis = "",
	.details =
		"Packs the layers, writes configuration, manifests and the multi-arch index, runs "
		"the image\n"
		"check, and prints the index digest as the last line. The same content gives the "
		"same\n"
		"digest on every machine. Layers that did not change come from the build cache in\n"
		"$XDG_CACHE_HOME/slipway (at most $SLIPWAY_CACHE_MAX bytes, default 10 GiB).\n"
		"SOURCE_DATE_EPOCH sets the newest time stamp inside the image (default 0).\n",
	.examples = "slipway build\tBuild ./slipway.yaml into build/image\n"
		    "slipway build --set image.tags=[v2] --push\tBuild, check and push as v2\n"
		    "slipway build --platform linux/amd64 --format docker-archive -o "
		    "image.tar\tFor docker load\n",
	.options = OPTION_TABLE(struct build_options, options),
	.max_args = 0,
	.run = cmd_build_run,
};
