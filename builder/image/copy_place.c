/* See copy_place.h. */
#include "builder/image/copy_place.h"

#include <string.h>

/* ---- a registry ---- */

static struct registry *registry_of(struct copy_place *p)
{
	return ((struct copy_registry *)p)->registry;
}

static bool registry_has(struct copy_place *p, const struct copy_document *doc)
{
	AUTO(arena) struct arena a = {0};
	char digest[DIGEST_TEXT_MAX];
	struct descriptor there;
	struct err ignored = {0};

	return registry_head_manifest(registry_of(p), digest_text(&doc->desc.digest, digest), &a,
	                              &there, &ignored) == 0 &&
	       digest_equal(&there.digest, &doc->desc.digest);
}

static int to_registry_blob(struct copy_place *p, const struct copy_blob *blob,
                            enum blob_outcome *ret_outcome, struct err *err)
{
	return registry_copy_blob(registry_of(p), blob->desc, blob->from, blob->mount_from,
	                          ret_outcome, err);
}

static int to_registry_document(struct copy_place *p, const struct copy_document *doc,
                                bool *ret_existed, struct err *err)
{
	char digest[DIGEST_TEXT_MAX];

	return registry_put_manifest(registry_of(p), digest_text(&doc->desc.digest, digest),
	                             &doc->desc, doc->bytes, ret_existed, err);
}

static int to_registry_attached(struct copy_place *p, const struct copy_attached *group,
                                struct err *err)
{
	AUTO(arena) struct arena a = {0};
	struct referrer *referrers = arena_calloc(&a, group->n, sizeof(*referrers));

	for (size_t i = 0; i < group->n; i++)
		referrers[i] =
			(struct referrer){&group->documents[i]->desc, group->documents[i]->bytes};
	return registry_put_referrers(registry_of(p), group->subject, referrers, group->n, err);
}

static int to_registry_tag(struct copy_place *p, const char *tag, const struct copy_document *doc,
                           struct err *err)
{
	bool existed;

	return registry_put_manifest(registry_of(p), tag, &doc->desc, doc->bytes, &existed, err);
}

void copy_registry_init(struct copy_registry *p, struct registry *registry)
{
	*p = (struct copy_registry){.place = {.has = registry_has,
	                                      .put_blob = to_registry_blob,
	                                      .put_document = to_registry_document,
	                                      .put_attached = to_registry_attached,
	                                      .tag_puts = true,
	                                      .tag = to_registry_tag},
	                            .registry = registry};
}

/* ---- a layout ---- */

static struct layout *layout_of(struct copy_place *p)
{
	return ((struct copy_layout *)p)->layout;
}

/* A sparse layout has manifests without their layers: every blob is looked at. */
static bool layout_has_all(struct copy_place *p, const struct copy_document *doc)
{
	(void)p;
	(void)doc;
	return false;
}

static int store_blob(struct layout *layout, const struct copy_blob *blob, struct err *err)
{
	__attribute__((cleanup(layout_blob_done))) struct layout_blob out = {0};
	struct source *source = NULL;
	struct digest digest;
	int64_t size;
	int status;

	if (store_open(blob->from, blob->desc, &source, err) != 0)
		return -1;
	status = layout_blob_begin(layout, &out, err);
	if (status == 0)
		status = stream_copy(source, &out.hashed.sink, &size, err);
	source_close(source);
	if (status == 0)
		status = layout_blob_commit(&out, &blob->desc->digest, &digest, &size, err);
	return status;
}

static int to_layout_blob(struct copy_place *p, const struct copy_blob *blob,
                          enum blob_outcome *ret_outcome, struct err *err)
{
	struct progress *progress = ((struct copy_layout *)p)->progress;
	char label[64], hex[DIGEST_HEX_MAX];
	unsigned task;
	int status;

	*ret_outcome = BLOB_EXISTED;
	if (layout_has(layout_of(p), &blob->desc->digest, blob->desc->size))
		return 0;
	snprintf(label, sizeof(label), "blob %.12s", digest_hex(&blob->desc->digest, hex));
	task = progress_start(progress, label, blob->desc->size);
	status = store_blob(layout_of(p), blob, err);
	progress_advance(progress, task, status == 0 ? blob->desc->size : 0);
	progress_finish(progress, task, status == 0 ? "copied" : "failed");
	*ret_outcome = BLOB_UPLOADED;
	return status;
}

static int to_layout_document(struct copy_place *p, const struct copy_document *doc,
                              bool *ret_existed, struct err *err)
{
	struct descriptor stored = {0};

	*ret_existed = layout_has(layout_of(p), &doc->desc.digest, doc->desc.size);
	if (!*ret_existed && layout_put(layout_of(p), doc->desc.media_type, doc->bytes,
	                                (size_t)doc->desc.size, &stored, err) != 0)
		return -1;
	return 0;
}

static int to_layout_attached(struct copy_place *p, const struct copy_attached *group,
                              struct err *err)
{
	for (size_t i = 0; i < group->n; i++) {
		const struct copy_document *doc = group->documents[i];
		bool existed;

		if (to_layout_document(p, doc, &existed, err) != 0 ||
		    layout_attach(layout_of(p), group->subject, NULL, &doc->desc, err) != 0)
			return -1;
	}
	return 0;
}

static int to_layout_tag(struct copy_place *p, const char *tag, const struct copy_document *doc,
                         struct err *err)
{
	return layout_set_tag(layout_of(p), tag, &doc->desc, err);
}

void copy_layout_init(struct copy_layout *p, struct layout *layout, struct progress *progress)
{
	*p = (struct copy_layout){.place = {.has = layout_has_all,
	                                    .put_blob = to_layout_blob,
	                                    .put_document = to_layout_document,
	                                    .put_attached = to_layout_attached,
	                                    .attach_jobs = 1,
	                                    .tag = to_layout_tag},
	                          .layout = layout,
	                          .progress = progress};
}
