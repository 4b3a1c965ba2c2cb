/*
 * Pushing: an image in a layout goes to one repository, under the target's tags.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_PUSH_H
#define SLIPWAY_BUILDER_IMAGE_PUSH_H

#include "builder/image/image.h"
#include "builder/registry/push.h"
#include "builder/spec/spec.h"
#include "builder/trust/key.h"

/* Who signs an image that is pushed: as struct sign_opts. */
struct image_signing {
	struct trust_key *key;
	unsigned forms;
	struct strmap annotations;
	bool provenance; /* the statements that are attached are signed, too */
	bool sbom;       /* and the bills of materials */
};

/* Where an image goes. */
struct image_target {
	struct ref to;
	struct strlist tags;
	const struct ecr_settings *ecr; /* of the spec, NULL = none: how ECR creates it */
	bool create; /* ECR creates the repository even if the spec does not say so */
	const struct image_signing *signing; /* NULL = nobody */
};

/* The spec's repository under the spec's tags. ERR_SPEC without repository. */
int image_target_of_spec(const struct spec *spec, struct arena *a, struct image_target *ret,
                         struct err *err) MUST_USE;

/* Pushes root from the layout, and what is attached to it there; it is signed before it gets its
 * tags. */
int image_push(const struct remote *remote, struct layout *layout, const struct descriptor *root,
               const struct image_target *t, struct push_result *ret_result,
               struct err *err) MUST_USE;

/* Signs what is in the registry by its digest. */
int image_sign_pushed(const struct image_signing *signing, struct registry *r,
                      const struct descriptor *root, struct progress *progress,
                      struct err *err) MUST_USE;

/* What to ask of ECR before the first byte goes to `registry`, the target's: it may create the
 * repository, or refuse to move a tag (ERR_CONFLICT). Nothing for other registries. */
int image_push_preflight(const struct remote *remote, const struct image_target *t,
                         const struct descriptor *root, struct registry *registry,
                         struct err *err) MUST_USE;

/* Adds the counts to a JSON object. */
void push_result_json(const struct push_result *result, cJSON *obj);

#endif
