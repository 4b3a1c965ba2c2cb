/*
 * A transport that tells each exchange of another one as a line for who wants to know more
 * (progress_detail): method, URL without its query, which may hold a signature, status and time.
 * No header and no body is told.
 */
#ifndef SLIPWAY_BASE_NET_HTTP_TRACE_H
#define SLIPWAY_BASE_NET_HTTP_TRACE_H

#include "base/net/http.h"
#include "base/progress.h"

/* Takes `below` over, and closes it with itself; returns it as it is when nobody listens. */
struct http_transport *http_trace(struct http_transport *below, struct progress *progress);

#endif
