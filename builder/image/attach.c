#include "builder/image/attach.h"

#include <string.h>
#include <sys/mman.h>

#include "base/fs.h"
#include "base/mem.h"
#include "builder/oci/mediatype.h"
#include "builder/oci/referrers.h"

/* ---- one document ---- */

/* The registry client reads blobs from a file: one in memory. */
static int put_bytes(struct registry *r, const struct descriptor *desc, const void *bytes,
                     struct err *err)
{
	AUTO_CLOSE int fd = memfd_create("slipway-blob", MFD_CLOEXEC);
	enum blob_outcome outcome;

	if (fd < 0)
		return err_set(err, ERR_IO, "create a file in memory");
	return fs_write_all(fd, bytes, (size_t)desc->size, err) != 0 ||
	                       registry_put_blob(r, desc, fd, NULL, &outcome, err) != 0
	               ? -1
	               : 0;
}

int attach_blob(const struct attach_place *place, const struct descriptor *desc, const void *bytes,
                struct err *err)
{
	struct descriptor ignored;

	return place->registry != NULL ? put_bytes(place->registry, desc, bytes, err)
	                               : layout_put(place->layout, desc->media_type, bytes,
	                                            (size_t)desc->size, &ignored, err);
}

int attach_artifact(const struct attach_place *place, const struct artifact *artifact,
                    struct descriptor *ret_desc, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	AUTO(artifact_form) struct artifact_form form = {0};
	const struct digest *subject = &artifact->subject->digest;

	artifact_form(artifact, &a, &form);
	if (attach_blob(place, &form.config, EMPTY_BYTES, err) != 0 ||
	    attach_blob(place, &form.layer, artifact->bytes, err) != 0)
		return err_wrap(err, "attach %s", artifact->type);
	if (place->registry != NULL) {
		if (registry_put_referrer(place->registry, subject, &form.manifest, form.text.ptr,
		                          err) != 0)
			return -1;
	} else if (attach_blob(place, &form.manifest, form.text.ptr, err) != 0 ||
	           layout_attach(place->layout, subject, &form.manifest, err) != 0) {
		return err_wrap(err, "attach %s", artifact->type);
	}
	if (ret_desc != NULL)
		*ret_desc = form.manifest;
	return 0;
}

int attach_tagged(const struct attach_place *place, const char *tag, const struct descriptor *desc,
                  const void *bytes, struct err *err)
{
	bool existed;

	if (place->registry != NULL)
		return registry_put_manifest(place->registry, tag, desc, bytes, &existed, err);
	return attach_blob(place, desc, bytes, err) != 0 ||
	                       layout_set_tag(place->layout, tag, desc, err) != 0
	               ? -1
	               : 0;
}

/* ---- all that is attached to an image ---- */

/* Referrers may have referrers: a signed SBOM. Nothing of use is nested deeper. */
enum { COPY_DEPTH_MAX = 4 };

struct attach_copy {
	struct layout *from;
	struct store *store;
	struct registry *to;
	struct arena arena;
	size_t n;
};

static int copy_blob(struct attach_copy *c, const struct descriptor *desc, struct err *err)
{
	AUTO_CLOSE int fd = -1;
	enum blob_outcome outcome;

	return layout_open_fd(c->from, &desc->digest, &fd, err) != 0 ||
	                       registry_put_blob(c->to, desc, fd, NULL, &outcome, err) != 0
	               ? -1
	               : 0;
}

static int copy_blobs(struct attach_copy *c, const struct manifest *m, struct err *err)
{
	if (copy_blob(c, &m->config, err) != 0)
		return -1;
	for (size_t i = 0; i < m->n_layers; i++)
		if (copy_blob(c, &m->layers[i], err) != 0)
			return -1;
	return 0;
}

static int copy_all(struct attach_copy *c, const struct descriptor *subject, int depth,
                    struct err *err);

static int copy_referrer(struct attach_copy *c, const struct descriptor *subject,
                         const struct descriptor *desc, int depth, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	struct descriptor entry = *desc;
	struct manifest m;

	if (artifact_open(c->store, desc, &c->arena, &m, err) != 0 ||
	    store_read(c->store, desc, MANIFEST_BYTES_MAX, &text, err) != 0 ||
	    copy_blobs(c, &m, err) != 0)
		return -1;
	/* What the layout notes on its entries is the layout's affair. */
	entry.annotations = m.annotations;
	if (registry_put_referrer(c->to, &subject->digest, &entry, text.ptr, err) != 0)
		return -1;
	c->n++;
	return copy_all(c, desc, depth + 1, err);
}

static int copy_all(struct attach_copy *c, const struct descriptor *subject, int depth,
                    struct err *err)
{
	struct referrers all = {0};

	if (depth > COPY_DEPTH_MAX)
		return err_set(err, ERR_LIMIT, "referrers of referrers are nested too deeply");
	if (store_referrers(c->store, &subject->digest, NULL, &c->arena, &all, err) != 0)
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (media_is_manifest(all.at[i].media_type) &&
		    copy_referrer(c, subject, &all.at[i], depth, err) != 0)
			return -1;
	return 0;
}

static int copy_of_root(struct attach_copy *c, const struct descriptor *root, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	struct index index = {0};

	if (media_is_index(root->media_type) &&
	    (store_read(c->store, root, MANIFEST_BYTES_MAX, &text, err) != 0 ||
	     index_parse(text.ptr, text.len, root->media_type, &c->arena, &index, err) != 0))
		return -1;
	for (size_t i = 0; i < index.n_manifests; i++)
		if (copy_all(c, &index.manifests[i], 0, err) != 0)
			return -1;
	return copy_all(c, root, 0, err);
}

int attach_copy(struct layout *from, const struct descriptor *root, struct registry *to,
                size_t *ret_n, struct err *err)
{
	struct attach_copy c = {.from = from, .store = layout_store(from), .to = to};
	int result = copy_of_root(&c, root, err);

	store_close(c.store);
	arena_done(&c.arena);
	if (result != 0)
		return err_wrap(err, "send what is attached to the image");
	if (ret_n != NULL)
		*ret_n = c.n;
	return 0;
}
