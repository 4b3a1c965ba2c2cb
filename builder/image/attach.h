/*
 * Attaching documents (SBOMs, provenance, signatures) to an image where it is: in a registry or in
 * a layout. (What is attached to an image goes elsewhere with it by copy.h.)
 */
#ifndef SLIPWAY_BUILDER_IMAGE_ATTACH_H
#define SLIPWAY_BUILDER_IMAGE_ATTACH_H

#include "builder/oci/artifact.h"
#include "builder/oci/layout.h"
#include "builder/registry/registry.h"

/* Where an image lies: one of the two. Both are borrowed; the layout is open for writing. */
struct attach_place {
	struct registry *registry;
	struct layout *layout;
};

/*
 * Stores the artifact and makes it a referrer of its subject; *ret_desc (may be NULL; strings are
 * the artifact's) is its manifest. The same artifact again changes nothing.
 */
int attach_artifact(const struct attach_place *place, const struct artifact *artifact,
                    struct descriptor *ret_desc, struct err *err) MUST_USE;

/* Stores a blob of these bytes. */
int attach_blob(const struct attach_place *place, const struct descriptor *desc, const void *bytes,
                struct err *err) MUST_USE;

/* A manifest about `subject` under a tag, its blobs being there: it replaces what had the tag. */
int attach_tagged(const struct attach_place *place, const struct digest *subject, const char *tag,
                  const struct descriptor *desc, const void *bytes, struct err *err) MUST_USE;

#endif
