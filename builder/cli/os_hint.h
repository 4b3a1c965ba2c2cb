/*
 * The next step after an error of the operating system that nobody below had a better one for.
 * Source: errno(3).
 */
#ifndef SLIPWAY_BUILDER_CLI_OS_HINT_H
#define SLIPWAY_BUILDER_CLI_OS_HINT_H

/* A static text; NULL for an errno that says nothing to do. */
const char *os_hint(int os_errno);

#endif
