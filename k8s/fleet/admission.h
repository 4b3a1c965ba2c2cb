/*
 * What admission controllers are to ask of the images of the fleet's pods: the rules of `trust`
 * that name `policies`, as their renderer reads them (k8s/admission). Constant after the spec is
 * loaded, but for the keys' texts, which whoever prints the result fills in: a key is a file, a
 * variable or in KMS, and loading a spec opens none.
 */
#ifndef SLIPWAY_K8S_FLEET_ADMISSION_H
#define SLIPWAY_K8S_FLEET_ADMISSION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/srcpos.h"
#include "base/strmap.h"

/* The objects that a rule is rendered as; in the order of trust_policy_choices. */
enum admission_kind {
	ADMISSION_KYVERNO,               /* ImageValidatingPolicy */
	ADMISSION_KYVERNO_CLUSTERPOLICY, /* ClusterPolicy, before that */
	ADMISSION_POLICY_CONTROLLER,     /* sigstore's ClusterImagePolicy */
	ADMISSION_KINDS
};

struct admission_key {
	const char *ref;  /* as the spec has it */
	const char *kms;  /* "awskms:///..."; NULL: pem */
	const char *pem;  /* of the public key; NULL until it was opened */
	const char *hash; /* "sha256"; as pem */
};

/* Repositories: a host with a path, all below a path, or all there are. */
struct admission_images {
	const char *prefix; /* "HOST/NAME"; of all below it "HOST/NAME/"; "" = all */
	bool below;
};

struct admission_rule {
	struct srcpos at;
	size_t number; /* in the spec, from 1 */
	bool kinds[ADMISSION_KINDS];
	struct admission_images *images; /* at least one */
	size_t n_images;
	struct admission_key *keys; /* at least one; each has to have signed */
	size_t n_keys;
	const struct strmap *annotations;
	const char *builder; /* may end in `*`; NULL = not asked for */
	struct admission_key *builder_keys;
	size_t n_builder_keys;
};

struct admission {
	struct admission_rule *rules;
	size_t n;
};

/* False for NULL. */
bool admission_has(const struct admission *admission, enum admission_kind kind);

#endif
