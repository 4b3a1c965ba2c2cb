#include "builder/check/check.h"

#include <string.h>

#include "base/cpus.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include "builder/check/allow.h"
#include "builder/check/images.h"
#include "builder/check/rules.h"
#include "builder/oci/mediatype.h"

/* Scans in flight at once: each may hold a decompression window and a spool. */
enum { SCAN_THREADS_MAX = 4 };

/* ---- reading documents ---- */

/* Faults of the image become reports of the digest rule; *ret_good says whether the bytes are
 * there. */
static int read_document(struct check_image *image, const struct descriptor *desc, size_t max_bytes,
                         struct strbuf *sb, bool *ret_good, struct err *err)
{
	struct err failure = {0};
	char text[DIGEST_TEXT_MAX];

	*ret_good = store_read(image->run->store, desc, max_bytes, sb, &failure) == 0;
	image->run->n_blobs++;
	if (*ret_good)
		return 0;
	if (failure.code != ERR_DIGEST && failure.code != ERR_NOT_FOUND &&
	    failure.code != ERR_LIMIT && failure.code != ERR_FORMAT) {
		*err = failure;
		return err_wrap(err, "read %s", digest_text(&desc->digest, text));
	}
	rule_report(image, RULE_DIGEST, NO_PLACE, "%s: %s", digest_text(&desc->digest, text),
	            failure.msg);
	return 0;
}

static void read_environment(struct check_image *image, const char *bytes, size_t len)
{
	AUTO(json) cJSON *doc = NULL;
	struct arena *a = image->run->arena;
	struct err err = {0};
	const cJSON *config, *env, *volumes, *item;

	/* The bytes were parsed before, so this does not fail. */
	if (json_parse("configuration", bytes, len, &doc, &err) != 0)
		return;
	config = json_get(doc, "config");
	image->workdir = arena_strdup(a, json_string(config, "WorkingDir"));
	env = json_get(config, "Env");
	image->env.at =
		arena_calloc(a, (size_t)cJSON_GetArraySize(env) + 1, sizeof(*image->env.at));
	cJSON_ArrayForEach (item, env) {
		if (cJSON_IsString(item))
			image->env.at[image->env.n++] = arena_strdup(a, item->valuestring);
	}
	volumes = json_get(config, "Volumes");
	image->volumes.at = arena_calloc(a, (size_t)cJSON_GetArraySize(volumes) + 1,
	                                 sizeof(*image->volumes.at));
	cJSON_ArrayForEach (item, volumes)
		image->volumes.at[image->volumes.n++] = arena_strdup(a, item->string);
}

static int read_config(struct check_image *image, struct err *err)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(CONFIG_BYTES_MAX);
	struct err failure = {0};
	bool good;

	if (read_document(image, &image->manifest.config, CONFIG_BYTES_MAX, &sb, &good, err) != 0)
		return -1;
	if (!good)
		return 0;
	if (config_parse(strbuf_str(&sb), sb.len, image->run->arena, &image->config, &failure) !=
	    0) {
		rule_report(image, RULE_MEDIA_TYPE, NO_PLACE, "the configuration is malformed: %s",
		            failure.msg);
		return 0;
	}
	image->has_config = true;
	image->config_text = arena_strdup(image->run->arena, strbuf_str(&sb));
	image->config_len = sb.len;
	read_environment(image, strbuf_str(&sb), sb.len);
	return 0;
}

/* An index may name one manifest thousands of times: what was read of it serves them all. */
static bool take_from_twin(struct check_image *image, const struct check_image *list, size_t n)
{
	struct descriptor desc = image->desc;

	for (size_t i = 0; i < n; i++)
		if (digest_equal(&list[i].desc.digest, &desc.digest) && list[i].has_config &&
		    list[i].desc.size == desc.size &&
		    strcmp(list[i].desc.media_type, desc.media_type) == 0) {
			*image = list[i];
			image->desc = desc;
			memset(image->n_reports, 0, sizeof(image->n_reports));
			return true;
		}
	return false;
}

/* What the index says of the platform, else the configuration. */
static void set_platform(struct check_image *image)
{
	image->platform = image->desc.platform;
	if (image->platform.os[0] == '\0' && image->has_config)
		image->platform = image->config.platform;
	platform_text(&image->platform, image->platform_name);
	if (image->platform.os[0] == '\0')
		snprintf(image->platform_name, sizeof(image->platform_name), "image");
	image->arch = platform_arch_find(image->platform.architecture);
}

