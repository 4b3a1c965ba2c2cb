/*
 * One image's way through `slipway build`: plan, layout, check, name, archive, push, report.
 */
#ifndef SLIPWAY_BUILDER_CLI_BUILD_RUN_H
#define SLIPWAY_BUILDER_CLI_BUILD_RUN_H

#include "builder/cli/command.h"
#include "builder/cli/key_option.h"
#include "builder/cli/remote_option.h"
#include "builder/cli/spec_option.h"
#include "builder/image/build.h"
#include "builder/image/check.h"
#include "builder/image/push.h"
#include "builder/image/push_ahead.h"

struct build_options {
	struct spec_options spec;
	const char *dest, *format;
	struct strlist platform, tag, label, annotation, env;
	bool no_check, no_cache, sparse, locked, dry_run, push, push_by_digest, no_sign;
	const char *result_file;
	int64_t jobs;
	const char *digest_file, *metadata_file;
	bool create_repository;
	struct remote_options remote;
};

/* One build on its way. */
struct build_run {
	struct cli *cli;
	cJSON *documents; /* gets the results for programs; NULL = they are printed */
	const struct build_options *options;
	struct spec *spec;
	struct plan *plan;
	struct layout *layout;
	struct layer_cache *cache;
	int64_t cache_limit; /* bytes that it may keep */
	struct remote remote;
	struct key_variables *variables; /* borrowed */
	struct lock lock;
	bool lock_made; /* there was none before */
	struct build_result result;
	struct check_report report;
	struct push_ahead *ahead; /* sends layers while others are packed; NULL = nothing does */
	struct push_result pushed;
	bool checked, check_cached;
	const char *dest;   /* the layout's folder, or the archive's file */
	char dir[PATH_MAX]; /* the layout's folder */
	bool scratch_dir;   /* it is ours to remove */
};

/* An archive is wanted, not a layout. */
bool build_makes_archive(const struct build_options *o);

/* Which keys of the spec's image the options write over, as provenance names them. */
struct strlist build_overrides(const struct build_options *o, struct arena *a);

/* Builds spec->image, as far as the options say, and reports. What fails leaves the old image. */
int build_run(struct build_run *run, struct err *err) MUST_USE;
void build_run_done(struct build_run *run, bool built);

/* For people: platforms, layers, what names the image now, the next step. For programs: JSON. */
int build_report(struct build_run *run, struct err *err) MUST_USE;
int build_report_plan(struct build_run *run);

#endif
