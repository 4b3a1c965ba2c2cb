/*
 * Writing images as one tar file, through libarchive: names sorted by the order of writing, no times, no
 * owners, so that the same image gives the same file.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>



#include "base/fs.h"
#include "base/mem.h"
#include "builder/oci/archive.h"
#include "builder/oci/inflate.h"
#include "builder/oci/manifest.h"
#include "builder/oci/mediatype.h"

enum { ARCHIVE_BLOCK = 256 << 10, ARCHIVE_DEPTH_MAX = 4 };

struct writer {
	struct archive *archive;
	const struct archive_opts *opts;
	struct arena arena;
	VEC(struct digest) written;
};

static int archive_failure(const struct writer *w, struct err *err)
{
	const char *text = archive_error_string(w->archive);

	return err_set(err, ERR_FORMAT, "write the archive: %s", text != NULL ? text : "unknown");
}

static int begin(struct writer *w, const char *name, int64_t size, struct err *err)
{
	struct archive_entry *entry = archive_entry_new();
	int status;

	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0644);
	archive_entry_set_size(entry, size);
	archive_entry_set_mtime(entry, 0, 0);
	status = archive_write_header(w->archive, entry);
	archive_entry_free(entry);
	return status == ARCHIVE_OK ? 0 : archive_failure(w, err);
}

static int add(struct writer *w, const void *bytes, size_t len, struct err *err)
{
	while (len > 0) {
		la_ssize_t n = archive_write_data(w->archive, bytes, len);

		if (n <= 0)
			return archive_failure(w, err);
		bytes = (const char *)bytes + n;
		len -= (size_t)n;
	}
	return 0;
}

static int add_source(struct writer *w, struct source *source, struct err *err)
{
	AUTO_FREE char *buf = mem_realloc(NULL, ARCHIVE_BLOCK, 1);

	for (;;) {
		size_t n;

		if (source_read(source, buf, ARCHIVE_BLOCK, &n, err) != 0)
			return -1;
		if (n == 0)
			return 0;
		if (add(w, buf, n, err) != 0)
			return -1;
	}
}

static int add_text(struct writer *w, const char *name, const struct strbuf *text, struct err *err)
{
	return begin(w, name, (int64_t)text->len, err) == 0 ? add(w, text->ptr, text->len, err) : -1;
}

/* ---- oci-archive ---- */

static bool seen(struct writer *w, const struct digest *d)
{
	for (size_t i = 0; i < w->written.n; i++)
		if (digest_equal(&w->written.at[i], d))
			return true;
	vec_push(&w->written, *d);
	return false;
}

static int add_blob(struct writer *w, const struct descriptor *desc, struct err *err)
{
	struct source *source = NULL;
	char name[16 + DIGEST_HEX_MAX], hex[DIGEST_HEX_MAX];
	int status;

	if (seen(w, &desc->digest))
		return 0;
	snprintf(name, sizeof(name), "blobs/sha256/%s", digest_hex(&desc->digest, hex));
	if (store_open(w->opts->from, desc, &source, err) != 0)
		return -1;
	status = begin(w, name, desc->size, err);
	if (status == 0)
		status = add_source(w, source, err);
	source_close(source);
	return status;
}

static int add_image(struct writer *w, const struct descriptor *desc, int depth, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	struct index index;
	struct manifest m;

	if (depth > ARCHIVE_DEPTH_MAX)
		return err_set(err, ERR_LIMIT, "indexes are nested too deeply");
	if (store_read(w->opts->from, desc, MANIFEST_BYTES_MAX, &text, err) != 0)
		return -1;
	if (media_is_index(desc->media_type)) {
		if (index_parse(text.ptr, text.len, desc->media_type, &w->arena, &index, err) != 0)
			return -1;
		for (size_t i = 0; i < index.n_manifests; i++)
			if (add_image(w, &index.manifests[i], depth + 1, err) != 0)
				return -1;
		return add_blob(w, desc, err);
	}
	if (manifest_parse(text.ptr, text.len, desc->media_type, &w->arena, &m, err) != 0 ||
	    add_blob(w, &m.config, err) != 0)
		return -1;
	for (size_t i = 0; i < m.n_layers; i++)
		if (add_blob(w, &m.layers[i], err) != 0)
			return -1;
	return add_blob(w, desc, err);
}

static int write_oci(struct writer *w, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	struct descriptor root = *w->opts->root;
	struct index index = {.media_type = MEDIA_INDEX, .manifests = &root, .n_manifests = 1};

	strbuf_adds(&text, "{\"imageLayoutVersion\":\"1.0.0\"}");
	if (add_text(w, "oci-layout", &text, err) != 0 || add_image(w, w->opts->root, 0, err) != 0)
		return -1;
	if (w->opts->tag != NULL)
		strmap_set(&root.annotations, &w->arena, ANNOTATION_REF_NAME, w->opts->tag);
	strbuf_reset(&text);
	index_print(&index, &text);
	return add_text(w, "index.json", &text, err);
}

/* ---- docker-archive ---- */