/* Reads manifest and configuration; *ret_good = false when there is nothing to go on with. */
static int read_image(struct check_image *image, bool of_index, bool *ret_good, struct err *err)
{
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(MANIFEST_BYTES_MAX);
	struct err failure = {0};

	set_platform(image);
	if (read_document(image, &image->desc, MANIFEST_BYTES_MAX, &sb, ret_good, err) != 0)
		return -1;
	if (!*ret_good)
		return 0;
	if (manifest_parse(strbuf_str(&sb), sb.len, image->desc.media_type, image->run->arena,
	                   &image->manifest, &failure) != 0) {
		rule_report(image, RULE_MEDIA_TYPE, NO_PLACE, "the manifest is malformed: %s",
		            failure.msg);
		*ret_good = false;
		return 0;
	}
	if (of_index &&
	    images_skip_artifact(&image->desc, &image->manifest, &image->run->skipped)) {
		*ret_good = false;
		return 0;
	}
	if (read_config(image, err) != 0)
		return -1;
	set_platform(image);
	return 0;
}

struct images {
	struct check_image *at;
	size_t n;
};

/* What was passed over is said; an index of nothing else has nothing that could be checked. */
static int say_skipped(const struct check_run *run, size_t n_entries, struct err *err)
{
	AUTO(strbuf) struct strbuf what = STRBUF_INIT(1024);
	const struct images_skipped *skipped = &run->skipped;

	images_describe_skipped(skipped, &what);
	if (what.len == 0)
		return 0;
	progress_note(run->opts->progress, "not an image, and not checked: %s", strbuf_str(&what));
	if (n_entries > 0)
		return 0;
	err_set(err, ERR_CHECK, "the image index names no image: there is nothing to check");
	return err_hint(err, "name an image, not its artifacts");
}

/* Those that can be gone on with; the faults of the others are reported. */
static int read_images(struct check_run *run, const struct descriptor *root, struct images *good,
                       struct err *err)
{
	struct image_list all;

	if (images_list(run->store, root, run->opts->only, run->arena, &all, err) != 0)
		return -1;
	run->n_blobs += all.n_indexes;
	run->indexes = all.indexes;
	run->n_indexes = all.n_indexes;
	run->skipped = all.skipped;
	size_t n_artifacts = all.skipped.n_artifacts;

	good->at = arena_calloc(run->arena, all.n, sizeof(*good->at));
	for (size_t i = 0; i < all.n; i++) {
		struct check_image *image = &good->at[good->n];
		bool is_good = false;

		if (interrupt_check(err) != 0)
			return -1;
		*image = (struct check_image){.run = run, .desc = all.at[i]};
		if (take_from_twin(image, good->at, good->n)) {
			set_platform(image);
			good->n++;
			continue;
		}
		if (read_image(image, all.n_indexes > 0, &is_good, err) != 0)
			return -1;
		good->n += is_good;
	}
	return say_skipped(run, all.n - (run->skipped.n_artifacts - n_artifacts), err);
}

/* ---- layers ---- */

static struct layer_scan *scan_for(struct check_run *run, const struct check_image *image,
                                   const struct descriptor *desc)
{
	struct layer_scan *scan;

	for (size_t i = 0; i < run->n_scans; i++)
		if (digest_equal(&run->scans[i]->desc->digest, &desc->digest) &&
		    run->scans[i]->desc->size == desc->size &&
		    strcmp(run->scans[i]->desc->media_type, desc->media_type) == 0)
			return run->scans[i];
	scan = arena_alloc(run->arena, sizeof(*scan));
	*scan = (struct layer_scan){.desc = desc, .arch = image->arch};
	run->scans[run->n_scans++] = scan;
	return scan;
}

static int scan_job(void *ctx, size_t i, struct err *err)
{
	struct check_run *run = ctx;
	unsigned flags = run->off[RULE_SECRET] ? SCAN_ELF : SCAN_ELF | SCAN_SECRETS;

	if (allow_needs_digests(run->opts))
		flags |= SCAN_DIGESTS;

	return layer_scan_run(run->store, flags, &run->budget, run->opts->progress, run->scans[i],
	                      err);
}

static int scan_layers(struct check_run *run, struct images *images, struct err *err)
{
	unsigned threads = run->opts->threads != 0 ? run->opts->threads : cpus_usable();
	size_t n = 0;

	for (size_t i = 0; i < images->n; i++)
		n += images->at[i].manifest.n_layers;
	run->scans = arena_calloc(run->arena, n + 1, sizeof(struct layer_scan *));
	for (size_t i = 0; i < images->n; i++) {
		struct check_image *image = &images->at[i];

		image->layers = arena_calloc(run->arena, image->manifest.n_layers + 1,
		                             sizeof(struct layer_scan *));
		for (size_t k = 0; k < image->manifest.n_layers; k++)
			if (media_is_layer(image->manifest.layers[k].media_type))
				image->layers[k] = scan_for(run, image, &image->manifest.layers[k]);
	}
	run->n_blobs += run->n_scans;
	return pool_run(run->n_scans, threads < SCAN_THREADS_MAX ? threads : SCAN_THREADS_MAX,
	                scan_job, run, err);
}

