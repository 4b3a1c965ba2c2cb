/*
 * Sources of run-time data besides accounts: certificate authorities, time zones, locales. They
 * come from this machine, a folder that holds a root file system, or a Debian package; what is
 * missing is a problem in d, with the position of its key and the package that has it. Modes are
 * 0644 and 0755, everything is root's, no order of the file system shows.
 */
#ifndef SLIPWAY_BUILDER_LAYER_SOURCE_SOURCE_DATA_H
#define SLIPWAY_BUILDER_LAYER_SOURCE_SOURCE_DATA_H

#include "builder/layer/source/sources.h"

/* `ca_certificates`: one bundle, and links to it where programs look. base NULL = scratch. */
int source_certificates_add(struct tree *t, const struct layer_certificates *want,
                            const struct platform *platform, struct base_files *base,
                            struct diags *d, struct err *err) MUST_USE;

/* `timezone` and `tzdata` of the layer. */
int source_zones_add(struct tree *t, const struct layer_spec *layer,
                     const struct platform *platform, struct diags *d, struct err *err) MUST_USE;

/*
 * Lets entries of the tree from index `first` on land where the base's links lead, so that none of
 * its links becomes a folder. base NULL = scratch: they stay.
 */
int data_land(struct tree *t, size_t first, struct base_files *base, struct err *err) MUST_USE;

/* `locale` of the layer. */
int source_locales_add(struct tree *t, const struct layer_spec *layer,
                       const struct platform *platform, struct diags *d, struct err *err) MUST_USE;

#endif
