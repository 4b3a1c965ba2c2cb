/*
 * Writing an oci-archive: an image layout in one tar file, the image's documents before what they
 * name, each blob once. (archive_docker.c writes the other kind, archive_tar.c the members of
 * both.)
 */
#include <string.h>

#include "base/mem.h"
#include "builder/oci/archive_internal.h"
#include "builder/oci/layout_internal.h"

enum { ARCHIVE_DEPTH_MAX = 8, ARCHIVE_IMAGE_BLOBS_MAX = 1 << 14 /* found by search */ };

struct blob_list {
	struct arena arena;
	struct store *from;
	VEC(struct descriptor) blobs; /* each digest once, documents before what they name */
};

static int collect_blobs(struct blob_list *list, const struct descriptor *desc, int depth,
                         struct err *err);

static int collect_all(struct blob_list *list, const struct descriptor *descs, size_t n, int depth,
                       struct err *err)
{
	for (size_t i = 0; i < n; i++)
		if (collect_blobs(list, &descs[i], depth, err) != 0)
			return -1;
	return 0;
}

static int collect_document(struct blob_list *list, const struct descriptor *desc, int depth,
                            struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	struct manifest m;
	struct index ix;

	if (store_read(list->from, desc, MANIFEST_BYTES_MAX, &text, err) != 0)
		return -1;
	if (media_is_index(desc->media_type))
		return index_parse(text.ptr, text.len, desc->media_type, &list->arena, &ix, err) !=
		                       0
		               ? -1
		               : collect_all(list, ix.manifests, ix.n_manifests, depth, err);
	if (manifest_parse(text.ptr, text.len, desc->media_type, &list->arena, &m, err) != 0 ||
	    collect_blobs(list, &m.config, depth, err) != 0)
		return -1;
	return collect_all(list, m.layers, m.n_layers, depth, err);
}

static int collect_blobs(struct blob_list *list, const struct descriptor *desc, int depth,
                         struct err *err)
{
	if (depth > ARCHIVE_DEPTH_MAX || list->blobs.n == ARCHIVE_IMAGE_BLOBS_MAX)
		return err_set(err, ERR_LIMIT,
		               "the image has too many or too deeply nested manifests");
	for (size_t i = 0; i < list->blobs.n; i++)
		if (digest_equal(&list->blobs.at[i].digest, &desc->digest))
			return 0;
	vec_push(&list->blobs, *desc);
	if (!media_is_index(desc->media_type) && !media_is_manifest(desc->media_type))
		return 0;
	return collect_document(list, desc, depth + 1, err);
}

static int add_index(struct tarfile *t, const struct archive_opts *opts, struct err *err)
{
	AUTO(arena) struct arena a = {0};
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	struct descriptor root = *opts->root;
	struct index ix = {.media_type = MEDIA_INDEX, .n_manifests = 1 + opts->n_others};

	root.annotations = (struct strmap){0};
	for (size_t i = 0; i < opts->root->annotations.n; i++) {
		const struct strpair *pair = &opts->root->annotations.at[i];

		if (strcmp(pair->key, ANNOTATION_REF_NAME) != 0)
			strmap_set(&root.annotations, &a, pair->key, pair->value);
	}
	if (opts->tag != NULL)
		strmap_set(&root.annotations, &a, ANNOTATION_REF_NAME, opts->tag);
	ix.manifests = arena_calloc(&a, ix.n_manifests, sizeof(*ix.manifests));
	ix.manifests[0] = root;
	for (size_t i = 0; i < opts->n_others; i++)
		ix.manifests[1 + i] = opts->others[i];
	index_print(&ix, &text);
	if (text.overflow)
		return err_set(err, ERR_LIMIT, "its index.json is larger than %d bytes",
		               MANIFEST_BYTES_MAX);
	return tarfile_add_bytes(t, "index.json", text.ptr, text.len, err);
}

static int add_blob(struct tarfile *t, struct store *from, const struct descriptor *desc,
                    struct err *err)
{
	struct source *src = NULL;
	char name[128], hex[DIGEST_HEX_MAX];

	snprintf(name, sizeof(name), "blobs/sha256/%s", digest_hex(&desc->digest, hex));
	if (store_open(from, desc, &src, err) != 0)
		return -1;
	int result = tarfile_add_source(t, name, src, desc->size, err);

	source_close(src);
	return result;
}

static int write_layout(struct tarfile *t, const char *path, const struct archive_opts *opts,
                        const struct blob_list *list, struct err *err)
{
	static const char version[] = LAYOUT_VERSION_JSON;

	if (tarfile_open(t, path, err) != 0 || tarfile_add_folder(t, "blobs/", err) != 0 ||
	    tarfile_add_folder(t, "blobs/sha256/", err) != 0)
		return -1;
	for (size_t i = 0; i < list->blobs.n; i++)
		if (add_blob(t, opts->from, &list->blobs.at[i], err) != 0)
			return -1;
	if (add_index(t, opts, err) != 0 ||
	    tarfile_add_bytes(t, "oci-layout", version, strlen(version), err) != 0)
		return -1;
	return tarfile_commit(t, err);
}

int archive_write_oci(const char *path, const struct archive_opts *opts, struct err *err)
{
	AUTO(tarfile) struct tarfile t = TARFILE_INIT;
	struct blob_list list = {.from = opts->from};
	int result = collect_blobs(&list, opts->root, 0, err);

	for (size_t i = 0; result == 0 && i < opts->n_others; i++)
		result = collect_blobs(&list, &opts->others[i], 0, err);
	if (result == 0)
		result = write_layout(&t, path, opts, &list, err);
	vec_done(&list.blobs);
	arena_done(&list.arena);
	return result == 0 ? 0 : err_wrap(err, "write archive '%s'", path);
}
