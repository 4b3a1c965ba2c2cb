/*
 * The tags of a repository (distribution-spec, "Listing Tags"), page by page.
 */
#include <string.h>

#include "base/doc/json.h"
#include "builder/oci/ref.h"
#include "builder/registry/call.h"

enum { PAGES_MAX = 1024, PAGE_BYTES_MAX = 4 << 20, TAGS_MAX = 65536 };

struct tag_list {
	struct arena *arena;
	VEC(const char *) tags;
};

/* What is not a tag can be neither asked for nor set. */
static int add_tags(struct tag_list *list, const struct http_response *resp, struct err *err)
{
	AUTO(json) cJSON *doc = NULL;
	const cJSON *tag = NULL;

	if (json_parse("list of tags", resp->body.ptr, resp->body.len, &doc, err) != 0)
		return -1;
	cJSON_ArrayForEach (tag, json_get(doc, "tags")) {
		if (!cJSON_IsString(tag) || !ref_tag_valid(tag->valuestring))
			continue;
		if (list->tags.n >= TAGS_MAX)
			return err_set(err, ERR_LIMIT, "the repository has more than %d tags",
			               TAGS_MAX);
		vec_push(&list->tags, arena_strdup(list->arena, tag->valuestring));
	}
	return 0;
}

static int get_page(struct registry *r, const char *url, struct arena *a,
                    struct http_response *resp, struct err *err)
{
	const struct call get = {.method = "GET",
	                         .url = url,
	                         .scopes = call_scopes(r, "pull", NULL, a),
	                         .step = REGISTRY_GET_MANIFEST,
	                         .response_max = PAGE_BYTES_MAX};

	if (call_send(r, &get, resp, err) != 0)
		return -1;
	return resp->status == 200 ? 0 : call_refused(r, &get, resp, err);
}

static int read_pages(struct registry *r, struct tag_list *list, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	const char *url = arena_printf(&a, "%s/tags/list?n=1000", r->base);

	for (int i = 0; i < PAGES_MAX; i++) {
		AUTO(http_response) struct http_response resp = {0};
		const char *next;

		if (get_page(r, url, &a, &resp, err) != 0 || add_tags(list, &resp, err) != 0)
			return -1;
		next = call_next_link(&resp.headers, &a);
		if (next == NULL)
			return 0;
		if (call_resolve(r, url, next, &a, &url, err) != 0)
			return err_wrap(err, "Link");
	}
	return err_set(err, ERR_LIMIT, "the list of tags has more than %d pages", PAGES_MAX);
}

int registry_tags(struct registry *r, struct arena *a, struct strlist *ret_tags, struct err *err)
{
	struct tag_list list = {.arena = a};
	int rc = read_pages(r, &list, err);

	if (rc == 0)
		*ret_tags = (struct strlist){
			arena_memdup(a, list.tags.at, list.tags.n * sizeof(*list.tags.at)),
			list.tags.n};
	vec_done(&list.tags);
	return rc == 0 ? 0 : err_wrap(err, "tags of '%s/%s'", r->host, r->repository);
}
