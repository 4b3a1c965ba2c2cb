/*
 * What is attached to an image, as a registry lists it (distribution-spec 1.1, "Listing
 * Referrers"), or as clients keep it under a tag where the registry does not ("Referrers Tag
 * Schema").
 */
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/net/url.h"
#include "builder/oci/mediatype.h"
#include "builder/registry/call.h"

/* A list in more pieces than this is made to cost time: each has at least one entry. */
enum { PAGES_MAX = 256 };

/* ---- the registry's own list ---- */

const char *call_next_link(const struct http_headers *headers, struct arena *a)
{
	size_t pos = 0;
	const char *value;

	while ((value = http_header_next(headers, "Link", &pos)) != NULL) {
		const char *open = strchr(value, '<'),
			   *shut = open != NULL ? strchr(open, '>') : NULL;

		if (shut != NULL && (strcasestr(shut, "rel=\"next\"") != NULL ||
		                     strcasestr(shut, "rel=next") != NULL))
			return arena_strndup(a, open + 1, (size_t)(shut - open - 1));
	}
	return NULL;
}

/* The registry has no such API, as the older ones. */
static bool has_no_list(int status)
{
	return status == 404 || status == 405 || status == 501;
}

static int get_page(struct registry *r, const char *url, struct arena *a,
                    struct http_response *resp, struct err *err)
{
	const struct call get = {.method = "GET",
	                         .url = url,
	                         .scopes = call_scopes(r, "pull", NULL, a),
	                         .step = REGISTRY_GET_MANIFEST,
	                         .headers = {{"Accept", MEDIA_INDEX}},
	                         .n_headers = 1,
	                         .response_max = MANIFEST_BYTES_MAX};

	if (call_send(r, &get, resp, err) != 0)
		return -1;
	return resp->status == 200 || has_no_list(resp->status) ? 0
	                                                        : call_refused(r, &get, resp, err);
}

static int read_page(const struct http_response *resp, struct referrers_scan *scan, struct err *err)
{
	struct index list;

	if (index_parse(strbuf_str(&resp->body), resp->body.len, NULL, scan->arena, &list, err) !=
	    0)
		return -1;
	return referrers_consider_list(scan, &list, err);
}

/* Percent-encodes what a query may not have as it is (RFC 3986, section 3.4), the '+' too. */
static const char *query_text(const char *text, struct arena *a)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-._~";
	AUTO(strbuf) struct strbuf sb = STRBUF_INIT(4096);

	for (const char *c = text; *c != '\0'; c++)
		if (strchr(plain, *c) != NULL)
			strbuf_addc(&sb, *c);
		else
			strbuf_addf(&sb, "%%%02X", (unsigned)(unsigned char)*c);
	return arena_strdup(a, strbuf_str(&sb));
}

static const char *first_page(const struct registry *r, const struct referrers_scan *scan,
                              struct arena *a)
{
	char digest[DIGEST_TEXT_MAX];

	digest_text(scan->subject, digest);
	return scan->type == NULL ? arena_printf(a, "%s/referrers/%s", r->base, digest)
	                          : arena_printf(a, "%s/referrers/%s?artifactType=%s", r->base,
	                                         digest, query_text(scan->type, a));
}

/* *ret_kept: the registry keeps no list. A registry that does not filter is filtered here. */
static int read_list(struct registry *r, struct referrers_scan *scan, bool *ret_kept,
                     struct err *err)
{
	AUTO(arena) struct arena a = {0};
	const char *url = first_page(r, scan, &a);

	*ret_kept = false;
	for (size_t pages = 0; url != NULL; pages++) {
		AUTO(http_response) struct http_response resp = {0};

		if (pages == PAGES_MAX)
			return err_set(err, ERR_LIMIT, "the list has more than %d pages",
			               PAGES_MAX);
		if (get_page(r, url, &a, &resp, err) != 0)
			return -1;
		*ret_kept = has_no_list(resp.status) && pages == 0;
		if (*ret_kept)
			return 0;
		if (resp.status != 200)
			return err_set(err, ERR_SERVER, "a page of the list answers with status %d",
			               resp.status);
		if (read_page(&resp, scan, err) != 0)
			return -1;
		const char *next = call_next_link(&resp.headers, &a);

		if (next == NULL)
			return 0;
		if (call_resolve(r, url, next, &a, &url, err) != 0)
			return err_wrap(err, "Link");
	}
	return 0;
}