static int choose_manifest(struct writer *w, struct descriptor *ret_desc, struct strbuf *text, struct err *err)
{
	struct index index;
	const struct descriptor *chosen;

	*ret_desc = *w->opts->root;
	if (store_read(w->opts->from, ret_desc, MANIFEST_BYTES_MAX, text, err) != 0)
		return -1;
	if (!media_is_index(ret_desc->media_type))
		return 0;
	if (index_parse(text->ptr, text->len, ret_desc->media_type, &w->arena, &index, err) != 0)
		return -1;
	if (w->opts->platform == NULL && index.n_manifests != 1)
		return err_set(err, ERR_USAGE, "a docker archive holds one platform, the image has %zu",
		               index.n_manifests);
	chosen = w->opts->platform != NULL ? index_choose(&index, w->opts->platform) : &index.manifests[0];
	if (chosen == NULL)
		return err_set(err, ERR_NOT_FOUND, "the image is not built for that platform");
	*ret_desc = *chosen;
	return store_read(w->opts->from, ret_desc, MANIFEST_BYTES_MAX, text, err);
}

/*
 * Layers as plain tars, named by diff ID: every docker reads those, while zstd needs a recent one. The size
 * must stand in the header, so a layer is unpacked into an unlinked file first.
 */
static int add_plain_layer(struct writer *w, const struct descriptor *layer, const char *name, struct err *err)
{
	AUTO_CLOSE int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	struct source *source = NULL, *again = NULL;
	struct fd_sink sink;
	enum compression compression;
	int64_t size;
	int status;

	if (fd < 0)
		return err_set(err, ERR_IO, "create a temporary file");
	if (!media_layer_compression(layer->media_type, &compression))
		return err_set(err, ERR_UNSUPPORTED, "'%.100s' is not a layer", layer->media_type);
	if (store_open(w->opts->from, layer, &source, err) != 0)
		return -1;
	source = inflate_source(source, compression);
	fd_sink_init(&sink, fd);
	status = stream_copy(source, &sink.sink, &size, err);
	source_close(source);
	if (status != 0)
		return -1;
	if (lseek(fd, 0, SEEK_SET) != 0)
		return err_set(err, ERR_IO, "seek in a temporary file");
	again = source_from_fd(fd);
	fd = -1;
	status = begin(w, name, size, err);
	if (status == 0)
		status = add_source(w, again, err);
	source_close(again);
	return status;
}

static int add_layers(struct writer *w, const struct manifest *m, cJSON *names, struct err *err)
{
	for (size_t i = 0; i < m->n_layers; i++) {
		char name[DIGEST_HEX_MAX + 16], hex[DIGEST_HEX_MAX];

		snprintf(name, sizeof(name), "%s/layer.tar", digest_hex(&m->layers[i].digest, hex));
		json_push_string(names, name);
		if (!seen(w, &m->layers[i].digest) && add_plain_layer(w, &m->layers[i], name, err) != 0)
			return -1;
	}
	return 0;
}

static int write_docker(struct writer *w, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	AUTO(json) cJSON *doc = cJSON_CreateArray();
	cJSON *image = cJSON_CreateObject();
	struct descriptor desc;
	struct manifest m;
	char name[DIGEST_HEX_MAX + 8], hex[DIGEST_HEX_MAX];

	json_push(doc, image);
	if (choose_manifest(w, &desc, &text, err) != 0 ||
	    manifest_parse(text.ptr, text.len, desc.media_type, &w->arena, &m, err) != 0 ||
	    store_read(w->opts->from, &m.config, MANIFEST_BYTES_MAX, &text, err) != 0)
		return -1;
	snprintf(name, sizeof(name), "%s.json", digest_hex(&m.config.digest, hex));
	json_add_string(image, "Config", name);
	cJSON *tags = json_add_array(image, "RepoTags"), *layers = json_add_array(image, "Layers");

	if (w->opts->tag != NULL)
		json_push_string(tags, w->opts->tag);
	if (add_text(w, name, &text, err) != 0 || add_layers(w, &m, layers, err) != 0)
		return -1;
	strbuf_reset(&text);
	json_print(doc, &text);
	return add_text(w, "manifest.json", &text, err);
}

/* ---- both ---- */

static int write_file(const char *path, const struct archive_opts *opts,
                      int (*write)(struct writer *w, struct err *err), struct err *err)
{
	AUTO(fs_temp) struct fs_temp temp = FS_TEMP_INIT;
	struct writer w = {.opts = opts, .archive = archive_write_new()};
	char dir[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int status;

	snprintf(dir, sizeof(dir), "%.*s", slash != NULL ? (int)(slash - path) + (slash == path) : 1,
	         slash != NULL ? path : ".");
	archive_write_set_format_pax_restricted(w.archive);
	archive_write_set_bytes_in_last_block(w.archive, 1);
	status = fs_temp_open(&temp, dir, err);
	if (status == 0 && archive_write_open_fd(w.archive, temp.fd) != ARCHIVE_OK)
		status = archive_failure(&w, err);
	if (status == 0)
		status = write(&w, err);
	if (status == 0 && archive_write_close(w.archive) != ARCHIVE_OK)
		status = archive_failure(&w, err);
	archive_write_free(w.archive);
	vec_done(&w.written);
	arena_done(&w.arena);
	if (status == 0)
		status = fs_temp_commit(&temp, path, 0644, err);
	return status == 0 ? 0 : err_wrap(err, "archive '%s'", path);
}

int archive_write_oci(const char *path, const struct archive_opts *opts, struct err *err)
{
	return write_file(path, opts, write_oci, err);
}

int archive_write_docker(const char *path, const struct archive_opts *opts, struct err *err)
{
	return write_file(path, opts, write_docker, err);
}
