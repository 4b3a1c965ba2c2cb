/*
 * Sections: one image's layers, configuration and manifest; the index.
 */
#include "builder/image/builder.h"

#include <string.h>
#include <time.h>

#include "builder/image/soci.h"
#include "builder/oci/config.h"

static void add_blobs(struct built_image *image, const struct layer_slot *s)
{
	for (size_t i = 0; i < s->n_blobs; i++)
		image->layers[image->n_layers++] = s->blobs[i];
}

/* The layers of one platform, bottom first: of each spec layer the shared part, then its own. */
static void collect_layers(const struct image_builder *b, size_t column, struct built_image *image)
{
	size_t n = 0;

	for (size_t layer = 0; layer < b->n_layers; layer++)
		n += b->shared[layer].n_blobs + builder_slot(b, layer, column)->n_blobs;
	image->layers = arena_calloc(b->arena, n, sizeof(*image->layers));
	for (size_t layer = 0; layer < b->n_layers; layer++) {
		add_blobs(image, &b->shared[layer]);
		add_blobs(image, builder_slot(b, layer, column));
	}
}

const char *builder_epoch_text(const struct image_builder *b)
{
	time_t seconds = (time_t)b->opts->epoch;
	struct tm tm;
	char text[32];

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return arena_strdup(b->arena, text);
}

static struct config_settings config_settings(const struct image_builder *b,
                                              const struct plan_image *plan)
{
	const struct spec_image *spec = &b->opts->plan->spec->image;

	return (struct config_settings){
		.platform = plan->platform,
		.created = builder_epoch_text(b),
		.author = plan->author,
		.has_entrypoint = spec->has_entrypoint,
		.has_cmd = spec->has_cmd,
		.entrypoint = plan->entrypoint,
		.cmd = plan->cmd,
		.env = plan->env,
		.user = plan->user,
		.workdir = plan->workdir,
		.stop_signal = plan->stop_signal,
		.ports = plan->ports,
		.volumes = plan->volumes,
		.healthcheck = plan->healthcheck,
		.labels = plan->labels,
	};
}

static int put_config(const struct image_builder *b, const struct plan_image *plan,
                      const struct base_image *base, const struct built_image *image,
                      struct descriptor *ret_desc, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(CONFIG_BYTES_MAX);
	const struct config_settings settings = config_settings(b, plan);
	struct config_layer *layers = arena_calloc(b->arena, image->n_layers, sizeof(*layers));

	for (size_t i = 0; i < image->n_layers; i++) {
		layers[i].diff_id = image->layers[i].result.diff_id;
		layers[i].history.created = settings.created;
		layers[i].history.created_by =
			arena_printf(b->arena, "slipway build: layer %s", image->layers[i].name);
	}
	if (config_make(base->config, &settings, layers, image->n_layers, &text, err) != 0)
		return err_wrap(err, "image configuration");
	return layout_put(b->opts->layout, MEDIA_CONFIG, text.ptr, text.len, ret_desc, err);
}

static struct descriptor layer_descriptor(const struct image_builder *b,
                                          const struct built_layer *layer)
{
	const struct spec_image *spec = &b->opts->plan->spec->image;
	struct descriptor d = {.media_type = layer->result.media_type,
	                       .digest = layer->result.digest,
	                       .size = layer->result.size};

	strmap_set(&d.annotations, b->arena, ANNOTATION_FORMAT,
	           layer_format_text(spec->compression, (int)spec->level, b->arena));
	strmap_set(&d.annotations, b->arena, ANNOTATION_LAYER_NAME, layer->name);
	strmap_sort(&d.annotations);
	return d;
}

/* Base layers as the base names them (in OCI's words), then ours. */
static void list_layers(const struct image_builder *b, const struct base_image *base,
                        struct built_image *image, struct manifest *m)
{
	size_t n_base = base->scratch ? 0 : base->parsed.n_layers;

	m->layers = arena_calloc(b->arena, n_base + image->n_layers, sizeof(*m->layers));
	for (size_t i = 0; i < n_base; i++) {
		m->layers[i] = base->parsed.layers[i];
		m->layers[i].media_type = media_to_oci(m->layers[i].media_type);
	}
	image->base_layers = m->layers;
	image->n_base_layers = n_base;
	for (size_t i = 0; i < image->n_layers; i++)
		m->layers[n_base + i] = layer_descriptor(b, &image->layers[i]);
	m->n_layers = n_base + image->n_layers;
	for (size_t i = 0; i < m->n_layers; i++)
		image->size += m->layers[i].size;
}