/* ---- the list that clients keep ---- */

void kept_list_done(struct kept_list *list)
{
	json_done(&list->doc);
	free(list->etag);
	*list = (struct kept_list){0};
}

/* A registry may answer for the tag with the subject itself (GitLab did): that is no list. */
static int parse_kept(const struct http_response *resp, const struct digest *subject,
                      struct kept_list *list, struct err *err)
{
	const char *type, *etag = http_header_get(&resp->headers, "ETag");
	struct digest own = digest_of(strbuf_str(&resp->body), resp->body.len);

	if (digest_equal(&own, subject))
		return 0;
	if (json_parse("list of referrers", strbuf_str(&resp->body), resp->body.len, &list->doc,
	               err) != 0)
		return -1;
	type = json_string(list->doc, "mediaType");
	if (type == NULL || strcmp(type, MEDIA_INDEX) != 0) {
		err_set(err, ERR_FORMAT, "it names no list of referrers, but '%.120s'",
		        type != NULL ? type : "a document without a type");
		return err_hint(err, "delete that tag: clients keep the list of an image's "
		                     "signatures under it");
	}
	list->etag = etag != NULL ? mem_strdup(etag) : NULL;
	return 0;
}

int kept_list_read(struct registry *r, const struct digest *subject, struct kept_list *ret_list,
                   struct err *err)
{
	AUTO(arena) struct arena a = {0};
	AUTO(http_response) struct http_response resp = {0};
	AUTO(kept_list) struct kept_list list = {0};
	char tag[REFERRERS_TAG_MAX];
	const struct call get = {
		.method = "GET",
		.url = arena_printf(&a, "%s/manifests/%s", r->base, referrers_tag(subject, tag)),
		.scopes = call_scopes(r, "pull", NULL, &a),
		.step = REGISTRY_GET_MANIFEST,
		.headers = {{"Accept", MEDIA_ACCEPT_MANIFESTS}},
		.n_headers = 1,
		.response_max = MANIFEST_BYTES_MAX};

	if (call_send(r, &get, &resp, err) != 0)
		return err_wrap(err, "tag '%s'", tag);
	if (resp.status != 404) {
		if (resp.status != 200)
			return call_refused(r, &get, &resp, err);
		if (parse_kept(&resp, subject, &list, err) != 0)
			return err_wrap(err, "tag '%s'", tag);
	}
	*ret_list = list;
	list = (struct kept_list){0};
	return 0;
}

static int read_kept(struct registry *r, struct referrers_scan *scan, struct err *err)
{
	AUTO(kept_list) struct kept_list list = {0};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(2 * MANIFEST_BYTES_MAX);
	struct index index;

	if (kept_list_read(r, scan->subject, &list, err) != 0)
		return -1;
	if (list.doc == NULL)
		return 0;
	json_print(list.doc, &text);
	if (index_parse(text.ptr, text.len, NULL, scan->arena, &index, err) != 0)
		return -1;
	return referrers_consider_list(scan, &index, err);
}

int registry_referrers(struct registry *r, struct store *store, const struct digest *subject,
                       const char *type, struct arena *a, struct referrers *ret_referrers,
                       struct err *err)
{
	AUTO(referrers_scan)
	struct referrers_scan scan = {.store = store, .subject = subject, .type = type, .arena = a};
	char digest[DIGEST_TEXT_MAX];
	bool kept = false;

	if (read_list(r, &scan, &kept, err) != 0 || (kept && read_kept(r, &scan, err) != 0))
		return err_wrap(err, "referrers of %s in '%s/%s'", digest_text(subject, digest),
		                r->host, r->repository);
	*ret_referrers = referrers_finish(&scan);
	return 0;
}
