/*
 * The gate before a deploy: whether an image has what the rules of `trust` ask of it
 * (builder/trust/rules.h). Whatever cannot be found out is a refusal: a registry that does not
 * answer, a scan that was not made, a key that cannot be read. An image that no rule is for is
 * refused, too. docs/TRUST.md says what each rule proves.
 */
#ifndef SLIPWAY_BUILDER_GATE_GATE_H
#define SLIPWAY_BUILDER_GATE_GATE_H

#include "base/mem.h"
#include "builder/image/image.h"
#include "builder/trust/key.h"
#include "builder/trust/rules.h"

/* What the gate asks of the outside; borrowed. */
struct gate_outside {
	/* As trust_key_open, by a reference that is absolute where it is a file's. */
	int (*open_key)(const struct gate_outside *o, const char *ref, struct trust_key **ret_key,
	                struct err *err);
	void *ctx;
};

struct gate_key {
	const char *ref; /* as the spec has it */
	struct trust_key *key;
};

/* Set the first members; the rest is the gate's own. AUTO(gate). */
struct gate {
	const struct trust_rule *rules;
	size_t n_rules;
	const char *spec_dir; /* files of the rules are relative to it */
	const struct remote *remote;
	const struct gate_outside *outside;
	struct arena *arena; /* of all results */

	VEC(struct gate_key) keys; /* opened so far */
};
void gate_done(struct gate *g);

/* A rule that an image does not meet. Texts are in the gate's arena. */
struct gate_refusal {
	struct srcpos at;  /* of what the rule asks for; file NULL: no rule is for the image */
	const char *asked; /* "keys": the key of the rule; "" if there is none */
	const char *reason;
	const char *next; /* the next step */
};

struct gate_verdict {
	const char *image; /* as it was given */
	const char
		*pinned; /* HOST/NAME[:TAG]@DIGEST: what was looked at; NULL: nothing was found */
	size_t n_rules;  /* that are for it */
	struct strlist has; /* what was asked for and is there: "keys", "sbom" */
	struct gate_refusal *refusals;
	size_t n_refusals;
};

/*
 * Looks at an image, in its registry: its tag, if it has no digest, is resolved once, and all else
 * is by digest. -1 only when the user asks to stop; a failure is a refusal.
 */
int gate_look(struct gate *g, const char *image, struct gate_verdict *ret_verdict,
              struct err *err) MUST_USE;

#endif
