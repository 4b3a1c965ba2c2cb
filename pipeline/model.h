/*
 * The resolved pipeline: its steps with their commands, and the facts that templates need. Made
 * once by pipeline_resolve; every renderer and the local run read the same steps, so that CI does
 * exactly what was tried. All memory lives in the spec's arena.
 */
#ifndef SLIPWAY_PIPELINE_MODEL_H
#define SLIPWAY_PIPELINE_MODEL_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/strlist.h"
#include "pipeline/sections.h"

enum pipeline_kind { STEP_BUILD, STEP_INDEX, STEP_CHECK, STEP_RELEASE, STEP_DEPLOY };

/*
 * One step: commands for a POSIX shell, one after another in the same shell, stopped by the first
 * that fails. It starts in a fresh checkout. Artifacts of earlier steps lie in folders of their
 * own, named by the variable CODEBUILD_SRC_DIR_<artifact>.
 */
struct pipeline_step {
	enum pipeline_kind kind;
	const char *name;         /* "build-amd64" */
	const char *resource;     /* "BuildAmd64": its name in the template */
	const char *architecture; /* of its machine: "amd64" */
	struct strlist install;   /* before them, as root */
	struct strlist commands;
	/* So many of them, the first, are the source's own tests and build: they need no access
	 * to anything, and get none where a service can keep it from them. */
	size_t n_own;
	const char *artifact;  /* its output's name, "BuildAmd64"; NULL = none */
	struct strlist files;  /* in the artifact */
	struct strlist inputs; /* artifacts of earlier steps */
};

/* What an ECR repository is like; host NULL = the image's registry is not ECR. */
struct pipeline_repository {
	const char *host, *name; /* name is set for any registry */
	const char *image;       /* "HOST/NAME"; NULL = the spec has none */
	const char *account;
	const char *mutability; /* NULL = all but the spec's moving tags stay */
	bool scan_on_push;
	const char *encryption, *kms_key; /* NULL = ECR's default */
	const char *lifecycle;            /* policy as JSON text */
	/* IAM policies as JSON texts. */
	const char *push_policy, *pull_policy, *scan_policy;
};

/* Who signs what passed; options NULL = nobody. */
struct pipeline_signing {
	const char
		*options; /* of `slipway sign`, each with a space before it, quoted for a shell */
	bool in_kms;
	const char *alias;  /* of the key in KMS, "alias/NAME"; NULL = it is named otherwise */
	const char *policy; /* IAM policy as JSON text; NULL = the registry is not ECR */
	struct srcpos at;
};

/* Facts from the rest of the spec. */
struct pipeline_facts {
	const char *name, *file; /* of the spec; file is a word for a shell, in the source's root */
	const char *sets;        /* its overrides as further words of a shell's command */
	struct srcpos name_at;
	const char *build; /* the image to build, of several in the spec; NULL = its only one */
	struct strlist architectures; /* of image.platforms */
	struct srcpos image_at;
	const char *cluster, *cluster_region; /* NULL = no cluster */
	const char *ecr_region;
	/* What is released, and where it is built: tags are in the first alone. ECR's policies know
	 * no difference between a push with a tag and one without (service authorization reference
	 * of ECR, condition keys), so that builds get a repository of their own. */
	struct pipeline_repository repository, staging;
	struct pipeline_signing signing;
	/* What a deploy asks that holds the image against `trust`, as JSON; NULL = it does not. */
	const char *verify_policy;
	/* A layer that all platforms must be on one machine for (name and place); NULL = none. */
	const char *shared_layer;
	struct srcpos shared_layer_at;
};

struct pipeline {
	const struct pipeline_section *section;
	const char *name, *file, *sets, *build, *region;
	const char *cluster; /* NULL = nothing is deployed */
	struct pipeline_repository repository, staging;
	struct pipeline_signing signing;
	const char *verify_policy;
	bool scan;
	struct pipeline_step *steps; /* in the order of running; builds first */
	size_t n_steps, n_builds;
};

/* Resolves and cross-checks. NULL when problems were added. */
struct pipeline *pipeline_resolve(const struct pipeline_section *section,
                                  const struct pipeline_facts *facts, struct arena *a,
                                  struct diags *diags);

/* The builder of an architecture, and its defaults. */
const struct builder_section *pipeline_builder(const struct pipeline *p, const char *architecture);
const char *pipeline_builder_image(const struct pipeline *p, const char *architecture);
const char *pipeline_builder_compute(const struct pipeline *p, const char *architecture);
const char *pipeline_builder_runner(const struct pipeline *p, const char *architecture);

#endif
