/*
 * `trust` before a deploy: every image that pods of the job run, on whatever target, and those of
 * the Jobs before it, is looked at before anything is applied, and what is applied names it by the
 * digest that was looked at.
 */
#ifndef SLIPWAY_BUILDER_CLI_DEPLOY_TRUST_H
#define SLIPWAY_BUILDER_CLI_DEPLOY_TRUST_H

#include "builder/cli/trust_gate.h"
#include "k8s/object/object.h"

struct deploy_trust {
	struct trust_gate gate;
	cJSON *rows;     /* result["trust"] */
	bool quiet;      /* good images are not told */
	bool in_cluster; /* the job is rendered once more there: a tag would be read again */
};

/* Pins the images of rendered objects that `slipway deploy` applies. -1 only when the user asks to
 * stop; trust_gate_verdict has the result. */
int deploy_trust_pin(struct deploy_trust *t, struct k8s_output *out, struct err *err) MUST_USE;

/* Those of a recorded release (k8s/deploy/runs.h), which is not changed: a tag is refused. */
int deploy_trust_recorded(struct deploy_trust *t, const cJSON *release, struct err *err) MUST_USE;

#endif
