/* See ztocs.h. */
#include "builder/layer/pack/ztocs.h"

#include <inttypes.h>

#include "base/text.h"
#include "builder/layer/ztoc/read.h"

#define ZTOC_MEDIA "application/octet-stream" /* as SOCI has it */

enum { KEY_MAX = 256, FACT_MAX = 128 };

static struct digest key_of(const struct digest *layer)
{
	char text[KEY_MAX], digest[DIGEST_TEXT_MAX];
	int n = snprintf(text, sizeof(text), "ztoc 1 " ZTOCS_TOOL " %d %s", ZTOC_SPAN_BYTES,
	                 digest_text(layer, digest));

	return digest_of(text, (size_t)n);
}

static void remember(const struct ztocs *s, const struct digest *layer,
                     const struct descriptor *ztoc)
{
	struct digest key = key_of(layer);
	char fact[FACT_MAX], digest[DIGEST_TEXT_MAX];

	if (s->cache == NULL)
		return;
	cache_store(s->cache, &ztoc->digest, s->layout);
	snprintf(fact, sizeof(fact), "%s %" PRId64, digest_text(&ztoc->digest, digest), ztoc->size);
	cache_put_facts(s->cache, &key, fact);
}

/* "DIGEST SIZE" */
static bool parse_fact(const char *fact, struct descriptor *ret_ztoc)
{
	const char *space = strchr(fact, ' ');
	char digest[DIGEST_TEXT_MAX];
	struct err ignored = {0};

	if (space == NULL || space - fact >= DIGEST_TEXT_MAX)
		return false;
	snprintf(digest, sizeof(digest), "%.*s", (int)(space - fact), fact);
	*ret_ztoc = (struct descriptor){.media_type = ZTOC_MEDIA};
	return digest_parse(digest, &ret_ztoc->digest, &ignored) == 0 &&
	       text_int64(space + 1, strlen(space + 1), &ret_ztoc->size) && ret_ztoc->size > 0;
}

static bool recall(const struct ztocs *s, const struct digest *layer, struct descriptor *ret_ztoc)
{
	AUTO(strbuf) struct strbuf fact = STRBUF_INIT(FACT_MAX);
	struct digest key = key_of(layer);
	struct descriptor ztoc;

	if (s->cache == NULL || !cache_find_facts(s->cache, &key, &fact) ||
	    !parse_fact(strbuf_str(&fact), &ztoc) ||
	    !cache_fetch(s->cache, &ztoc.digest, ztoc.size, s->layout))
		return false;
	*ret_ztoc = ztoc;
	return true;
}

int ztocs_put(const struct ztocs *s, const struct ztoc *z, const struct digest *layer,
              struct descriptor *ret_ztoc, struct err *err)
{
	AUTO(strbuf) struct strbuf bytes = {0};
	struct descriptor ztoc = {0};

	if (ztoc_print(z, ZTOCS_TOOL, &bytes, err) != 0 ||
	    layout_put(s->layout, ZTOC_MEDIA, bytes.ptr, bytes.len, &ztoc, err) != 0)
		return -1;
	remember(s, layer, &ztoc);
	*ret_ztoc = ztoc;
	return 0;
}

static int read_layer(const struct ztocs *s, const struct ztocs_layer *layer,
                      struct descriptor *ret_ztoc, struct err *err)
{
	AUTO(ztoc) struct ztoc z = {0};
	struct source *packed = NULL;
	int rc;

	if (store_open(layer->store, layer->desc, &packed, err) != 0)
		return -1;
	ztoc_init(&z, ZTOC_SPAN_BYTES);
	rc = ztoc_read(packed, &z, err);
	source_close(packed);
	return rc == 0 ? ztocs_put(s, &z, &layer->desc->digest, ret_ztoc, err) : -1;
}

int ztocs_of_layer(const struct ztocs *s, const struct ztocs_layer *layer,
                   struct descriptor *ret_ztoc, struct err *err)
{
	char hex[DIGEST_HEX_MAX], label[64];
	struct err why = {0};
	unsigned task;

	if (recall(s, &layer->desc->digest, ret_ztoc))
		return 0;
	snprintf(label, sizeof(label), "index %.12s", digest_hex(&layer->desc->digest, hex));
	task = progress_start(s->progress, label, layer->desc->size);
	int rc = read_layer(s, layer, ret_ztoc, &why);

	progress_finish(s->progress, task, rc == 0 ? "done" : "failed");
	if (rc == 0)
		return 0;
	if (why.code != ERR_UNSUPPORTED && why.code != ERR_LIMIT) {
		*err = why;
		return err_wrap(err, "SOCI index of layer sha256:%.12s", hex);
	}
	progress_note(s->progress, "layer sha256:%.12s has no SOCI index: %s", hex, why.msg);
	*ret_ztoc = (struct descriptor){0};
	return 0;
}
