/*
 * docker-archive: one platform's image as `docker load` reads it.
 *
 *   manifest.json [{"Config":"HEX.json","RepoTags":["NAME:TAG"],"Layers":["HEX/layer.tar",...]}]
 *   HEX.json              the configuration, named by its digest
 *   HEX/layer.tar         each layer uncompressed, named by its diff ID
 *
 * Layers are unpacked because older Docker reads no zstd. A tar header needs the size first, so
 * each layer is read twice: once to count and compare with its diff ID, once to write.
 */
#include <string.h>

#include "base/crypto/digest_stream.h"
#include "builder/oci/archive_internal.h"
#include "builder/oci/config.h"
#include "builder/oci/decompress.h"
#include "builder/oci/manifest.h"
#include "builder/oci/mediatype.h"
#include "builder/oci/ref.h"

enum { DOCKER_DOCUMENT_MAX = 1 << 20 };

/* ---- the image ---- */

struct docker_image {
	struct arena arena;
	const struct archive_opts *opts;
	struct manifest manifest;
	struct strbuf config_bytes;
	struct image_config config;
};

static int choose_platform(const struct index *ix, const struct platform *want,
                           struct descriptor *ret_desc, struct err *err)
{
	const struct descriptor *found = NULL;
	char text[PLATFORM_TEXT_MAX];

	if (want != NULL) {
		found = index_choose(ix, want);
		if (found == NULL)
			return err_set(err, ERR_NOT_FOUND, "the image has no platform %s",
			               platform_text(want, text));
	}
	for (size_t i = 0; want == NULL && i < ix->n_manifests; i++) {
		if (!descriptor_is_image(&ix->manifests[i]))
			continue;
		if (found != NULL)
			return err_set(
				err, ERR_USAGE,
				"a docker-archive holds one platform, but the image has several");
		found = &ix->manifests[i];
	}
	if (found == NULL)
		return err_set(err, ERR_NOT_FOUND, "the index has no image");
	*ret_desc = *found;
	return 0;
}

static int find_manifest(struct docker_image *image, struct descriptor *ret_desc, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	const struct archive_opts *opts = image->opts;
	struct index ix;

	if (!media_is_index(opts->root->media_type)) {
		*ret_desc = *opts->root;
		return 0;
	}
	if (store_read(opts->from, opts->root, MANIFEST_BYTES_MAX, &text, err) != 0 ||
	    index_parse(text.ptr, text.len, opts->root->media_type, &image->arena, &ix, err) != 0)
		return -1;
	return choose_platform(&ix, opts->platform, ret_desc, err);
}

static int load_image(struct docker_image *image, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	struct store *from = image->opts->from;
	struct manifest *m = &image->manifest;
	struct descriptor desc;

	if (find_manifest(image, &desc, err) != 0 ||
	    store_read(from, &desc, MANIFEST_BYTES_MAX, &text, err) != 0 ||
	    manifest_parse(text.ptr, text.len, desc.media_type, &image->arena, m, err) != 0)
		return -1;
	if (strcmp(media_to_oci(m->config.media_type), MEDIA_CONFIG) != 0)
		return err_set(err, ERR_UNSUPPORTED, "'%.120s' is not a container image",
		               m->config.media_type);
	if (store_read(from, &m->config, CONFIG_BYTES_MAX, &image->config_bytes, err) != 0 ||
	    config_parse(image->config_bytes.ptr, image->config_bytes.len, &image->arena,
	                 &image->config, err) != 0)
		return -1;
	if (image->config.n_diff_ids != m->n_layers)
		return err_set(err, ERR_FORMAT, "%zu layers and %zu diff IDs", m->n_layers,
		               image->config.n_diff_ids);
	return 0;
}

/* ---- writing ---- */

/* Opens a layer's uncompressed bytes; the caller closes. */
static int open_layer(struct store *from, const struct descriptor *layer,
                      struct source **ret_source, struct err *err)
{
	enum compression compression;
	struct source *inner = NULL;

	if (!media_layer_compression(layer->media_type, &compression))
		return err_set(err, ERR_UNSUPPORTED, "Docker cannot load a layer of type '%.120s'",
		               layer->media_type);
	if (store_open(from, layer, &inner, err) != 0)
		return -1;
	*ret_source = source_decompress(inner, compression, NULL);
	return 0;
}

/* Docker wants NAME:TAG; a name alone means latest. */
static int repo_tag(const struct docker_image *image, struct arena *a, const char **ret_tag,
                    struct err *err)
{
	const char *tag = image->opts->tag;
	struct ref ref;

	*ret_tag = NULL;
	if (tag == NULL)
		return 0;
	if (ref_parse(tag, a, &ref, err) != 0)
		return -1;
	if (ref.kind != REF_REGISTRY || ref.has_digest)
		return err_set(err, ERR_USAGE, "'%.200s' is not NAME:TAG", tag);
	*ret_tag = ref.tag != NULL ? tag : arena_printf(a, "%s:latest", tag);
	return 0;
}

