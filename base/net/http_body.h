/*
 * A request's body while it is sent: from memory, a file or a source, from the front and, where a
 * connection or a redirect asks for it, again from the front. For transports.
 */
#ifndef SLIPWAY_BASE_NET_HTTP_BODY_H
#define SLIPWAY_BASE_NET_HTTP_BODY_H

#include "base/net/http.h"

/* Begins with .body alone set; rewind ends it, too. */
struct http_body_reader {
	const struct http_body *body;
	struct source *source; /* of HTTP_BODY_SOURCE, once it is open */
	int64_t sent;          /* bytes handed out since the front */
};

/*
 * The next bytes, at most cap; *ret_n = 0 at the end. The last bytes of a source are handed out
 * only when it ended well behind them: what turns out not to be what it should is never sent whole.
 * ERR_DIGEST when there are fewer or more than the body's size; ERR_IO; a source's own errors.
 */
int http_body_read(struct http_body_reader *r, void *buf, size_t cap, size_t *ret_n,
                   struct err *err) MUST_USE;

/* To the front again: a source is closed, and opened anew when it is read. */
void http_body_rewind(struct http_body_reader *r);

#endif
