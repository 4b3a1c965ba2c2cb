/*
 * The image of a deploy: the spec, loaded with the digest that the job's tag names now, and the
 * images of its pods held against `trust`.
 */
#ifndef SLIPWAY_BUILDER_CLI_DEPLOY_IMAGE_H
#define SLIPWAY_BUILDER_CLI_DEPLOY_IMAGE_H

#include "builder/cli/deploy_options.h"
#include "k8s/object/object.h"

/* Set the first three; AUTO(deploy_image). */
struct deploy_image {
	struct cli *cli;
	struct deploy_options *options; /* --set gains the image's digest */
	struct cluster *cluster;        /* is opened */
	struct remote remote;           /* once a registry is asked */
	bool connected;
	struct err refused; /* of a dry run, which goes on: what `trust` says against it */
};
void deploy_image_done(struct deploy_image *d);

/* Opens the cluster; the job's image ends in a digest but for a dry run of the client. */
int deploy_image_open(struct deploy_image *d, struct err *err) MUST_USE;

/*
 * Before anything is applied: looks at the images that the rendered pods run, pins them, and adds
 * result["trust"]. ERR_CHECK when one is refused; a dry run has that in d->refused and goes on.
 * Nothing without `trust` in the spec.
 */
int deploy_image_trust(struct deploy_image *d, struct k8s_output *out, cJSON *result,
                       struct err *err) MUST_USE;

/* At the end: what a dry run would have been refused for; 0 if nothing. */
int deploy_image_end(const struct deploy_image *d, struct err *err) MUST_USE;

/* deploy_image_trust for a recorded run. */
int deploy_image_trust_run(struct deploy_image *d, const cJSON *release, cJSON *result,
                           struct err *err) MUST_USE;

#endif
