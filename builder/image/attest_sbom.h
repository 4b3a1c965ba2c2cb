/*
 * Signing the bills of materials that are attached to an image: the document itself is what is
 * signed, as the predicate of a statement (https://spdx.dev/Document, https://cyclonedx.org/bom;
 * in-toto/attestation, spec/predicates). A document without a signature is what anybody may have
 * attached.
 */
#ifndef SLIPWAY_BUILDER_IMAGE_ATTEST_SBOM_H
#define SLIPWAY_BUILDER_IMAGE_ATTEST_SBOM_H

#include "builder/image/attest.h"

/* Every form that is attached to each platform's manifest. ERR_CHECK where a form is attached twice
 * (nobody can say which is meant), ERR_FORMAT for what is no document of that form, ERR_LIMIT for
 * one that no bundle holds. n_without counts the platforms that have no form at all. */
int image_attest_sboms(const struct attest_opts *opts, struct arena *a,
                       struct attest_result *ret_result, struct err *err) MUST_USE;

/* Whether bundles hold all of them, before anything is sent: ERR_LIMIT says what is too large. */
int image_sboms_fit(struct store *from, const struct descriptor *root, struct arena *a,
                    struct err *err) MUST_USE;

#endif
