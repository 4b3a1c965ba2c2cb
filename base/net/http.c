#include "base/net/http.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"

/* A line break would let one header smuggle in others. */
static int check_headers(const struct http_request *r, struct err *err)
{
	for (size_t i = 0; i < r->n_headers; i++)
		if (strpbrk(r->headers[i].name, "\r\n: ") != NULL ||
		    strpbrk(r->headers[i].value, "\r\n") != NULL)
			return err_set(err, ERR_FORMAT, "a line break in header '%.60s'",
			               r->headers[i].name);
	return 0;
}

int http_perform(struct http_transport *t, const struct http_request *req,
                 struct http_response *resp, struct err *err)
{
	return check_headers(req, err) == 0 ? t->perform(t, req, resp, err) : -1;
}

int http_open(struct http_transport *t, const struct http_request *req, struct http_response *resp,
              struct source **ret_body, struct err *err)
{
	return check_headers(req, err) == 0 ? t->open(t, req, resp, ret_body, err) : -1;
}

void http_close(struct http_transport *t)
{
	if (t != NULL)
		t->close(t);
}

static void headers_done(struct http_headers *h)
{
	for (size_t i = 0; i < h->n; i++) {
		free((char *)h->at[i].name);
		free((char *)h->at[i].value);
	}
	free(h->at);
	*h = (struct http_headers){0};
}

void http_response_done(struct http_response *resp)
{
	headers_done(&resp->headers);
	strbuf_done(&resp->body);
	*resp = (struct http_response){0};
}

const char *http_header_next(const struct http_headers *h, const char *name, size_t *pos)
{
	while (*pos < h->n) {
		const struct http_header *header = &h->at[(*pos)++];

		if (strcasecmp(header->name, name) == 0)
			return header->value;
	}
	return NULL;
}

const char *http_header_get(const struct http_headers *h, const char *name)
{
	size_t pos = 0;

	return http_header_next(h, name, &pos);
}

int http_header_add(struct http_headers *h, const char *name, size_t name_len, const char *value,
                    size_t value_len, struct err *err)
{
	if (h->n >= HTTP_HEADERS_MAX || name_len + value_len > HTTP_HEADER_BYTES_MAX - h->bytes)
		return err_set(err, ERR_LIMIT,
		               "the server sends more than %d headers or %d bytes of them",
		               HTTP_HEADERS_MAX, HTTP_HEADER_BYTES_MAX);
	struct http_header header = {mem_strndup(name, name_len), mem_strndup(value, value_len)};

	h->bytes += name_len + value_len;
	vec_push(h, header);
	return 0;
}

int64_t http_content_length(const struct http_headers *h)
{
	const char *text = http_header_get(h, "content-length");
	int64_t value;

	if (text == NULL || !text_int64(text, strlen(text), &value) || value < 0)
		return -1;
	return value;
}
