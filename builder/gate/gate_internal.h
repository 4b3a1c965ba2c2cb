/*
 * What the files of the gate share; nobody else includes it.
 */
#ifndef SLIPWAY_BUILDER_GATE_GATE_INTERNAL_H
#define SLIPWAY_BUILDER_GATE_GATE_INTERNAL_H

#include "builder/gate/gate.h"
#include "builder/trust/vouched.h"

/* Most images that one index may name. */
enum { GATE_PLATFORMS_MAX = 64 };

/* An image that is looked at by one rule. */
struct gate_view {
	struct gate *gate;
	const struct trust_rule *rule;
	const struct image *image;
	const char *pinned;
	struct descriptor root;
	struct descriptor
		*platforms; /* each manifest that a node may run; the root itself without index */
	size_t n_platforms;
	struct bundle_cache bundles; /* each image's are read once, for all that is asked */
};

/*
 * A requirement of a rule. check returns -1 where it is not met or nobody can tell: err->msg is the
 * reason, err->hint the next step.
 */
struct gate_requirement {
	const char *name;
	bool asked;
	struct srcpos at; /* of the key in the spec */
	int (*check)(struct gate_view *v, struct err *err);
};

int gate_check_keys(struct gate_view *v, struct err *err) MUST_USE;
int gate_check_provenance(struct gate_view *v, struct err *err) MUST_USE;
int gate_check_sbom(struct gate_view *v, struct err *err) MUST_USE;
int gate_check_vulnerabilities(struct gate_view *v, struct err *err) MUST_USE;

/* A key of the rules, opened once. */
int gate_key(struct gate *g, const char *ref, struct trust_key **ret_key, struct err *err) MUST_USE;

/* Whose statements count by the rule; none: anybody's. */
int gate_vouchers(struct gate_view *v, struct vouchers *ret_by, struct err *err) MUST_USE;

/* "linux/amd64 sha256:...", or the digest alone; in the gate's arena. */
const char *gate_name(const struct gate_view *v, const struct descriptor *manifest);

/*
 * Why none of these signatures counts, in one line of the gate's arena: the reasons of the first
 * ones; `what` is "signature", "statement".
 */
const char *gate_why_none(const struct gate_view *v, const struct signatures *all);

#endif
