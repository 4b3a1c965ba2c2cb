/*
 * What a tag or digest names. HEAD says it cheaply, but not every registry answers HEAD, or
 * truthfully: what GET sends decides, and where the two differ it is said.
 */
#include <string.h>

#include "base/doc/json.h"
#include "builder/oci/mediatype.h"
#include "builder/registry/call.h"
#include "builder/registry/errors.h"

static bool is_digest(const char *reference)
{
	return strncmp(reference, "sha256:", 7) == 0;
}

static int check_reference(const char *reference, const struct digest *d, struct err *err)
{
	char text[DIGEST_TEXT_MAX];

	if (!is_digest(reference) || strcmp(reference, digest_text(d, text)) == 0)
		return 0;
	return err_set(err, ERR_DIGEST, "the registry returned a manifest with another digest: %s",
	               text);
}

/* *ret_complete is false when the headers do not describe a manifest that there can be. */
static int descriptor_of(const struct http_response *resp, const char *reference, struct arena *a,
                         struct descriptor *ret_desc, bool *ret_complete, struct err *err)
{
	const char *digest = http_header_get(&resp->headers, "Docker-Content-Digest");
	const char *type = http_header_get(&resp->headers, "Content-Type");
	struct descriptor d = {.size = http_content_length(&resp->headers)};
	struct err malformed = {0};

	/* Not every registry sends the digest on HEAD (ECR did not): a digest reference says it
	 * itself. */
	if (digest == NULL && is_digest(reference))
		digest = reference;
	*ret_complete = digest != NULL && type != NULL && d.size > 0 &&
	                d.size <= MANIFEST_BYTES_MAX &&
	                digest_parse(digest, &d.digest, &malformed) == 0;
	if (!*ret_complete)
		return 0;
	if (check_reference(reference, &d.digest, err) != 0)
		return -1;
	d.media_type = arena_strndup(a, type, strcspn(type, "; "));
	*ret_desc = d;
	return 0;
}

/* The document's own mediaType; NULL when it has none. */
static const char *own_type(const struct strbuf *text, struct arena *a)
{
	AUTO(json) cJSON *doc = NULL;
	struct err ignored = {0};

	if (text->len == 0 || json_parse("manifest", text->ptr, text->len, &doc, &ignored) != 0)
		return NULL;
	return arena_strdup(a, json_string(doc, "mediaType"));
}

/* The type of a document as its header says; a header that knows no manifests gives way. */
static const char *type_of(const struct http_response *resp, struct arena *a)
{
	const char *type = http_header_get(&resp->headers, "Content-Type"), *own;

	if (type != NULL)
		type = arena_strndup(a, type, strcspn(type, "; "));
	if (type != NULL && (media_is_index(type) || media_is_manifest(type)))
		return type;
	own = own_type(&resp->body, a);
	return own != NULL ? own : type != NULL ? type : MEDIA_MANIFEST;
}

/* Keeps the first document, for the reader who comes next: it need not be sent twice. */
static void keep_document(struct registry *r, const struct descriptor *desc, struct strbuf *body)
{
	pthread_mutex_lock(&r->lock);
	if (r->document.len == 0) {
		r->document_digest = desc->digest;
		r->document = *body;
		*body = (struct strbuf){0};
	}
	pthread_mutex_unlock(&r->lock);
}

struct source *resolve_kept(struct registry *r, const struct descriptor *desc)
{
	pthread_mutex_lock(&r->lock);
	bool same = r->document.len > 0 && digest_equal(&r->document_digest, &desc->digest);

	pthread_mutex_unlock(&r->lock);
	return same ? source_from_bytes(r->document.ptr, r->document.len) : NULL;
}

static struct call manifest_call(const struct registry *r, const char *reference, struct arena *a)
{
	return (struct call){.method = "GET",
	                     .url = arena_printf(a, "%s/manifests/%s", r->base, reference),
	                     .scopes = call_scopes(r, "pull", NULL, a),
	                     .step = REGISTRY_GET_MANIFEST,
	                     .headers = {{"Accept", MEDIA_ACCEPT_MANIFESTS}},
	                     .n_headers = 1,
	                     .response_max = MANIFEST_BYTES_MAX};
}

