#include "base/net/http_curl_failure.h"

#include <stddef.h>
#include <string.h>

#include "base/attr.h"

#define HINT_TRUST "name the server's authority with --ca FILE"
#define HINT_TLS   "does the server speak TLS on this port? --insecure allows plain http"
#define NOT_TLS    "the server answered, but not in TLS"

static const struct {
	CURLcode curl;
	enum err_code code;
	const char *part; /* of libcurl's text; NULL = any */
	const char *hint;
	const char *says; /* in place of libcurl's text; NULL = that */
} failures[] = {
	{CURLE_ABORTED_BY_CALLBACK, ERR_INTERRUPTED, NULL, NULL, NULL},
	{CURLE_URL_MALFORMAT, ERR_FORMAT, NULL, NULL, NULL},
	{CURLE_UNSUPPORTED_PROTOCOL, ERR_FORMAT, NULL, NULL, NULL},
	{CURLE_WEIRD_SERVER_REPLY, ERR_FORMAT, NULL, NULL, NULL},
	{CURLE_PEER_FAILED_VERIFICATION, ERR_SERVER, NULL,
         "the server's certificate is not trusted; name its authority with --ca FILE", NULL},
	{CURLE_SSL_ISSUER_ERROR, ERR_SERVER, NULL, HINT_TRUST, NULL},
	{CURLE_SSL_INVALIDCERTSTATUS, ERR_SERVER, NULL, HINT_TRUST, NULL},
	{CURLE_SSL_CERTPROBLEM, ERR_SERVER, NULL, HINT_TRUST, NULL},
	{CURLE_SSL_CIPHER, ERR_SERVER, NULL, "the server's TLS is too old: 1.2 is needed", NULL},
	{CURLE_SSL_CACERT_BADFILE, ERR_NOT_FOUND, NULL,
         "the file of trusted certificates cannot be used", NULL},
	/* OpenSSL's own words are about what the peer said; without them the connection broke. */
	{CURLE_SSL_CONNECT_ERROR, ERR_UNSUPPORTED, "wrong version number", HINT_TLS, NOT_TLS},
	{CURLE_SSL_CONNECT_ERROR, ERR_UNSUPPORTED, "packet length too long", HINT_TLS, NOT_TLS},
	{CURLE_SSL_CONNECT_ERROR, ERR_UNSUPPORTED, "routines:", HINT_TLS, NULL},
	{CURLE_SSL_CONNECT_ERROR, ERR_NETWORK, NULL, HINT_TLS, NULL},
	{CURLE_COULDNT_RESOLVE_HOST, ERR_NETWORK, NULL,
         "check the host's name and DNS, and HTTPS_PROXY if the network needs a proxy", NULL},
	{CURLE_COULDNT_RESOLVE_PROXY, ERR_NETWORK, NULL, "check HTTPS_PROXY", NULL},
	{CURLE_COULDNT_CONNECT, ERR_NETWORK, NULL, "is the server running, and is the port right?",
         NULL},
};

int curl_failure(CURLcode code, const char *origin, const char *text, struct err *err)
{
	if (text[0] == '\0')
		text = curl_easy_strerror(code);
	for (size_t i = 0; i < ARRAY_LEN(failures); i++) {
		if (failures[i].curl != code ||
		    (failures[i].part != NULL && strstr(text, failures[i].part) == NULL))
			continue;
		err_set(err, failures[i].code, "%s: %s", origin,
		        failures[i].says != NULL ? failures[i].says : text);
		return failures[i].hint != NULL ? err_hint(err, "%s", failures[i].hint) : -1;
	}
	return err_set(err, ERR_NETWORK, "%s: %s", origin, text);
}