/* Where the manifest says which SOCI index is its. */
static int put_soci(const struct image_builder *b, size_t column, struct built_image *image,
                    struct manifest *m, struct err *err)
{
	char digest[DIGEST_TEXT_MAX];

	if (!b->opts->plan->spec->image.soci)
		return 0;
	if (builder_put_soci(b, column, image, m, &image->soci, err) != 0)
		return -1;
	if (image->soci.size > 0)
		strmap_set(&m->annotations, b->arena, ANNOTATION_SOCI_INDEX,
		           digest_text(&image->soci.digest, digest));
	return 0;
}

static void annotate_manifest(const struct image_builder *b, const struct plan_image *plan,
                              const struct base_image *base, struct strmap *annotations)
{
	char digest[DIGEST_TEXT_MAX];

	for (size_t i = 0; i < plan->annotations.n; i++)
		strmap_set(annotations, b->arena, plan->annotations.at[i].key,
		           plan->annotations.at[i].value);
	if (strmap_get(annotations, ANNOTATION_CREATED) == NULL)
		strmap_set(annotations, b->arena, ANNOTATION_CREATED, builder_epoch_text(b));
	if (!base->scratch) {
		strmap_set(annotations, b->arena, ANNOTATION_BASE_NAME, base->name);
		strmap_set(annotations, b->arena, ANNOTATION_BASE_DIGEST,
		           digest_text(&base->manifest.digest, digest));
	}
	strmap_sort(annotations);
}

static int put_manifest(const struct image_builder *b, size_t column, struct built_image *image,
                        struct err *err)
{
	const struct plan_image *plan = &b->opts->plan->images[column];
	const struct base_image *base = &b->bases[column].image;
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	struct manifest m = {.media_type = MEDIA_MANIFEST};

	list_layers(b, base, image, &m);
	if (m.n_layers == 0)
		return err_set(err, ERR_SPEC,
		               "the image has no layers: registries reject such an image");
	if (m.n_layers > IMAGE_LAYERS_MAX) {
		err_set(err, ERR_SPEC, "%zu layers; container runtimes mount at most %d",
		        m.n_layers, IMAGE_LAYERS_MAX);
		return err_hint(err, "raise `split:` or join layers");
	}
	if (put_soci(b, column, image, &m, err) != 0)
		return -1;
	annotate_manifest(b, plan, base, &m.annotations);
	if (put_config(b, plan, base, image, &image->config, err) != 0)
		return -1;
	m.config = image->config;
	manifest_print(&m, &text);
	if (text.overflow)
		return err_set(err, ERR_LIMIT, "the manifest is larger than %d bytes",
		               MANIFEST_BYTES_MAX);
	return layout_put(b->opts->layout, MEDIA_MANIFEST, text.ptr, text.len, &image->manifest,
	                  err);
}

int builder_put_image(const struct image_builder *b, size_t column, struct built_image *image,
                      struct err *err)
{
	const struct plan_image *plan = &b->opts->plan->images[column];
	char platform[PLATFORM_TEXT_MAX];

	image->platform = plan->platform;
	collect_layers(b, column, image);
	if (put_manifest(b, column, image, err) != 0)
		return err_wrap(err, "image for %s", platform_text(&plan->platform, platform));
	image->manifest.platform = plan->platform;
	return 0;
}

/* ---- the index ---- */

/* With the variables of the spec's first platform, whichever are built here: the parts of an image
 * then agree on its index. */
static int annotate_index(const struct image_builder *b, struct strmap *annotations,
                          struct err *err)
{
	const struct base_image scratch = {.scratch = true};
	struct plan *whole;

	if (plan_make(b->opts->plan->spec, NULL, 0, b->arena, &whole, b->diags, err) != 0)
		return -1;
	annotate_manifest(b, &whole->images[0], &scratch, annotations);
	return 0;
}

int builder_put_index(const struct image_builder *b, struct build_result *result, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	struct index index = {.media_type = MEDIA_INDEX, .n_manifests = result->n_images};

	index.manifests = arena_calloc(b->arena, 2 * result->n_images, sizeof(*index.manifests));
	for (size_t i = 0; i < result->n_images; i++)
		index.manifests[i] = result->images[i].manifest;
	for (size_t i = 0; i < result->n_images; i++)
		if (result->images[i].soci.size > 0)
			index.manifests[index.n_manifests++] =
				soci_index_entry(&result->images[i], b->arena);
	if (annotate_index(b, &index.annotations, err) != 0)
		return -1;
	result->annotations = index.annotations;
	index_print(&index, &text);
	return layout_put(b->opts->layout, MEDIA_INDEX, text.ptr, text.len, &result->index, err);
}
