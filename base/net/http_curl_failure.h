/*
 * What libcurl's failures mean: our code, which says whether a retry can help, and the next step.
 * Private to this folder.
 */
#ifndef SLIPWAY_BASE_NET_HTTP_CURL_FAILURE_H
#define SLIPWAY_BASE_NET_HTTP_CURL_FAILURE_H

#include <curl/curl.h>

#include "base/err.h"

/*
 * Always -1. `origin` is for the message; `text` is libcurl's own, "" = none. ERR_NETWORK where
 * another try can help: not for certificates (ERR_SERVER), nor where the peer does not speak a TLS
 * of ours (ERR_UNSUPPORTED).
 */
int curl_failure(CURLcode code, const char *origin, const char *text, struct err *err);

#endif
