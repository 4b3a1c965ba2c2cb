/*
 * What a spec's image and its rules of `trust` ask of a policy for ECR and KMS.
 */
#ifndef SLIPWAY_BUILDER_SPEC_SPEC_IAM_H
#define SLIPWAY_BUILDER_SPEC_SPEC_IAM_H

#include "builder/aws/iam.h"
#include "builder/spec/spec.h"

/* Repositories of the same registry (`to`) that the image's bases are pulled from. */
struct strlist spec_iam_bases(const struct spec_image *image, const struct ref *to,
                              struct arena *a);

/* Sets what IAM_VERIFY asks for: each key in KMS that a rule names, and whether ECR's findings are
 * read. */
void spec_iam_trust(const struct spec *spec, struct arena *a, struct iam_request *request);

#endif
