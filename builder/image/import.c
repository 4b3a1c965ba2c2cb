#include "builder/image/import.h"

#include "builder/oci/manifest.h"
#include "builder/oci/mediatype.h"

enum { IMPORT_DEPTH_MAX = 4 };

struct import {
	struct store *from;
	struct layout *to;
	struct arena *arena;
};

static int import_blob(const struct import *im, const struct descriptor *desc, struct err *err)
{
	__attribute__((cleanup(layout_blob_done))) struct layout_blob blob = {0};
	struct source *source = NULL;
	struct digest digest;
	int64_t size;

	if (layout_has(im->to, &desc->digest, desc->size))
		return 0;
	if (store_open(im->from, desc, &source, err) != 0)
		return -1;
	int result = layout_blob_begin(im->to, &blob, err);

	if (result == 0)
		result = stream_copy(source, &blob.hashed.sink, &size, err);
	source_close(source);
	if (result == 0)
		result = layout_blob_commit(&blob, &desc->digest, &digest, &size, err);
	return result;
}

static int import_layer(const struct import *im, const struct descriptor *desc, struct err *err)
{
	struct err why = {0};

	if (import_blob(im, desc, &why) == 0 || why.code == ERR_NOT_FOUND)
		return 0;
	*err = why;
	return -1;
}

static int import_manifest(const struct import *im, const struct strbuf *text,
                           const struct descriptor *desc, struct err *err)
{
	struct manifest m;

	if (manifest_parse(text->ptr, text->len, desc->media_type, im->arena, &m, err) != 0 ||
	    import_blob(im, &m.config, err) != 0)
		return -1;
	for (size_t i = 0; i < m.n_layers; i++)
		if (import_layer(im, &m.layers[i], err) != 0)
			return -1;
	return 0;
}

static int import_document(const struct import *im, const struct descriptor *desc, int depth,
                           struct err *err);

static int import_index(const struct import *im, const struct strbuf *text,
                        const struct descriptor *desc, int depth, struct err *err)
{
	struct index index;

	if (index_parse(text->ptr, text->len, desc->media_type, im->arena, &index, err) != 0)
		return -1;
	for (size_t i = 0; i < index.n_manifests; i++)
		if (import_document(im, &index.manifests[i], depth + 1, err) != 0)
			return -1;
	return 0;
}

static int import_document(const struct import *im, const struct descriptor *desc, int depth,
                           struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	char digest[DIGEST_TEXT_MAX];

	if (depth > IMPORT_DEPTH_MAX)
		return err_set(err, ERR_LIMIT, "indexes are nested too deeply");
	/* Its content is there too: a document is stored after what it names. */
	if (layout_has(im->to, &desc->digest, desc->size))
		return 0;
	if (store_read(im->from, desc, MANIFEST_BYTES_MAX, &text, err) != 0 ||
	    (media_is_index(desc->media_type) ? import_index(im, &text, desc, depth, err)
	                                      : import_manifest(im, &text, desc, err)) != 0)
		return err_wrap(err, "manifest %s", digest_text(&desc->digest, digest));
	return import_blob(im, desc, err);
}

int image_import(struct store *from, const struct descriptor *root, struct layout *to,
                 struct arena *a, struct err *err)
{
	const struct import im = {from, to, a};

	return import_document(&im, root, 0, err);
}
