/* See copy_plan.h. */
#include "builder/image/copy_plan.h"

#include <string.h>

#include "builder/oci/attached.h"
#include "builder/oci/mediatype.h"
#include "builder/oci/referrers.h"

enum { DEPTH_MAX = 4, DOCUMENTS_MAX = 16384, DOCUMENT_BYTES_MAX = 256 << 20 };

void copy_plan_done(struct copy_plan *p)
{
	vec_done(&p->documents);
	arena_done(&p->arena);
}

static bool is_known(const struct copy_plan *p, const struct digest *d)
{
	for (size_t i = 0; i < p->documents.n; i++)
		if (digest_equal(&p->documents.at[i].desc.digest, d))
			return true;
	return false;
}

static int read_document(struct copy_plan *p, const struct descriptor *desc,
                         struct copy_document *doc, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);

	if (store_read(p->store, desc, MANIFEST_BYTES_MAX, &text, err) != 0)
		return -1;
	p->bytes += text.len;
	if (p->documents.n >= DOCUMENTS_MAX || p->bytes > DOCUMENT_BYTES_MAX)
		return err_set(err, ERR_LIMIT,
		               "the image has more than %d manifests, or %d MiB of them",
		               DOCUMENTS_MAX, DOCUMENT_BYTES_MAX >> 20);
	doc->desc = *desc;
	doc->bytes = arena_memdup(&p->arena, strbuf_str(&text), text.len);
	return 0;
}

static int list_blobs(struct copy_plan *p, struct copy_document *doc, struct err *err)
{
	struct manifest m;
	struct descriptor *blobs;

	if (manifest_parse(doc->bytes, (size_t)doc->desc.size, doc->desc.media_type, &p->arena, &m,
	                   err) != 0)
		return -1;
	blobs = arena_calloc(&p->arena, m.n_layers + 1, sizeof(*blobs));
	blobs[0] = m.config;
	for (size_t i = 0; i < m.n_layers; i++)
		blobs[i + 1] = m.layers[i];
	doc->blobs = blobs;
	doc->n_blobs = m.n_layers + 1;
	return 0;
}

/* What a document is about, and by which tag it is found; both may be none. */
struct place_of {
	const struct digest *subject;
	const char *tag;
};

static int add_document(struct copy_plan *p, const struct descriptor *desc, struct place_of place,
                        int depth, struct err *err);

static int add_children(struct copy_plan *p, const struct copy_document *doc, int depth,
                        struct err *err)
{
	struct index index;

	if (index_parse(doc->bytes, (size_t)doc->desc.size, doc->desc.media_type, &p->arena, &index,
	                err) != 0)
		return -1;
	for (size_t i = 0; i < index.n_manifests; i++)
		if (add_document(p, &index.manifests[i], (struct place_of){0}, depth + 1, err) != 0)
			return -1;
	return 0;
}

static int add_referrers(struct copy_plan *p, const struct digest *subject, int depth,
                         struct err *err)
{
	struct referrers list;

	if (store_referrers(p->store, subject, NULL, &p->arena, &list, err) != 0)
		return -1;
	for (size_t i = 0; i < list.n; i++)
		if (add_document(p, &list.at[i], (struct place_of){.subject = subject}, depth + 1,
		                 err) != 0)
			return err_wrap(err, "referrer");
	return 0;
}

/* What cosign keeps beside an image under tags made of its digest. */
static int add_tagged(struct copy_plan *p, const struct digest *subject, int depth, struct err *err)
{
	char hex[DIGEST_HEX_MAX];

	for (size_t i = 0; i < ATTACHED_ENDINGS; i++) {
		const char *tag = arena_printf(&p->arena, "sha256-%s%s", digest_hex(subject, hex),
		                               attached_endings[i]);
		struct descriptor desc;
		struct err why = {0};

		if (store_resolve(p->store, tag, &p->arena, &desc, &why) != 0) {
			if (why.code == ERR_NOT_FOUND)
				continue;
			*err = why;
			return -1;
		}
		if (add_document(p, &desc, (struct place_of){.tag = tag}, depth + 1, err) != 0)
			return err_wrap(err, "tag '%s'", tag);
	}
	return 0;
}

static int add_document(struct copy_plan *p, const struct descriptor *desc, struct place_of place,
                        int depth, struct err *err)
{
	struct copy_document doc = {.tag = place.tag};
	char digest[DIGEST_TEXT_MAX];

	if (depth > DEPTH_MAX)
		return err_set(err, ERR_LIMIT, "its documents are nested too deeply");
	if (is_known(p, &desc->digest))
		return 0;
	if (read_document(p, desc, &doc, err) != 0 ||
	    (media_is_index(desc->media_type) ? add_children(p, &doc, depth, err)
	                                      : list_blobs(p, &doc, err)) != 0)
		return err_wrap(err, "manifest %s", digest_text(&desc->digest, digest));
	if (place.subject != NULL) {
		doc.attached = true;
		doc.subject = *place.subject;
	}
	p->n_attached += place.subject != NULL || place.tag != NULL;
	vec_push(&p->documents, doc);
	return add_referrers(p, &doc.desc.digest, depth, err) != 0 ||
	                       (place.tag == NULL &&
	                        add_tagged(p, &doc.desc.digest, depth, err) != 0)
	               ? -1
	               : 0;
}

int copy_plan_make(struct copy_plan *p, struct store *store, const struct descriptor *root,
                   struct err *err)
{
	p->store = store;
	return add_document(p, root, (struct place_of){0}, 0, err);
}