static int add_manifest(struct tarfile *t, struct docker_image *image, struct err *err)
{
	AUTO(json) cJSON *doc = cJSON_CreateArray();
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(DOCKER_DOCUMENT_MAX);
	cJSON *entry = cJSON_CreateObject();
	char name[DIGEST_HEX_MAX + 16], hex[DIGEST_HEX_MAX];
	const char *tag;

	json_push(doc, entry);
	if (repo_tag(image, &image->arena, &tag, err) != 0)
		return -1;
	snprintf(name, sizeof(name), "%s.json", digest_hex(&image->manifest.config.digest, hex));
	json_add_string(entry, "Config", name);
	cJSON *tags = json_add_array(entry, "RepoTags");

	if (tag != NULL)
		json_push_string(tags, tag);
	cJSON *layers = json_add_array(entry, "Layers");

	for (size_t i = 0; i < image->config.n_diff_ids; i++) {
		snprintf(name, sizeof(name), "%s/layer.tar",
		         digest_hex(&image->config.diff_ids[i], hex));
		json_push_string(layers, name);
	}
	json_print(doc, &text);
	return tarfile_add_bytes(t, "manifest.json", text.ptr, text.len, err);
}

static int add_config(struct tarfile *t, const struct docker_image *image, struct err *err)
{
	char name[DIGEST_HEX_MAX + 16], hex[DIGEST_HEX_MAX];

	snprintf(name, sizeof(name), "%s.json", digest_hex(&image->manifest.config.digest, hex));
	return tarfile_add_bytes(t, name, image->config_bytes.ptr, image->config_bytes.len, err);
}

/* The first reading: the size, and whether the content is what the configuration says. */
static int measure_layer(struct docker_image *image, size_t i, int64_t *ret_size, struct err *err)
{
	const struct digest *want = &image->config.diff_ids[i];
	AUTO(digest_sink) struct digest_sink sink = {0};
	struct source *src = NULL;
	char a[DIGEST_TEXT_MAX], b[DIGEST_TEXT_MAX];

	digest_sink_init(&sink, NULL);
	if (open_layer(image->opts->from, &image->manifest.layers[i], &src, err) != 0)
		return -1;
	int result = stream_copy(src, &sink.sink, ret_size, err);

	source_close(src);
	if (result != 0)
		return -1;
	struct digest got = digest_sink_final(&sink);

	if (!digest_equal(&got, want))
		return err_set(err, ERR_DIGEST, "layer %zu unpacks to %s, its diff ID is %s", i,
		               digest_text(&got, a), digest_text(want, b));
	return 0;
}

static int add_layer(struct tarfile *t, struct docker_image *image, size_t i, struct err *err)
{
	struct source *src = NULL;
	char name[DIGEST_HEX_MAX + 16], hex[DIGEST_HEX_MAX];
	int64_t size;

	/* Two layers with one content (empty ones, mostly) are one member. */
	for (size_t j = 0; j < i; j++)
		if (digest_equal(&image->config.diff_ids[j], &image->config.diff_ids[i]))
			return 0;
	digest_hex(&image->config.diff_ids[i], hex);
	snprintf(name, sizeof(name), "%s/", hex);
	if (measure_layer(image, i, &size, err) != 0 || tarfile_add_folder(t, name, err) != 0 ||
	    open_layer(image->opts->from, &image->manifest.layers[i], &src, err) != 0)
		return -1;
	snprintf(name, sizeof(name), "%s/layer.tar", hex);
	int result = tarfile_add_source(t, name, src, size, err);

	source_close(src);
	return result;
}

static int write_image(struct tarfile *t, const char *path, struct docker_image *image,
                       struct err *err)
{
	if (load_image(image, err) != 0 || tarfile_open(t, path, err) != 0 ||
	    add_manifest(t, image, err) != 0 || add_config(t, image, err) != 0)
		return -1;
	for (size_t i = 0; i < image->manifest.n_layers; i++)
		if (add_layer(t, image, i, err) != 0)
			return err_wrap(err, "layer %zu", i);
	return tarfile_commit(t, err);
}

int archive_write_docker(const char *path, const struct archive_opts *opts, struct err *err)
{
	AUTO(tarfile) struct tarfile t = TARFILE_INIT;
	struct docker_image image = {.opts = opts, .config_bytes = STRBUF_INIT(CONFIG_BYTES_MAX)};
	int result = write_image(&t, path, &image, err);

	strbuf_done(&image.config_bytes);
	arena_done(&image.arena);
	return result == 0 ? 0 : err_wrap(err, "write archive '%s'", path);
}