/* The whole document, described by its bytes. */
static int describe_by_get(struct registry *r, const char *reference, struct arena *a,
                           struct descriptor *ret_desc, struct err *err)
{
	AUTO(http_response) struct http_response resp = {0};
	const struct call get = manifest_call(r, reference, a);

	if (call_send(r, &get, &resp, err) != 0)
		return -1;
	if (resp.status != 200)
		return call_refused(r, &get, &resp, err);
	struct descriptor d = {.media_type = type_of(&resp, a),
	                       .digest = digest_of(strbuf_str(&resp.body), resp.body.len),
	                       .size = (int64_t)resp.body.len};

	if (check_reference(reference, &d.digest, err) != 0)
		return -1;
	keep_document(r, &d, &resp.body);
	*ret_desc = d;
	return 0;
}

/* HEAD alone; *ret_complete is false when it has to be followed by GET. */
static int describe_by_head(struct registry *r, const char *reference, struct arena *a,
                            struct descriptor *ret_desc, bool *ret_complete, struct err *err)
{
	AUTO(http_response) struct http_response resp = {0};
	struct call head = manifest_call(r, reference, a);

	head.method = "HEAD";
	head.step = REGISTRY_HEAD_MANIFEST;
	head.response_max = 0;
	*ret_complete = false;
	if (call_send(r, &head, &resp, err) != 0)
		return -1;
	if (resp.status == 405 || resp.status == 501)
		return 0;
	if (resp.status == 200)
		return descriptor_of(&resp, reference, a, ret_desc, ret_complete, err);
	return resp.status == 404 ? call_refused(r, &head, &resp, err)
	                          : call_explain(r, &head, &resp, err);
}

static int name_manifest(const struct registry *r, const char *reference, struct err *err)
{
	return err_wrap(err, "manifest '%s' of '%s/%s'", reference, r->host, r->repository);
}

int registry_head_manifest(struct registry *r, const char *reference, struct arena *a,
                           struct descriptor *ret_desc, struct err *err)
{
	bool complete;

	if (describe_by_head(r, reference, a, ret_desc, &complete, err) != 0 ||
	    (!complete && describe_by_get(r, reference, a, ret_desc, err) != 0))
		return name_manifest(r, reference, err);
	return 0;
}

static void say_difference(struct registry *r, const char *reference, const struct descriptor *head,
                           const struct descriptor *get)
{
	char said[DIGEST_TEXT_MAX], sent[DIGEST_TEXT_MAX];

	if (digest_equal(&head->digest, &get->digest) && head->size == get->size)
		return;
	progress_note(r->opts.progress,
	              "%s: HEAD and GET of manifest '%s' disagree: %s of %lld bytes was announced, "
	              "%s of %lld bytes was sent and is used",
	              r->host, reference, digest_text(&head->digest, said), (long long)head->size,
	              digest_text(&get->digest, sent), (long long)get->size);
}

/* The document that HEAD named, by its digest: a tag may be moved between the two requests. */
static int confirm(struct registry *r, const char *reference, const struct descriptor *head,
                   struct arena *a, struct descriptor *ret_desc, struct err *err)
{
	char digest[DIGEST_TEXT_MAX];
	struct err why = {0};

	if (describe_by_get(r, digest_text(&head->digest, digest), a, ret_desc, &why) == 0)
		return 0;
	bool is_false = why.code == ERR_NOT_FOUND || why.code == ERR_DIGEST;

	if (is_false && !is_digest(reference))
		return describe_by_get(r, reference, a, ret_desc, err);
	*err = why;
	return -1;
}

int registry_resolve(struct registry *r, const char *reference, struct arena *a,
                     struct descriptor *ret_desc, struct err *err)
{
	struct descriptor head = {0}, get = {0};
	bool complete;

	if (describe_by_head(r, reference, a, &head, &complete, err) != 0 ||
	    (complete ? confirm(r, reference, &head, a, &get, err)
	              : describe_by_get(r, reference, a, &get, err)) != 0)
		return name_manifest(r, reference, err);
	if (complete)
		say_difference(r, reference, &head, &get);
	*ret_desc = get;
	return 0;
}
