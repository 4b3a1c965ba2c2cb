/*
 * Profiles of MIG: the equal parts that an NVIDIA device can be divided into. Source: NVIDIA's MIG
 * user guide, "Supported MIG Profiles", for the devices of the catalogue; only those that divide a
 * whole device evenly, as the configurations `all-PROFILE` of NVIDIA's MIG manager do. Constant
 * data.
 */
#ifndef SLIPWAY_KARPENTER_CATALOGUE_MIG_H
#define SLIPWAY_KARPENTER_CATALOGUE_MIG_H

#include "karpenter/catalogue/catalogue.h"

/* Parts of a device by the profile; 0 = the instance's devices have no such profile. */
int64_t mig_parts(const struct instance *instance, const char *profile);

/* "1g.5gb, 2g.10gb, ...": the profiles of an instance's devices; "" = it has none. */
void mig_profiles(const struct instance *instance, struct strbuf *sb);

#endif
