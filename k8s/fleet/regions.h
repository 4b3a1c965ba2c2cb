/*
 * The regions that run EKS, and the letters of their zones. An account may see fewer zones than a
 * region has. Source: AWS's list of regions and zones, and EKS's endpoints; read 2026-11-22.
 * Constant data.
 */
#ifndef SLIPWAY_K8S_FLEET_REGIONS_H
#define SLIPWAY_K8S_FLEET_REGIONS_H

#include <stdbool.h>

/* "abcd" of "us-west-2"; NULL when there is no such region. */
const char *region_zones(const char *region);

/* The region most like a name, NULL if none is. */
const char *region_nearest(const char *name);

/* Is "us-west-2d" a zone of "us-west-2"? An unknown region has none. */
bool region_has_zone(const char *region, const char *zone);

/* "aws", "aws-cn" or "aws-us-gov": what its ARNs begin with, behind "arn:". */
const char *aws_partition(const char *region);

#endif
