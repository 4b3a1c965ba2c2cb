/*
 * Pushing for `slipway push` and `slipway build --push`.
 */
#ifndef SLIPWAY_BUILDER_CLI_IMAGE_PUSH_H
#define SLIPWAY_BUILDER_CLI_IMAGE_PUSH_H

#include "builder/cli/image_ref.h"
#include "builder/registry/push.h"
#include "builder/spec/spec.h"

/* `--create-repository`, for every command that pushes. */
#define CREATE_REPOSITORY_OPTION                                                                   \
	FLAG_OPTION("create-repository", 0, create_repository,                                     \
	            "Create the repository in ECR if it does not exist")

/* Where an image goes. */
struct image_target {
	struct ref to;
	struct strlist tags;
	const struct ecr_settings *ecr; /* of the spec, NULL = none: how ECR creates it */
};

/* Pushes root from the layout to the spec's repository under the spec's tags. ERR_USAGE without
 * repository. */
int image_push_spec(struct cli *cli, const struct remote *remote, struct layout *layout,
                    const struct descriptor *root, const struct spec *spec,
                    struct push_result *ret_result, struct err *err) MUST_USE;

/* Pushes root from the layout to one repository under the target's tags. */
int image_push(struct cli *cli, const struct remote *remote, struct layout *layout,
               const struct descriptor *root, const struct image_target *t,
               struct push_result *ret_result, struct err *err) MUST_USE;

/* What is to be asked of ECR before the first byte goes to `registry`, the target's: it may create
 * the repository, or refuse to move a tag (ERR_CONFLICT). Nothing for other registries. */
int image_push_preflight(struct cli *cli, const struct remote *remote, const struct image_target *t,
                         const struct descriptor *root, struct registry *registry,
                         struct err *err) MUST_USE;

/* Adds the counts to a JSON object. */
void push_result_json(const struct push_result *result, cJSON *obj);

#endif
