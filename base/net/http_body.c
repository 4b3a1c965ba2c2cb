/* See http_body.h. */
#include "base/net/http_body.h"

#include <string.h>
#include <unistd.h>

static int read_memory(struct http_body_reader *r, void *buf, size_t cap, size_t *ret_n,
                       struct err *err)
{
	(void)err;
	memcpy(buf, (const char *)r->body->bytes + r->sent, cap);
	*ret_n = cap;
	return 0;
}

static int read_file(struct http_body_reader *r, void *buf, size_t cap, size_t *ret_n,
                     struct err *err)
{
	ssize_t got = pread(r->body->fd, buf, cap, r->body->offset + r->sent);

	if (got < 0)
		return err_set(err, ERR_IO, "read the request body");
	*ret_n = (size_t)got;
	return 0;
}

/* Nothing may follow, and what verifies the bytes does so at their end. */
static int check_end(struct http_body_reader *r, struct err *err)
{
	size_t more;
	char byte;

	if (source_read(r->source, &byte, 1, &more, err) != 0)
		return -1;
	return more == 0 ? 0 : err_set(err, ERR_DIGEST, "there is more to send than was announced");
}

static int read_source(struct http_body_reader *r, void *buf, size_t cap, size_t *ret_n,
                       struct err *err)
{
	if (r->source == NULL && r->body->open(r->body->ctx, &r->source, err) != 0)
		return -1;
	if (source_read(r->source, buf, cap, ret_n, err) != 0)
		return -1;
	return r->sent + (int64_t)*ret_n == r->body->size ? check_end(r, err) : 0;
}

int http_body_read(struct http_body_reader *r, void *buf, size_t cap, size_t *ret_n,
                   struct err *err)
{
	static int (*const kinds[])(struct http_body_reader *, void *, size_t, size_t *,
	                            struct err *) = {[HTTP_BODY_MEMORY] = read_memory,
	                                             [HTTP_BODY_FILE] = read_file,
	                                             [HTTP_BODY_SOURCE] = read_source};
	int64_t left = r->body->size - r->sent;

	*ret_n = 0;
	if (left == 0 || r->body->kind == HTTP_BODY_NONE)
		return 0;
	if ((uint64_t)left < cap)
		cap = (size_t)left;
	if (kinds[r->body->kind](r, buf, cap, ret_n, err) != 0)
		return -1;
	if (*ret_n == 0)
		return err_set(err, ERR_DIGEST, "what is to be sent is shorter than it was");
	r->sent += (int64_t)*ret_n;
	return 0;
}

void http_body_rewind(struct http_body_reader *r)
{
	source_close(r->source);
	r->source = NULL;
	r->sent = 0;
}
