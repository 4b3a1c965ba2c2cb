/*
 * The repository as a store. Blobs are pulled at the reader's pace; a connection that breaks is
 * taken up again with a Range request where the server can, and the digest of the whole is verified
 * at the end.
 */
#include <string.h>

#include "base/crypto/digest_stream.h"
#include "base/mem.h"
#include "builder/oci/mediatype.h"
#include "builder/registry/call.h"
#include "builder/registry/errors.h"

enum { PULL_SKIP = 64 << 10 };

struct registry_store {
	struct store store;
	struct registry *registry;
};

struct blob_pull {
	struct source source;
	struct registry *r;
	struct source *inner; /* NULL while there is no connection */
	char *url, *scopes, *accept;
	int64_t have, size;
	int64_t had;       /* at the last failure */
	unsigned attempts; /* since there was progress */
};

/* Reads and forgets what a server that knows no ranges sends again. */
static int skip_bytes(struct blob_pull *p, int64_t bytes, struct err *err)
{
	char buf[PULL_SKIP];

	while (bytes > 0) {
		size_t n, want = bytes < PULL_SKIP ? (size_t)bytes : PULL_SKIP;

		if (source_read(p->inner, buf, want, &n, err) != 0)
			return -1;
		if (n == 0)
			return err_set(err, ERR_NETWORK, "the connection ended too early");
		bytes -= (int64_t)n;
	}
	return 0;
}

/* RFC 9110 section 14.4: the range that was asked for, or the reply is not what it seems. */
static int check_range(const struct blob_pull *p, const struct http_response *resp, struct err *err)
{
	const char *value = http_header_get(&resp->headers, "Content-Range");
	char want[64];

	snprintf(want, sizeof(want), "bytes %lld-", (long long)p->have);
	if (value == NULL || strncmp(value, want, strlen(want)) != 0)
		return err_set(err, ERR_SERVER, "the registry sent another range than requested");
	return 0;
}

static int connect_pull(struct blob_pull *p, struct err *err)
{
	AUTO(http_response) struct http_response resp = {0};
	char range[64];
	struct call get = {.method = "GET",
	                   .url = p->url,
	                   .scopes = p->scopes,
	                   .step = p->accept != NULL ? REGISTRY_GET_MANIFEST : REGISTRY_GET_BLOB,
	                   .large = true,
	                   .body_source = &p->inner};

	if (p->accept != NULL)
		get.headers[get.n_headers++] = (struct http_header){"Accept", p->accept};
	if (p->have > 0) {
		snprintf(range, sizeof(range), "bytes=%lld-", (long long)p->have);
		get.headers[get.n_headers++] = (struct http_header){"Range", range};
	}
	if (call_send(p->r, &get, &resp, err) != 0)
		return -1;
	if (resp.status == 200 && http_content_length(&resp.headers) >= 0 &&
	    http_content_length(&resp.headers) != p->size)
		return err_set(err, ERR_DIGEST, "the registry announces %lld bytes instead of %lld",
		               (long long)http_content_length(&resp.headers), (long long)p->size);
	if (resp.status == 200)
		return skip_bytes(p, p->have, err);
	if (resp.status == 206 && p->have > 0)
		return check_range(p, &resp, err);
	return call_refused(p->r, &get, &resp, err);
}

static void disconnect(struct blob_pull *p)
{
	source_close(p->inner);
	p->inner = NULL;
}

static int pull_once(struct blob_pull *p, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	if (p->inner == NULL && connect_pull(p, err) != 0)
		return -1;
	if (source_read(p->inner, buf, cap, ret_n, err) != 0)
		return -1;
	if (*ret_n == 0 && p->have < p->size)
		return err_set(err, ERR_NETWORK, "the connection ended after %lld of %lld bytes",
		               (long long)p->have, (long long)p->size);
	p->have += (int64_t)*ret_n;
	return 0;
}

static int blob_pull_read(struct source *s, void *buf, size_t cap, size_t *ret_n, struct err *err)
{
	struct blob_pull *p = (struct blob_pull *)s;

	for (;;) {
		struct err why = {0};

		if (pull_once(p, buf, cap, ret_n, &why) == 0)
			return 0;
		disconnect(p);
		if (why.code != ERR_NETWORK) {
			*err = why;
			return -1;
		}
		/*
		 * A long blob over a poor line may take many connections: only those in vain count.
		 */
		if (p->have > p->had)
			p->attempts = 0;
		p->had = p->have;
		if (call_wait(p->r, ++p->attempts, NULL, &why, err) != 0)
			return -1;
	}
}

static void blob_pull_close(struct source *s)
{
	struct blob_pull *p = (struct blob_pull *)s;

	disconnect(p);
	free(p->url);
	free(p->scopes);
	free(p->accept);
	free(p);
}

static bool is_document(const struct descriptor *d)
{
	return media_is_index(d->media_type) || media_is_manifest(d->media_type);
}

static int open_any(struct store *s, const struct descriptor *desc, struct source **ret_source,
                    struct err *err)
{
	struct registry *r = ((struct registry_store *)s)->registry;
	struct source *kept = is_document(desc) ? resolve_kept(r, desc) : NULL;

	if (kept != NULL) {
		*ret_source = source_verified(kept, &desc->digest, desc->size);
		return 0;
	}
	AUTO(arena) struct arena a = {0};
	struct blob_pull *p = mem_zalloc(sizeof(*p));
	char text[DIGEST_TEXT_MAX];

	digest_text(&desc->digest, text);
	p->source = (struct source){blob_pull_read, blob_pull_close};
	p->r = r;
	p->size = desc->size;
	p->scopes = mem_strdup(call_scopes(r, "pull", NULL, &a));
	p->url = mem_strdup(arena_printf(&a, "%s/%s/%s", r->base,
	                                 is_document(desc) ? "manifests" : "blobs", text));
	p->accept = is_document(desc) ? mem_strdup(MEDIA_ACCEPT_MANIFESTS) : NULL;
	if (connect_pull(p, err) != 0) {
		blob_pull_close(&p->source);
		return err_wrap(err, "pull %s from '%s/%s'", text, r->host, r->repository);
	}
	*ret_source = source_verified(&p->source, &desc->digest, desc->size);
	return 0;
}

static int registry_store_resolve(struct store *s, const char *tag, struct arena *a,
                                  struct descriptor *ret_desc, struct err *err)
{
	return registry_resolve(((struct registry_store *)s)->registry,
	                        tag != NULL ? tag : "latest", a, ret_desc, err);
}

static int registry_store_referrers(struct store *s, const struct digest *subject, const char *type,
                                    struct arena *a, struct referrers *ret_referrers,
                                    struct err *err)
{
	return registry_referrers(((struct registry_store *)s)->registry, s, subject, type, a,
	                          ret_referrers, err);
}

static void registry_store_close(struct store *s)
{
	free(s);
}

struct store *registry_store(struct registry *r)
{
	struct registry_store *s = mem_zalloc(sizeof(*s));

	s->store = (struct store){registry_store_resolve, open_any, registry_store_close,
	                          registry_store_referrers};
	s->registry = r;
	return &s->store;
}
