/*
 * Attaching a manifest to an image. Registries that know subjects list it themselves; for others
 * the list under the tag is changed as far as HTTP allows: with If-Match, which not every registry
 * heeds, and by looking whether the change is still there.
 */
#include <string.h>

#include "builder/oci/mediatype.h"
#include "builder/registry/call.h"

enum { TRIES_MAX = 12 };

static bool has_entry(const cJSON *list, const struct descriptor *desc)
{
	char digest[DIGEST_TEXT_MAX];
	const cJSON *item = NULL;

	digest_text(&desc->digest, digest);
	cJSON_ArrayForEach (item, json_get(list, "manifests")) {
		const char *of = json_string(item, "digest");

		if (of != NULL && strcmp(of, digest) == 0)
			return true;
	}
	return false;
}

static cJSON *new_list(void)
{
	cJSON *doc = cJSON_CreateObject();

	json_add_int(doc, "schemaVersion", 2);
	json_add_string(doc, "mediaType", MEDIA_INDEX);
	json_add_array(doc, "manifests");
	return doc;
}

/* What is put together: manifests about one subject, which are in no list yet. */
struct entries {
	const struct digest *subject;
	const struct referrer *const *at;
	size_t n;
};

/* What others wrote stays as it is. */
static int add_entry(struct kept_list *list, const struct descriptor *desc, struct err *err)
{
	if (list->doc == NULL)
		list->doc = new_list();
	cJSON *manifests = (cJSON *)json_get(list->doc, "manifests");

	if (!cJSON_IsArray(manifests))
		return err_set(err, ERR_FORMAT, "the list of referrers has no manifests");
	if (cJSON_GetArraySize(manifests) >= REFERRERS_MAX)
		return err_set(err, ERR_LIMIT, "the image has %d referrers already", REFERRERS_MAX);
	json_push(manifests, descriptor_json(desc));
	return 0;
}

/* *ret_had: all were there. */
static int add_missing(struct kept_list *list, const struct entries *entries, bool *ret_had,
                       struct err *err)
{
	*ret_had = true;
	for (size_t i = 0; i < entries->n; i++) {
		const struct descriptor *desc = entries->at[i]->desc;

		if (list->doc != NULL && has_entry(list->doc, desc))
			continue;
		*ret_had = false;
		if (add_entry(list, desc, err) != 0)
			return -1;
	}
	return 0;
}

static int put_list(struct registry *r, const char *tag, const struct kept_list *list,
                    struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	AUTO(http_response) struct http_response resp = {0};
	struct descriptor desc = {.media_type = MEDIA_INDEX};

	json_print(list->doc, &text);
	if (text.overflow)
		return err_set(err, ERR_LIMIT, "the list of referrers grows too large");
	desc.digest = digest_of(text.ptr, text.len);
	desc.size = (int64_t)text.len;
	return call_put_manifest(r, tag, &desc, text.ptr, list->etag, &resp, err);
}

/* Reads the list; when an entry is missing *ret_stay is false and the list is put with it. */
static int change_list(struct registry *r, const struct entries *entries, bool *ret_stay,
                       struct err *err)
{
	AUTO(kept_list) struct kept_list list = {0};
	char tag[REFERRERS_TAG_MAX];

	referrers_tag(entries->subject, tag);
	if (kept_list_read(r, entries->subject, &list, err) != 0)
		return -1;
	if (add_missing(&list, entries, ret_stay, err) == 0 &&
	    (*ret_stay || put_list(r, tag, &list, err) == 0))
		return 0;
	/* 412: somebody was faster, and the registry heeds If-Match. */
	if (err->http_status == 412) {
		*err = (struct err){0};
		return 0;
	}
	err_wrap(err, "tag '%s'", tag);
	return err_hint(err, "this registry keeps no list of referrers of its own: clients keep it "
	                     "under that tag, which must be movable");
}

static int64_t now_ms(const struct registry *r)
{
	return r->opts.clock->now_ms(r->opts.clock);
}

int64_t registry_settle_ms(int64_t took_ms)
{
	enum { LEAST_MS = 250, MOST_MS = 5000 };
	int64_t wait = 4 * took_ms;

	return wait < LEAST_MS ? LEAST_MS : wait > MOST_MS ? MOST_MS : wait;
}

/* Until they are seen twice in a row after the last change, some time apart. */
static int keep_list(struct registry *r, const struct entries *entries, struct err *err)
{
	const struct err why = {.code = ERR_CONFLICT,
	                        .msg = "others change the list of referrers at the same time"};
	int64_t took = 0;

	for (unsigned tries = 1, seen = 0, changes = 0; tries <= TRIES_MAX; tries++) {
		bool stay = false;
		int64_t began = now_ms(r);

		if (change_list(r, entries, &stay, err) != 0)
			return -1;
		seen = stay ? seen + 1 : 0;
		if (stay && (seen == 2 || changes == 0))
			return 0;
		took = stay ? took : now_ms(r) - began;
		if (stay)
			r->opts.clock->sleep_ms(r->opts.clock, registry_settle_ms(took));
		else if (++changes > 1 && call_wait(r, changes - 1, NULL, &why, err) != 0)
			return -1;
	}
	*err = why;
	return err_hint(err, "run the same command again");
}

/* OCI-Subject: the registry has put the manifest into the subject's list. */
static bool keeps_list(const struct http_response *resp)
{
	return http_header_get(&resp->headers, "OCI-Subject") != NULL;
}

/* Always by PUT, though it may be there: only the answer says who keeps the list. */
static int put_one(struct registry *r, const struct digest *subject, const struct referrer *one,
                   bool *ret_kept, struct err *err)
{
	AUTO(http_response) struct http_response resp = {0};
	char digest[DIGEST_TEXT_MAX];

	if (call_put_manifest(r, digest_text(&one->desc->digest, digest), one->desc, one->bytes,
	                      NULL, &resp, err) != 0)
		return err_wrap(err, "attach %s to %s", one->desc->artifact_type,
		                digest_text(subject, digest));
	*ret_kept = keeps_list(&resp);
	return 0;
}

int registry_put_referrers(struct registry *r, const struct digest *subject,
                           const struct referrer *referrers, size_t n, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	const struct referrer **unlisted = arena_calloc(&a, n, sizeof(const struct referrer *));
	struct entries entries = {.subject = subject, .at = unlisted};
	char digest[DIGEST_TEXT_MAX];

	for (size_t i = 0; i < n; i++) {
		bool kept = false;

		if (put_one(r, subject, &referrers[i], &kept, err) != 0)
			return -1;
		if (!kept)
			unlisted[entries.n++] = &referrers[i];
	}
	if (entries.n == 0 || keep_list(r, &entries, err) == 0)
		return 0;
	return err_wrap(err, "attach %s to %s", unlisted[0]->desc->artifact_type,
	                digest_text(subject, digest));
}

int registry_put_referrer(struct registry *r, const struct digest *subject,
                          const struct descriptor *desc, const void *bytes, struct err *err)
{
	const struct referrer one = {desc, bytes};

	return registry_put_referrers(r, subject, &one, 1, err);
}
