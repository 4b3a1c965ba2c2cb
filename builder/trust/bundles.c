#include "builder/trust/bundles.h"

#include "base/interrupt.h"
#include "builder/oci/artifact.h"
#include "builder/oci/referrers.h"

bool bundle_is_at_fault(const struct err *why)
{
	switch (why->code) {
	case ERR_FORMAT:
	case ERR_DIGEST:
	case ERR_LIMIT:
	case ERR_NOT_FOUND:
	case ERR_UNSUPPORTED:
	case ERR_CHECK:
		return true;
	default:
		return false;
	}
}

static int too_many(const char *what, struct err *err)
{
	err_set(err, ERR_LIMIT, "the image has more than %s", what);
	return err_hint(err, "delete those that are no longer needed");
}

/* *total grows by what was read, of any bundle. */
static int read_one(struct store *s, const struct descriptor *desc, const struct digest *subject,
                    struct arena *a, struct bundle_entry *entry, size_t *total, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(BUNDLE_BYTES_MAX);
	struct err why = {0};
	int result =
		artifact_read(s, desc, subject, MEDIA_BUNDLE, BUNDLE_BYTES_MAX, a, &text, &why);

	*total += text.len;
	if (result == 0)
		result = bundle_parse(text.ptr, text.len, a, &entry->bundle, &why);
	if (result == 0)
		return 0;
	if (!bundle_is_at_fault(&why)) {
		*err = why;
		return -1;
	}
	entry->why_not = arena_strdup(a, why.msg);
	return 0;
}

int bundles_read(struct store *s, const struct digest *subject, struct arena *a,
                 struct bundle_list *ret_list, struct err *err)
{
	struct bundle_list list = {0};
	struct referrers all;
	size_t total = 0;

	if (store_referrers(s, subject, MEDIA_BUNDLE, a, &all, err) != 0)
		return -1;
	if (all.n > BUNDLES_MAX)
		return too_many("1024 bundles", err);
	list.at = arena_calloc(a, all.n, sizeof(*list.at));
	for (; list.n < all.n; list.n++) {
		list.at[list.n].manifest = all.at[list.n].digest;
		if (interrupt_check(err) != 0 ||
		    read_one(s, &all.at[list.n], subject, a, &list.at[list.n], &total, err) != 0)
			return -1;
		if (total > BUNDLES_BYTES_MAX)
			return too_many("256 MiB of bundles", err);
	}
	*ret_list = list;
	return 0;
}

/* ---- read once ---- */

void bundle_cache_done(struct bundle_cache *cache)
{
	vec_done(&cache->read);
}

int bundle_cache_get(struct bundle_cache *cache, const struct digest *subject,
                     struct bundle_list *ret_list, struct err *err)
{
	struct bundle_cached entry = {.subject = *subject};

	for (size_t i = 0; i < cache->read.n; i++)
		if (digest_equal(&cache->read.at[i].subject, subject)) {
			*ret_list = cache->read.at[i].list;
			return 0;
		}
	if (bundles_read(cache->store, subject, cache->arena, &entry.list, err) != 0)
		return -1;
	vec_push(&cache->read, entry);
	*ret_list = entry.list;
	return 0;
}
