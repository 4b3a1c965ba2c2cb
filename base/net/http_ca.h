/*
 * Which certificates are trusted when nobody named any: the build's own place (Debian's), or where
 * other systems keep theirs, or what came with the program. Distributions, not a standard, decide
 * these places.
 */
#ifndef SLIPWAY_BASE_NET_HTTP_CA_H
#define SLIPWAY_BASE_NET_HTTP_CA_H

#include <stdbool.h>

/* The PEM file to trust; NULL = the one that libcurl was built with. `named` (NULL = none) goes
 * before the variables, and they before what is there. Borrowed from the environment. */
const char *http_ca_file(const char *named);

/* A variable of the user's names the certificates. */
bool http_ca_is_set(void);

#endif
