/*
 * libcurl's set-up, with the memory of base/mem.h. For http_curl.c alone.
 */
#ifndef SLIPWAY_BASE_NET_CURL_MEMORY_H
#define SLIPWAY_BASE_NET_CURL_MEMORY_H

#include "base/err.h"

/* curl_global_init; out of memory then ends the program. ERR_UNSUPPORTED when libcurl refuses. */
int curl_memory_init(struct err *err) MUST_USE;

#endif