static void report_layer(struct check_image *image, size_t layer, const struct err *failure)
{
	struct diag *diag = rule_report(image, RULE_DIGEST, (struct rule_place){layer, NULL}, "%s",
	                                failure->msg);

	if (failure->hint[0] != '\0')
		rule_hint(image, diag, failure->hint);
}

static int apply_layers(struct check_image *image, struct err *err)
{
	view_init(&image->view, image->run->arena, rule_view_event, image);
	image->view.budget = &image->run->budget;
	for (size_t i = 0; i < image->manifest.n_layers; i++) {
		struct layer_scan *scan = image->layers[i];

		if (scan == NULL)
			continue;
		if (scan->failure.code != ERR_NONE && !scan->reported)
			report_layer(image, i, &scan->failure);
		if (view_apply(&image->view, scan, i, err) != 0)
			return err_wrap(err, "%s", image->platform_name);
	}
	return 0;
}

/* ---- the whole ---- */

static void measure_platform(const struct check_image *image, struct check_platform_size *size)
{
	*size = (struct check_platform_size){.platform = image->platform,
	                                     .n_layers = image->manifest.n_layers};
	for (size_t i = 0; i < image->manifest.n_layers; i++)
		if (__builtin_add_overflow(size->compressed_bytes, image->manifest.layers[i].size,
		                           &size->compressed_bytes))
			size->compressed_bytes = INT64_MAX;
	for (const struct view_node *n = view_next(image->view.root); n != NULL; n = view_next(n)) {
		size->n_files++;
		/* A hard link's bytes are counted at the member that has them. */
		if (view_is_file(n) && n->content == n->member &&
		    __builtin_add_overflow(size->content_bytes, n->content->size,
		                           &size->content_bytes))
			size->content_bytes = INT64_MAX;
	}
}

static int check_one(struct check_image *image, struct check_platform_size *size, struct err *err)
{
	struct check_run *run = image->run;
	int rc = apply_layers(image, err);

	for (size_t i = 0; rc == 0 && i < RULES; i++) {
		rc = interrupt_check(err);
		if (rc == 0 && rules[i].check != NULL)
			rules[i].check(image);
		/* A path that was not followed is no finding: the image is refused for that. */
		budget_spend_arena(&run->budget, run->arena, &image->view.arena_mark);
		if (rc == 0)
			rc = budget_check(&run->budget, err);
	}
	if (rc == 0) {
		rule_report_left_out(image);
		measure_platform(image, size);
		/* What concerns a shared layer alone has been reported now. */
		for (size_t i = 0; i < image->manifest.n_layers; i++)
			if (image->layers[i] != NULL)
				image->layers[i]->reported = true;
	}
	view_done(&image->view);
	return rc;
}

static int run_checks(struct check_run *run, const struct descriptor *root,
                      struct check_report *report, struct err *err)
{
	struct images good = {0};

	if (read_images(run, root, &good, err) != 0)
		return -1;
	if (scan_layers(run, &good, err) != 0)
		return -1;
	report->platforms = arena_calloc(run->arena, good.n + 1, sizeof(*report->platforms));
	report->n_platforms = good.n;
	for (size_t i = 0; i < good.n; i++)
		if (check_one(&good.at[i], &report->platforms[i], err) != 0)
			return -1;
	report->n_blobs = run->n_blobs;
	return 0;
}

static void turn_off(struct check_run *run)
{
	for (size_t i = 0; i < run->opts->off.n; i++)
		for (size_t id = 0; id < RULES; id++)
			if (strcmp(rules[id].name, run->opts->off.at[i]) == 0)
				run->off[id] = true;
}

int check_image(struct store *store, const struct descriptor *root, const struct check_opts *opts,
                struct arena *a, struct check_report *ret_report, struct diags *d, struct err *err)
{
	struct check_run run = {.store = store,
	                        .opts = opts,
	                        .arena = a,
	                        .diags = d,
	                        .budget.max_unpacked = opts->max_unpacked};
	struct check_report report = {0};
	size_t before = d->n_errors, n;
	int rc;

	turn_off(&run);
	run.allow_used = arena_calloc(a, opts->n_allow + 1, sizeof(*run.allow_used));
	rc = run_checks(&run, root, &report, err);
	for (size_t i = 0; i < run.n_scans; i++)
		layer_scan_done(run.scans[i]);
	if (rc != 0)
		return err_wrap(err, "check");
	allow_report_unused(&run);
	report.n_allowed = run.n_allowed;
	*ret_report = report;
	n = d->n_errors - before + run.n_hidden_errors;
	if (n == 0)
		return 0;
	err_set(err, ERR_CHECK, "the image check found %zu problem%s", n, n == 1 ? "" : "s");
	return err_hint(err,
	                "to turn off a rule that does not apply, list its name in image.check.off; "
	                "to let one finding pass, image.check.allow");
}
