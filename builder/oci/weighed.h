/*
 * The bytes of a blob as a source that tells a budget of each that is read: they raise what the
 * blob may unpack to (builder/oci/budget.h).
 */
#ifndef SLIPWAY_BUILDER_OCI_WEIGHED_H
#define SLIPWAY_BUILDER_OCI_WEIGHED_H

#include "base/stream.h"
#include "builder/oci/budget.h"

/* Takes over `in`; the budget is borrowed and outlives the source. */
MUST_USE struct source *source_weighed(struct source *in, struct budget *budget);

#endif
