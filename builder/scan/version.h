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

/* Alpine's, DIGITS{.DIGITS}[LETTER]{_SUFFIX[NUMBER]}[-rNUMBER]: apk-package(5), "pkgver". */
version_order version_apk;

/* [EPOCH:]VERSION[-RELEASE] of RPM: rpm-version(7). */
version_order version_rpm;

/* Semantic Versioning 2.0.0, item 11, as npm, Go and Rust have it; more or fewer than three numbers
 * are taken, too. What is not such a version is older than all. */
version_order version_semver;

#endif
