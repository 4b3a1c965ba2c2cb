/*
 * What the commands that speak to a cluster share: their options, the spec with its image pinned,
 * and kubectl.
 */
#ifndef SLIPWAY_BUILDER_CLI_CLUSTER_H
#define SLIPWAY_BUILDER_CLI_CLUSTER_H

#include "builder/cli/command.h"
#include "builder/spec/spec.h"
#include "k8s/deploy/apply.h"

#define CLUSTER_OPTIONS                                                                            \
	TEXT_OPTION("file", 'f', file, "FILE", "The spec", .fallback = "slipway.yaml",             \
	            .complete = COMPLETE_FILE),                                                    \
		LIST_OPTION("set", 0, sets, "PATH=VALUE",                                          \
	                    "Override one value of the spec, as in job.nodes=4"),                  \
		TEXT_OPTION("context", 0, context, "NAME", "kubectl's context"),                   \
		TEXT_OPTION("kubeconfig", 0, kubeconfig, "FILE", "kubectl's configuration",        \
	                    .complete = COMPLETE_FILE),                                            \
		NUMBER_OPTION("timeout", 0, timeout, "SECONDS",                                    \
	                      "Longest wait for what was asked for (default 1800)")

struct cluster {
	struct kubectl_exec kubectl;
	struct spec *spec;
	struct apply_opts opts;
};

/* The spec (ERR_USAGE without a cluster in it) and kubectl, by the command's options. */
int cluster_open(struct cli *cli, struct cluster *ret, struct err *err) MUST_USE;

#endif
