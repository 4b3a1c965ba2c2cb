/*
 * Any replies of a registry: the input's documents are given out in turn, each as "STATUS\nNAME: VALUE\n...\n\nBODY".
 * Tokens, redirects, manifests, blobs and uploads are asked for as a push and a pull do.
 */
#include <stdlib.h>
#include <strings.h>

#include "base/text.h"
#include "builder/registry/registry.h"
#include "tests/fuzz/parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fake {
	struct http_transport transport;
	struct parts parts;
};

/* Headers up to the empty line; what is behind it is the body. */
static struct part parse_reply(struct part reply, struct http_response *resp)
{
	struct err err = {0};
	const char *at = reply.text, *end = reply.text + reply.len;
	int64_t status = 0;

	for (bool first = true; at < end; first = false) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *line_end = newline != NULL ? newline : end;
		const char *colon = memchr(at, ':', (size_t)(line_end - at));

		if (first)
			text_int64(at, (size_t)(line_end - at), &status);
		else if (colon != NULL)
			(void)http_header_add(&resp->headers, at, (size_t)(colon - at), colon + 1,
			                      (size_t)(line_end - colon - 1), &err);
		at = line_end + (newline != NULL);
		if (!first && line_end == at - 1 && line_end - 1 >= reply.text && line_end[-1] == '\n')
			break;
	}
	resp->status = status >= 200 && status < 600 ? (int)status : 200;
	return (struct part){at, (size_t)(end - at)};
}

static int fake_open(struct http_transport *t, const struct http_request *req,
                     struct http_response *resp, struct source **ret_body, struct err *err)
{
	struct fake *f = (struct fake *)(void *)t;

	/* As libcurl reads it: a scheme in any letters, with one slash as with two. */
	if (strncasecmp(req->url, "https:", 6) != 0)
		BUG("a request to '%s'", req->url);
	if (f->parts.left == 0)
		return err_set(err, ERR_NETWORK, "connection closed");
	struct part body = parse_reply(parts_next(&f->parts), resp);

	*ret_body = source_from_bytes(body.text, body.len);
	return 0;
}

static int fake_perform(struct http_transport *t, const struct http_request *req,
                        struct http_response *resp, struct err *err)
{
	struct source *body = NULL;
	int result = fake_open(t, req, resp, &body, err);

	if (result != 0)
		return -1;
	resp->body.max = req->response_max > 0 ? req->response_max : HTTP_BODY_BYTES_DEFAULT;
	if (req->sink != NULL && resp->status < 300)
		result = stream_copy(body, req->sink, NULL, err);
	else
		result = stream_read_all(body, &resp->body, err);
	source_close(body);
	return result;
}

static int64_t now_ms(struct clock *c)
{
	(void)c;
	return 1700000000000;
}

static void no_sleep(struct clock *c, int64_t ms)
{
	(void)c;
	if (ms < 0)
		BUG("a pause of %lld ms", (long long)ms);
}

static void pull(struct registry *r, struct arena *a)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(1 << 20);
	struct store *store = registry_store(r);
	struct descriptor desc;
	struct err err = {0};

	if (store_resolve(store, "v1", a, &desc, &err) == 0)
		(void)store_read(store, &desc, 1 << 20, &text, &err);
	store_close(store);
}

static void push(struct registry *r)
{
	static const char bytes[] = "{}";
	struct descriptor desc = {.media_type = MEDIA_MANIFEST,
	                          .digest = digest_of(bytes, 2),
	                          .size = 2};
	enum blob_outcome outcome;
	bool existed;
	struct err err = {0};

	(void)registry_has_blob(r, &desc, &existed, &err);
	(void)registry_put_blob(r, &desc, -1, "team/base", &outcome, &err);
	(void)registry_put_manifest(r, "v1", &desc, bytes, &existed, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(arena) struct arena a = {0};
	struct fake fake = {.transport = {fake_perform, fake_open, NULL},
	                    .parts = {(const char *)data, size}};
	struct clock clock = {now_ms, no_sleep};
	const struct registry_opts opts = {
		.transport = &fake.transport, .clock = &clock, .retries = 2, .jobs = 1};
	struct registry *r = NULL;
	struct ref ref;
	struct err err = {0};

	if (ref_parse("registry.example.com/team/app:v1", &a, &ref, &err) != 0 ||
	    registry_open(&ref, &opts, &r, &err) != 0)
		abort();
	pull(r, &a);
	push(r);
	registry_close(r);
	return 0;
}
