/* See copy_place.h. */
#include "builder/image/copy_place.h"

#include <fcntl.h>
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

/* The bytes in an unlinked file: an upload that fails starts over from them. */
static int fetch(const struct copy_blob *blob, int *ret_fd, struct err *err)
{
	const char *dir = getenv("TMPDIR");
	AUTO_CLOSE int fd = open(dir != NULL ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct source *source = NULL;
	struct fd_sink sink;
	int status;

	if (fd < 0)
		return err_set(err, ERR_IO, "create a temporary file");
	fd_sink_init(&sink, fd);
	status = store_open(blob->from, blob->desc, &source, err);
	if (status == 0)
		status = stream_copy(source, &sink.sink, NULL, err);
	source_close(source);
	if (status != 0)
		return -1;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

/* First without the bytes: what is there, or can be mounted, is not even read. */
static int to_registry_blob(struct copy_place *p, const struct copy_blob *blob,
                            enum blob_outcome *ret_outcome, struct err *err)
{
	AUTO_CLOSE int fd = -1;
	struct err why = {0};
	bool exists = false;

	if (blob->mount_from == NULL) {
		if (registry_has_blob(registry_of(p), blob->desc, &exists, err) != 0)
			return -1;
		*ret_outcome = BLOB_EXISTED;
		if (exists)
			return 0;
	} else if (registry_put_blob(registry_of(p), blob->desc, -1, blob->mount_from, ret_outcome,
	                             &why) == 0) {
		return 0;
	} else if (why.code != ERR_NOT_FOUND) {
		*err = why;
		return -1;
	}
	if (fetch(blob, &fd, err) != 0)
		return -1;
	return registry_put_blob(registry_of(p), blob->desc, fd, NULL, ret_outcome, err);
}

static int to_registry_document(struct copy_place *p, const struct copy_document *doc,
                                bool *ret_existed, struct err *err)
{
	char digest[DIGEST_TEXT_MAX];

	if (!doc->attached)
		return registry_put_manifest(registry_of(p), digest_text(&doc->desc.digest, digest),
		                             &doc->desc, doc->bytes, ret_existed, err);
	*ret_existed = false;
	return registry_put_referrer(registry_of(p), &doc->subject, &doc->desc, doc->bytes, err);
}

static int to_registry_tag(struct copy_place *p, const char *tag, const struct copy_document *doc,
                           struct err *err)
{
	bool existed;

	return registry_put_manifest(registry_of(p), tag, &doc->desc, doc->bytes, &existed, err);
}

void copy_registry_init(struct copy_registry *p, struct registry *registry)
{
	*p = (struct copy_registry){
		{registry_has, to_registry_blob, to_registry_document, to_registry_tag}, registry};
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
	return doc->attached ? layout_attach(layout_of(p), &doc->subject, NULL, &doc->desc, err)
	                     : 0;
}

static int to_layout_tag(struct copy_place *p, const char *tag, const struct copy_document *doc,
                         struct err *err)
{
	return layout_set_tag(layout_of(p), tag, &doc->desc, err);
}

void copy_layout_init(struct copy_layout *p, struct layout *layout, struct progress *progress)
{
	*p = (struct copy_layout){
		{layout_has_all, to_layout_blob, to_layout_document, to_layout_tag},
		layout,
		progress};
}
