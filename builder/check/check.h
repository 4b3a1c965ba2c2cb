/*
 * The image check: reads an image back from any store and refuses what breaks on the node.
 * Each rule has a name (check_rule_names in model.h) and can be turned off by it; each problem
 * names the rule, the platform, the layer and the file. One pass over every layer, all rules at
 * once; layers that several platforms share are read once per platform's file system view but their
 * digests once. Pure of printing; reads only through the store.
 */
#ifndef SLIPWAY_BUILDER_CHECK_CHECK_H
#define SLIPWAY_BUILDER_CHECK_CHECK_H

#include "base/diag.h"
#include "base/progress.h"
#include "builder/check/model.h"
#include "builder/oci/store.h"

/* Where a spec says what a rule may complain about; no position for what is not written. */
struct check_layer_at {
	const char *name;
	struct srcpos at;
};

struct check_at {
	struct srcpos image, entrypoint, cmd, user, workdir, env, size_budget;
	const struct check_layer_at *layers; /* of our own; those of a base have no position */
	size_t n_layers;
};

struct check_opts {
	struct strlist off;         /* rules turned off by name */
	struct strlist provided;    /* sonames (or globs) the node brings */
	struct strlist base_layers; /* digests of layers that a base image brought */
	/* Findings that are allowed; one without a position is an option's */
	const struct check_allowance *allow;
	size_t n_allow;
	unsigned isa_level;       /* of x86-64 that every node has, 1 to 4; 0 = not known */
	const char *isa_instance; /* an instance type that has no more */
	int64_t max_unpacked;     /* bytes of all layers; 0 = as builder/oci/budget.h bounds them */
	int64_t size_budget;      /* most compressed bytes per platform; 0 = none */
	struct check_at at;
	bool program_elsewhere;      /* who runs the image names the program */
	const char *program;         /* which one, where that is known; NULL: not */
	bool ranks_meet;             /* it runs on several nodes at once, without an mpirun */
	const struct platform *only; /* NULL = every platform of the index */
	unsigned threads;            /* 0 = cpus_usable() */
	struct progress *progress;
};

struct check_platform_size {
	struct platform platform;
	int64_t compressed_bytes; /* sum of the layers' sizes */
	int64_t content_bytes;    /* sum of regular files in the final file system */
	size_t n_files;           /* entries in the final file system */
	size_t n_layers;
};

struct check_report {
	struct check_platform_size *platforms; /* in the arena */
	size_t n_platforms;
	size_t n_blobs;   /* blobs whose digest was verified */
	size_t n_allowed; /* findings that an allowance covers */
};

/*
 * Checks the image `root` (index or manifest) of the store. 0 when no error was found (warnings may
 * be in diags); -1 with ERR_CHECK and a summary when the image is refused; other codes when it
 * could not be read.
 */
int check_image(struct store *store, const struct descriptor *root, const struct check_opts *opts,
                struct arena *a, struct check_report *ret_report, struct diags *d,
                struct err *err) MUST_USE;

/* Raised when a rule changes; part of the key of remembered verdicts. */
enum { CHECK_RULES_VERSION = 4 };

#endif
