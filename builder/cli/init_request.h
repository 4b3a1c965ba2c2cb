/*
 * What `slipway init` is asked for: its options, the questions for what they leave open, and the
 * request that both make.
 */
#ifndef SLIPWAY_BUILDER_CLI_INIT_REQUEST_H
#define SLIPWAY_BUILDER_CLI_INIT_REQUEST_H

#include "builder/cli/command.h"
#include "builder/init/model.h"

struct init_options {
	const char *kind, *image, *ci, *dir, *name, *program, *base, *region;
	struct strlist fleet, platform;
	bool dry_run;
};

/*
 * Asks on the terminal for kind, image, fleet and CI where there is no --kind; what is in the
 * folder is proposed. ERR_USAGE names the options where nobody can answer.
 */
int init_ask(struct cli *cli, struct init_options *o, struct err *err) MUST_USE;

/* ERR_USAGE, with the option that is wrong. Without a project's row the options are incomplete. */
int init_request_make(struct cli *cli, const struct init_options *o, struct init_request *ret_r,
                      struct err *err) MUST_USE;

/* The names of --fleet, which may stand together with commas. ERR_USAGE for what is no target. */
int init_split_fleet(const struct strlist *given, struct arena *a, struct strlist *ret_targets,
                     struct err *err) MUST_USE;

/* HOST/NAME[:TAG] of --image. */
int init_parse_image(const char *text, struct arena *a, const char **ret_repository,
                     const char **ret_tag, struct err *err) MUST_USE;

#endif
