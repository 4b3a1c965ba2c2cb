/*
 * Which of two versions is the older one, by the rules of those who number them. Pure; any text is
 * ordered, and each order is total.
 */
#ifndef SLIPWAY_BUILDER_SCAN_VERSION_H
#define SLIPWAY_BUILDER_SCAN_VERSION_H

/* -1, 0, 1 */
typedef int version_order(const char *a, const char *b);

/* [EPOCH:]UPSTREAM[-REVISION], Debian Policy section 5.6.12 and deb-version(7). */
version_order version_deb;

/* Python's, PyPA's "Version specifiers" (PEP 440); what is none of them is older than all. */
version_order version_pypi;

#endif
