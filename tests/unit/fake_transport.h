/*
 * A transport that replays a script: each step says which request must come, to the byte, and what is
 * answered. A clock that jumps instead of sleeping. For unit tests; one thread.
 *
 *   static const struct fake_step steps[] = {
 *           {"GET https://r.example/v2/", 401, .headers = "WWW-Authenticate: Basic realm=x"},
 *           {"GET https://r.example/v2/\nAuthorization: Basic dTpw", 200},
 *   };
 *   struct fake f;
 *   fake_init(&f, steps, ARRAY_LEN(steps));
 *   ... &f.transport, &f.clock ...
 *   fake_done(&f);
 */
#ifndef SLIPWAY_TESTS_FAKE_TRANSPORT_H
#define SLIPWAY_TESTS_FAKE_TRANSPORT_H

#include "base/clock.h"
#include "base/mem.h"
#include "base/net/http.h"
#include "base/net/http_body.h"
#include "tests/harness.h"

struct fake_step {
	const char *
		request; /* "METHOD URL", a line per header, an empty line and the body if there is one */
	int status;          /* 0 = the connection breaks */
	const char *headers; /* "Name: value" lines */
	const char *body;
	size_t cut; /* pulled bodies: so many bytes, then the connection breaks; 0 = whole */
};

struct fake {
	struct http_transport transport;
	struct clock clock;
	const struct fake_step *steps;
	size_t n, next;
	int64_t now, slept; /* ms */
	unsigned n_sleeps;
};

/* -1: the body cannot be read. */
static inline int fake_describe(const struct http_request *req, struct strbuf *sb, struct err *err)
{
	struct http_body_reader body = {.body = &req->body};
	char bytes[4096];
	size_t n = 1;
	int status = 0;

	strbuf_addf(sb, "%s %s", req->method, req->url);
	for (size_t i = 0; i < req->n_headers; i++)
		strbuf_addf(sb, "\n%s: %s", req->headers[i].name, req->headers[i].value);
	if (req->body.size == 0)
		return 0;
	strbuf_adds(sb, "\n\n");
	while (n > 0 && (status = http_body_read(&body, bytes, sizeof(bytes), &n, err)) == 0)
		strbuf_add(sb, bytes, n);
	http_body_rewind(&body);
	return status;
}

static inline void fake_headers(const char *line, struct http_response *resp)
{
	struct err err = {0};

	while (line != NULL && *line != '\0') {
		size_t len = strcspn(line, "\n"), name = strcspn(line, ":");

		CHECK_OK(http_header_add(&resp->headers, line, name, line + name + 2,
		                         len - name - 2, &err),
		         &err);
		line += len + (line[len] == '\n');
	}
}

static inline const struct fake_step *fake_take(struct fake *f, const struct http_request *req,
                                                struct http_response *resp, struct err *err)
{
	AUTO(strbuf) struct strbuf got = STRBUF_INIT(0);

	bool whole = fake_describe(req, &got, err) == 0;

	http_response_done(resp);
	if (f->next == f->n) {
		test_fail(__FILE__, __LINE__, "a request too many");
		printf("#   %s\n", strbuf_str(&got));
		err_set(err, ERR_UNSUPPORTED, "a request too many");
		return NULL;
	}
	const struct fake_step *step = &f->steps[f->next++];

	if (!whole)
		return NULL;
	CHECK_STR(strbuf_str(&got), step->request);
	if (req->on_sent != NULL && req->body.size > 0)
		req->on_sent(req->on_sent_ctx, req->body.size);
	if (step->status == 0) {
		err_set(err, ERR_NETWORK, "the connection broke");
		return NULL;
	}
	resp->status = step->status;
	fake_headers(step->headers, resp);
	return step;
}

static inline int fake_perform(struct http_transport *t, const struct http_request *req,
                               struct http_response *resp, struct err *err)
{
	const struct fake_step *step = fake_take((struct fake *)t, req, resp, err);

	if (step == NULL)
		return -1;
	resp->body.max = req->response_max != 0 ? req->response_max : HTTP_BODY_BYTES_DEFAULT;
	if (step->body != NULL && strcmp(req->method, "HEAD") != 0)
		strbuf_adds(&resp->body, step->body);
	return resp->body.overflow ? err_set(err, ERR_LIMIT, "body") : 0;
}

struct fake_body {
	struct source source;
	const char *at;
	size_t left;
	bool cut;
};

static inline int fake_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	struct fake_body *b = (struct fake_body *)s;
	size_t n = cap < b->left ? cap : b->left;

	if (n == 0 && b->cut)
		return err_set(err, ERR_NETWORK, "the connection broke");
	memcpy(buf, b->at, n);
	b->at += n;
	b->left -= n;
	*ret_n = n;
	return 0;
}

static inline void fake_close_body(struct source *s)
{
	free(s);
}

static inline int fake_open(struct http_transport *t, const struct http_request *req,
                            struct http_response *resp, struct source **ret_body, struct err *err)
{
	const struct fake_step *step = fake_take((struct fake *)t, req, resp, err);

	if (step == NULL)
		return -1;
	struct fake_body *b = mem_zalloc(sizeof(*b));

	b->source = (struct source){fake_read, fake_close_body};
	b->at = step->body != NULL ? step->body : "";
	b->left = step->cut != 0 ? step->cut : strlen(b->at);
	b->cut = step->cut != 0;
	*ret_body = &b->source;
	return 0;
}

static inline void fake_close(struct http_transport *t)
{
	(void)t;
}

static inline int64_t fake_now(struct clock *c)
{
	return ((struct fake *)((char *)c - offsetof(struct fake, clock)))->now;
}

static inline void fake_sleep(struct clock *c, int64_t ms)
{
	struct fake *f = (struct fake *)((char *)c - offsetof(struct fake, clock));

	f->now += ms;
	f->slept += ms;
	f->n_sleeps++;
}

static inline void fake_init(struct fake *f, const struct fake_step *steps, size_t n)
{
	*f = (struct fake){.transport = {fake_perform, fake_open, fake_close},
	                   .clock = {fake_now, fake_sleep},
	                   .steps = steps,
	                   .n = n,
	                   .now = 784111777000}; /* Sun, 06 Nov 1994 08:49:37 GMT */
}

/* Every step must have been asked for. */
static inline void fake_done(struct fake *f)
{
	CHECK_INT(f->next, f->n);
}

#endif
