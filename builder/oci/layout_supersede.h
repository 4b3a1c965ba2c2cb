/*
 * What is attached to an image in a layout gives way to a newer document of its kind: a layout that
 * is built into again would gather them, and nobody could tell which one holds.
 */
#ifndef SLIPWAY_BUILDER_OCI_LAYOUT_SUPERSEDE_H
#define SLIPWAY_BUILDER_OCI_LAYOUT_SUPERSEDE_H

#include "builder/oci/layout.h"

/*
 * Removes the entries of index.json that are attached to `subject`, are of the artifact type of
 * `desc`, and agree with it in the annotation `key` (NULL = none counts; one that is absent in both
 * agrees), but for desc itself. Their blobs go with the next collection.
 */
int layout_supersede(struct layout *l, const struct digest *subject, const struct descriptor *desc,
                     const char *key, struct err *err) MUST_USE;

#endif
