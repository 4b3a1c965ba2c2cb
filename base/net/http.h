/*
 * HTTP as one exchange at a time: a request goes out, a status, headers and a body come back. The
 * transport is an interface, so that tests replay canned replies. It never follows a redirect,
 * never retries, never sends "Expect: 100-continue", adds no credentials and undoes no content
 * encoding: all policy is the caller's. Any status is a success here; errors are those of the
 * connection.
 *
 * Errors: ERR_NETWORK (resolve, connect, TLS, cut, stalled: worth a retry), ERR_SERVER (certificate
 * not trusted: a retry will not help; the hint says what to do), ERR_UNSUPPORTED (the server does
 * not speak TLS, or none that we do: likewise), ERR_LIMIT (caps),
 * ERR_DENIED (see `foreign`), ERR_NOT_FOUND (certificate file), ERR_INTERRUPTED,
 * ERR_FORMAT (not HTTP), and whatever the caller's sink fails with. Messages hold no header and no
 * query string.
 *
 * Thread rule: a transport may be used by several threads at once; a response and a body source
 * belong to one thread.
 *
 *   struct http_request req = {.method = "GET", .url = "https://example.com/v2/"};
 *   AUTO(http_response) struct http_response resp = {0};
 *   if (http_perform(transport, &req, &resp, err) != 0)
 *           return -1;
 */
#ifndef SLIPWAY_BASE_NET_HTTP_H
#define SLIPWAY_BASE_NET_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/stream.h"
#include "base/strlist.h"

enum {
	HTTP_HEADERS_MAX = 256,             /* headers in one reply */
	HTTP_HEADER_BYTES_MAX = 128 << 10,  /* their bytes together */
	HTTP_BODY_BYTES_DEFAULT = 64 << 10, /* a buffered body when the request names no cap */
	HTTP_URL_MAX = 16 << 10
};

struct http_header {
	const char *name;
	const char *value;
};

enum http_body_kind { HTTP_BODY_NONE, HTTP_BODY_MEMORY, HTTP_BODY_FILE, HTTP_BODY_SOURCE };

/* A request body of known length; it can be sent again. All borrowed. */
struct http_body {
	enum http_body_kind kind;
	const void *bytes; /* memory: the bytes */
	int fd;            /* file: read by pread, its offset is neither used nor moved */
	int64_t offset;    /* file: first byte */
	/* source: opens the bytes from the front, each time that they are sent */
	int (*open)(void *ctx, struct source **ret_source, struct err *err);
	void *ctx;
	int64_t size; /* bytes */
};

/* Everything is borrowed until the call returns; a body of http_open until its source is closed. */
struct http_request {
	const char *method; /* "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE" */
	const char *url;    /* absolute, http or https, no user name, no fragment */
	const struct http_header *headers;
	size_t n_headers;
	struct http_body body;
	/* a big body either way: HTTP/1.1 on a connection of its own; else HTTP/2 may be */
	bool large;
	bool direct; /* never through a proxy, whatever the environment says */
	/*
	 * The host was named by a server, not by the user: ERR_DENIED when its name resolves to a
	 * link-local address, where the metadata services of clouds are
	 */
	bool foreign;
	int timeout_ms; /* the whole exchange takes at most so long; 0 = no such limit */
	/* cap of the buffered body; 0 = HTTP_BODY_BYTES_DEFAULT; beyond it ERR_LIMIT */
	size_t response_max;
	/* http_perform: takes the body of a 2xx reply instead of the buffer; may be NULL */
	struct sink *sink;
	/* Called with how many body bytes more were sent (negative: sending starts over). May be
	 * NULL. */
	void (*on_sent)(void *ctx, int64_t bytes);
	void *on_sent_ctx;
};

/* Headers of a reply in their order; owns its strings. */
struct http_headers {
	struct http_header *at;
	size_t n, cap;
	size_t bytes;
};

/* Zero-initialise; AUTO(http_response). */
struct http_response {
	int status; /* 200 ... 599 */
	struct http_headers headers;
	struct strbuf body; /* capped; empty when a sink or a source took it */
};

struct http_transport {
	/*
	 * One whole exchange. *resp was zeroed or released; on failure its content is unspecified.
	 */
	int (*perform)(struct http_transport *t, const struct http_request *req,
	               struct http_response *resp, struct err *err);
	/* The same up to the headers; the body is pulled from *ret_body at the reader's pace. */
	int (*open)(struct http_transport *t, const struct http_request *req,
	            struct http_response *resp, struct source **ret_body, struct err *err);
	/* Releases the transport; all its sources are closed by then. */
	void (*close)(struct http_transport *t);
};

int http_perform(struct http_transport *t, const struct http_request *req,
                 struct http_response *resp, struct err *err) MUST_USE;
int http_open(struct http_transport *t, const struct http_request *req, struct http_response *resp,
              struct source **ret_body, struct err *err) MUST_USE;
void http_close(struct http_transport *t); /* accepts NULL */

void http_response_done(struct http_response *resp);

/* The first header of that name (any case), NULL if absent; borrowed. */
const char *http_header_get(const struct http_headers *h, const char *name);

/* The value of the first such header at or behind *pos, moving *pos past it; NULL when there is no
 * more. `size_t pos = 0; while ((value = http_header_next(h, "warning", &pos)) != NULL)` */
const char *http_header_next(const struct http_headers *h, const char *name, size_t *pos);

/* Appends a copy. ERR_LIMIT beyond the caps. For transports. */
int http_header_add(struct http_headers *h, const char *name, size_t name_len, const char *value,
                    size_t value_len, struct err *err) MUST_USE;

/* Content-Length, -1 when absent or not one number. */
int64_t http_content_length(const struct http_headers *h);

/* ---- the real one: libcurl ---- */

struct http_curl_opts {
	/*
	 * PEM file trusted besides the system's; NULL = $SLIPWAY_CA_BUNDLE, $AWS_CA_BUNDLE,
	 * $SSL_CERT_FILE
	 */
	const char *ca_file;
	/* ca_file comes from a configuration: it has to be there when TLS is first spoken */
	bool ca_file_later;
	/* Like curl's --connect-to: "HOST:PORT:TO-HOST:TO-PORT", either half may be empty (any).
	 * Certificates are still checked for the name in the URL. */
	struct strlist connect_to;
	int connect_ms; /* to connect and shake hands; 0 = 30 s */
	int stall_ms;   /* with fewer than 1 KiB/s moved for so long: ERR_NETWORK; 0 = 60 s */
	int reply_ms;   /* to wait for the reply once all is sent; 0 = 300 s */
};

/*
 * Connections are kept and reused; DNS answers and TLS sessions are shared. Proxies come from the
 * environment (https_proxy, no_proxy, ...). opts NULL = defaults. ERR_NOT_FOUND or ERR_IO when the
 * caller's CA file cannot be read; one of the environment is first needed by an https request,
 * which then fails so.
 */
int http_curl_open(const struct http_curl_opts *opts, struct http_transport **ret_transport,
                   struct err *err) MUST_USE;

#endif
