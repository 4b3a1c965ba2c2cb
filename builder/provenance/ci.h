/*
 * Who builds: the CI system that its own variables name, or this machine. A table of systems, each
 * with the variables that are read and no others: nothing else of the environment can enter a
 * statement. What is said here, whoever sets the environment says; a signature by a key that only
 * the CI system holds is what makes it worth believing.
 *
 *   AWS CodeBuild    docs.aws.amazon.com/codebuild, "Environment variables in build environments"
 *   GitHub Actions   docs.github.com/actions, "Variables reference"
 *   GitLab CI        docs.gitlab.com/ci/variables, "Predefined CI/CD variables reference"
 *   Jenkins          www.jenkins.io/doc/book/pipeline/jenkinsfile, "Using environment variables"
 */
#ifndef SLIPWAY_BUILDER_PROVENANCE_CI_H
#define SLIPWAY_BUILDER_PROVENANCE_CI_H

#include <stdbool.h>

#include "base/arena.h"

struct ci_identity {
	const char *name;    /* "github-actions"; "local" */
	const char *builder; /* URI of who builds: SLSA's builder.id */
	/* NULL: not said. URLs are without user and password. */
	const char *invocation; /* URI of this run */
	const char *source;     /* URL of the repository */
	const char *ref;        /* branch or tag */
	const char *commit;     /* 40 or 64 hex digits */
};

/* The value of a variable, NULL when it is unset. */
typedef const char *ci_env(void *ctx, const char *name);

/* Never fails: what is not said, or cannot be said in a document, is left out. */
struct ci_identity ci_identify(ci_env *env, void *ctx, struct arena *a);

/* The environment of this process, for ci_identify. */
ci_env ci_environment;

/* An empty environment: no CI system. */
ci_env ci_nobody;

/* A commit of git, SHA-1 or SHA-256. */
bool ci_is_commit(const char *text);

#endif
