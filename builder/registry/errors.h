/*
 * A registry's refusal as an err: code, the server's own words, the likely cause and the next step
 * (distribution-spec, "Error Codes").
 */
#ifndef SLIPWAY_BUILDER_REGISTRY_ERRORS_H
#define SLIPWAY_BUILDER_REGISTRY_ERRORS_H

#include "base/net/http.h"

/* Always -1. 401 and 403 give ERR_DENIED, 404 ERR_NOT_FOUND, retryable ones ERR_NETWORK, others
 * ERR_SERVER. */
int registry_error(const struct http_response *response, struct err *err);

/* True unless the body's JSON names an error that has nothing to do with credentials. */
bool registry_error_may_be_auth(const struct http_response *response);

/* True when the body's JSON has this error code ("MANIFEST_BLOB_UNKNOWN", ...). */
bool registry_error_has(const struct http_response *response, const char *code);

#endif
