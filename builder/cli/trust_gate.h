/*
 * Images held against `trust` of a spec, for every command that does so: keys are opened, refusals
 * become problems with the spec's line, and a JSON object says what was found.
 */
#ifndef SLIPWAY_BUILDER_CLI_TRUST_GATE_H
#define SLIPWAY_BUILDER_CLI_TRUST_GATE_H

#include "builder/cli/key_option.h"
#include "builder/gate/gate.h"
#include "builder/spec/spec.h"

/* trust_gate_init; AUTO(trust_gate). */
struct trust_gate {
	struct cli *cli;
	const struct remote *remote;
	struct key_variables variables;
	struct gate_outside outside;
	struct gate gate;
	size_t n_images, n_refused; /* looked at so far; those with refusals */
};

/* `spec` and `remote` are borrowed. */
void trust_gate_init(struct trust_gate *t, struct cli *cli, const struct spec *spec,
                     const struct remote *remote);
void trust_gate_done(struct trust_gate *t);

/*
 * Looks at one image: each refusal goes to cli->diags, what was found to the array `rows`. -1 only
 * when the user asks to stop.
 */
int trust_gate_look(struct trust_gate *t, const char *image, cJSON *rows,
                    struct gate_verdict *ret_verdict, struct err *err) MUST_USE;

/* A refusal that is not an image's own; `next` is the next step. */
void trust_gate_refuse(struct trust_gate *t, const char *image, const char *reason,
                       const char *next);

/* 0, or ERR_CHECK that counts the images that were refused. */
int trust_gate_verdict(const struct trust_gate *t, struct err *err) MUST_USE;

#endif
