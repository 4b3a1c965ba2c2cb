/*
 * The base score that a CVSS vector stands for. Sources, both of FIRST: "Common Vulnerability
 * Scoring System v3.1: Specification Document", section 7 (3.0 has the same equations but for
 * rounding), and "A Complete Guide to the Common Vulnerability Scoring System Version 2.0", section
 * 3.2.1; for version 4 see cvss4.h. Pure.
 */
#ifndef SLIPWAY_BUILDER_SCAN_CVSS_H
#define SLIPWAY_BUILDER_SCAN_CVSS_H

#include <stdbool.h>

#include "builder/finding/finding.h"

/*
 * "CVSS:4.0/AV:N/...", "CVSS:3.1/AV:N/...", "AV:N/AC:L/Au:N/..." for version 2, in tenths: 98 is
 * 9.8. False for what is no such vector; environmental and temporal metrics behind it are passed
 * over.
 */
bool cvss_base_score(const char *vector, int *ret_tenths);

/* The rating of a score: section 5 of version 3.1; 0.0 ("None") is INFORMATIONAL. */
enum severity cvss_severity(int tenths);

#endif
