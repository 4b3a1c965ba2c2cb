/*
 * What the commands that use a cluster share: their options, the spec with its image pinned,
 * and kubectl.
 */
#ifndef SLIPWAY_BUILDER_CLI_CLUSTER_H
#define SLIPWAY_BUILDER_CLI_CLUSTER_H

#include "builder/cli/spec_option.h"
#include "k8s/deploy/apply.h"

struct cluster_options {
	struct spec_options spec;
	const char *context, *kubeconfig;
	int64_t timeout;
};
#define CLUSTER_OPTIONS(object, member)                                                            \
	CLUSTER_OPTIONS_IN(OPTION_MEMBER(object, member, struct cluster_options))
#define CLUSTER_OPTIONS_IN(base)                                                                   \
	SPEC_OPTIONS_IN((base) + OPTION_MEMBER(struct cluster_options, spec, struct spec_options), \
	                "The spec", "Override one value of the spec, as in job.nodes=4"),          \
		TEXT_OPTION_IN(base, struct cluster_options, context, "context", 0, "NAME",        \
	                       "kubeconfig context to use"),                                       \
		TEXT_OPTION_IN(base, struct cluster_options, kubeconfig, "kubeconfig", 0, "FILE",  \
	                       "kubeconfig file to use", .complete = COMPLETE_FILE),               \
		NUMBER_OPTION_IN(base, struct cluster_options, timeout, "timeout", 0, "SECONDS",   \
	                         "Longest time to wait (default 1800)")

struct cluster {
	struct kubectl_exec kubectl;
	struct spec *spec;
	struct apply_opts opts;
};

/* The spec (ERR_USAGE without a cluster in it) and kubectl, as the options say. */
int cluster_open(struct cli *cli, const struct cluster_options *o, struct cluster *ret,
                 struct err *err) MUST_USE;

/* Once the cluster has answered, an outage is waited for as long as --timeout says. */
void cluster_outlast(struct cluster *cluster);

#endif
