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

/* Reads the list; when the entry is missing *ret_stays is false and the list has it added and is
 * put. */
static int change_list(struct registry *r, const struct digest *subject,
                       const struct descriptor *desc, bool *ret_stays, struct err *err)
{
	AUTO(kept_list) struct kept_list list = {0};
	char tag[REFERRERS_TAG_MAX];

	if (kept_list_read(r, subject, &list, err) != 0)
		return -1;
	*ret_stays = list.doc != NULL && has_entry(list.doc, desc);
	if (*ret_stays)
		return 0;
	referrers_tag(subject, tag);
	if (add_entry(&list, desc, err) == 0 && put_list(r, tag, &list, err) == 0)
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

/* Until it is seen twice in a row after the last change, some time apart. */
static int keep_list(struct registry *r, const struct digest *subject,
                     const struct descriptor *desc, struct err *err)
{
	const struct err why = {.code = ERR_CONFLICT,
	                        .msg = "others change the list of referrers at the same time"};
	int64_t took = 0;

	for (unsigned tries = 1, seen = 0, changes = 0; tries <= TRIES_MAX; tries++) {
		bool stays = false;
		int64_t began = now_ms(r);

		if (change_list(r, subject, desc, &stays, err) != 0)
			return -1;
		seen = stays ? seen + 1 : 0;
		if (stays && (seen == 2 || changes == 0))
			return 0;
		took = stays ? took : now_ms(r) - began;
		if (stays)
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

int registry_put_referrer(struct registry *r, const struct digest *subject,
                          const struct descriptor *desc, const void *bytes, struct err *err)
{
	AUTO(http_response) struct http_response resp = {0};
	char digest[DIGEST_TEXT_MAX];

	/* Always by PUT, though it may be there: only the answer says who keeps the list. */
	if (call_put_manifest(r, digest_text(&desc->digest, digest), desc, bytes, NULL, &resp,
	                      err) == 0 &&
	    (keeps_list(&resp) || keep_list(r, subject, desc, err) == 0))
		return 0;
	return err_wrap(err, "attach %s to %s", desc->artifact_type, digest_text(subject, digest));
}
