/*
 * One copy on its way through `slipway copy`: source and target opened, what is copied, the report.
 */
#ifndef SLIPWAY_BUILDER_CLI_COPY_RUN_H
#define SLIPWAY_BUILDER_CLI_COPY_RUN_H

#include "builder/cli/command.h"
#include "builder/cli/remote_option.h"
#include "builder/image/copy.h"
#include "builder/image/image.h"

struct copy_options {
	const char *platform;
	bool all_tags;
	int64_t jobs;
	const char *digest_file;
	bool create_repository;
	struct remote_options remote;
};

struct copy_run_state {
	struct cli *cli;
	const struct copy_options *options;
	struct remote remote;
	struct image from;
	struct ref to;
	struct strlist tags;    /* that the target got */
	struct descriptor root; /* the last one that was copied */
	struct copy_result result;
};

/* Where a word that need not be there yet points: as image_argument, and a path for a layout, or
 * for an archive if it ends in .tar. */
int copy_target(const char *text, struct arena *a, struct ref *ret_ref, struct err *err) MUST_USE;

/* Copies what the options say from run->from to run->to. */
int copy_run(struct copy_run_state *run, struct err *err) MUST_USE;

#endif
