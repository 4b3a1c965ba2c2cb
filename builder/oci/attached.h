/*
 * Tags that name no image of their own: under them clients keep what belongs to the image of a
 * digest.
 */
#ifndef SLIPWAY_BUILDER_OCI_ATTACHED_H
#define SLIPWAY_BUILDER_OCI_ATTACHED_H

#include <stdbool.h>

/* "sha256-HEX", the kept list of referrers, and cosign's "sha256-HEX.sig", ".att", ".sbom". */
bool tag_is_attached(const char *tag);

/* cosign's endings. */
enum { ATTACHED_ENDINGS = 3 };
extern const char *const attached_endings[ATTACHED_ENDINGS];

#endif
