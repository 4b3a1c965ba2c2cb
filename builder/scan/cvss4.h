/*
 * The base score of a vector of CVSS version 4.0 (FIRST, "Common Vulnerability Scoring System
 * version 4.0: Specification Document", section 8): a table of judged classes of vulnerabilities,
 * and how far a vector lies below the worst one of its class. Pure.
 */
#ifndef SLIPWAY_BUILDER_SCAN_CVSS4_H
#define SLIPWAY_BUILDER_SCAN_CVSS4_H

#include <stdbool.h>

/*
 * "CVSS:4.0/AV:N/AC:L/AT:N/...", in tenths. False for what is no such vector; threat, environmental
 * and supplemental metrics behind it are passed over.
 */
bool cvss4_base_score(const char *vector, int *ret_tenths);

#endif
