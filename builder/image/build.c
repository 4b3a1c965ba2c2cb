/*
 * Sections: trees of all platforms, packing, one image's documents, the index.
 */
#include "builder/image/build.h"

#include <string.h>
#include <time.h>

#include "builder/image/base.h"
#include "builder/layer/pack/keys.h"
#include "builder/layer/source/sources.h"
#include "builder/layer/tree/parts.h"
#include "builder/oci/config.h"

/* One layer of the spec on one platform, on its way from sources to blobs. */
struct layer_slot {
	const struct layer_spec *spec; /* NULL: this platform does not have the layer */
	struct tree tree;
	struct built_layer *blobs;
	size_t n_blobs;
};

/* All slots: row = layer of the spec (by name), column = platform; one shared column beside them.
 */
struct image_builder {
	const struct build_opts *opts;
	struct arena *arena;
	struct diags *diags;
	size_t n_layers, n_images;
	struct layer_slot *slots;  /* (n_layers, n_images) row-major */
	struct layer_slot *shared; /* (n_layers) */
};

static struct layer_slot *slot_at(const struct image_builder *b, size_t layer, size_t image)
{
	return &b->slots[layer * b->n_images + image];
}

/* ---- trees of all platforms ---- */

static const struct layer_spec *find_layer(const struct plan_image *image, const char *name)
{
	for (size_t i = 0; i < image->n_layers; i++)
		if (strcmp(image->layers[i].name, name) == 0)
			return &image->layers[i];
	return NULL;
}

static int fill_layer(struct image_builder *b, size_t layer, struct err *err)
{
	const char *name = b->opts->plan->spec->image.layers[layer].name;

	for (size_t i = 0; i < b->n_images; i++) {
		const struct plan_image *image = &b->opts->plan->images[i];
		struct layer_slot *s = slot_at(b, layer, i);

		s->spec = find_layer(image, name);
		tree_init(&s->tree, b->arena, name, b->opts->epoch);
		if (s->spec != NULL &&
		    source_layer(&s->tree, s->spec, &image->platform, b->diags, err) != 0)
			return err_wrap(err, "layer '%s'", name);
	}
	return 0;
}

/*
 * True when all trees make the same tar: they are packed once, whatever `share` says. Asked at a
 * far moment, so that only files without identity make the answer no.
 */
static int all_equal(struct tree *const *trees, size_t n, bool *ret_equal, struct err *err)
{
	struct digest first, key;
	bool usable;

	*ret_equal = false;
	for (size_t i = 0; i < n; i++) {
		if (keys_stat(trees[i], INT64_MAX, &key, &usable, err) != 0)
			return -1;
		if (i == 0)
			first = key;
		if (!usable || !digest_equal(&first, &key))
			return 0;
	}
	*ret_equal = true;
	return 0;
}

/* The first platform's tree serves them all. */
static void pack_once(struct image_builder *b, size_t layer)
{
	struct layer_slot *first = slot_at(b, layer, 0);

	b->shared[layer].tree = first->tree;
	for (size_t i = 0; i < b->n_images; i++)
		slot_at(b, layer, i)->spec = NULL;
}

/* Moves what is equal on all platforms to the shared column. */
static int share_layer(struct image_builder *b, size_t layer, struct err *err)
{
	bool equal;

	struct tree **trees = arena_calloc(b->arena, b->n_images, sizeof(struct tree *));
	struct layer_slot *shared = &b->shared[layer];

	const char *name = b->opts->plan->spec->image.layers[layer].name;

	tree_init(&shared->tree, b->arena, name, b->opts->epoch);
	for (size_t i = 0; i < b->n_images; i++) {
		trees[i] = &slot_at(b, layer, i)->tree;
		if (slot_at(b, layer, i)->spec == NULL)
			return 0;
	}
	if (b->n_images < 2 || b->diags->n_errors > 0)
		return 0;
	shared->spec = slot_at(b, layer, 0)->spec;
	if (all_equal(trees, b->n_images, &equal, err) != 0)
		return err_wrap(err, "layer '%s'", name);
	if (equal)
		pack_once(b, layer);
	else if (shared->spec->share && tree_share(trees, b->n_images, &shared->tree, err) != 0)
		return err_wrap(err, "layer '%s': find files common to all platforms", name);
	if (!equal)
		shared->tree.label = arena_printf(b->arena, "%s.shared", name);
	return 0;
}

/* ---- packing ---- */

static int pack_tree(struct image_builder *b, const struct tree *t, struct layer_slot *s,
                     bool shared, struct err *err)
{
	const struct spec_image *image = &b->opts->plan->spec->image;
	const struct layer_opts opts = {
		.compression = image->compression,
		.level = (int)image->level,
		.threads = b->opts->threads,
		.layout = b->opts->layout,
		.cache = b->opts->cache,
		.progress = b->opts->progress,
	};
	struct built_layer *built = &s->blobs[s->n_blobs];

	if (layer_write(t, &opts, &built->result, err) != 0)
		return err_wrap(err, "layer '%s'", t->label);
	built->name = t->label;
	built->shared = shared;
	s->n_blobs++;
	return 0;
}

static int pack_slot(struct image_builder *b, struct layer_slot *s, bool shared, struct err *err)
{
	struct tree *parts = &s->tree;
	size_t n = 1;

	if (s->spec == NULL || s->tree.n == 0)
		return 0;
	if (s->spec->split > 0 && tree_split(&s->tree, s->spec->split, &parts, &n, err) != 0)
		return err_wrap(err, "layer '%s': split", s->tree.label);
	s->blobs = arena_calloc(b->arena, n, sizeof(*s->blobs));
	for (size_t i = 0; i < n; i++)
		if (pack_tree(b, &parts[i], s, shared, err) != 0)
			return -1;
	return 0;
}

static int pack_all(struct image_builder *b, struct err *err)
{
	for (size_t layer = 0; layer < b->n_layers; layer++) {
		if (pack_slot(b, &b->shared[layer], true, err) != 0)
			return -1;
		for (size_t i = 0; i < b->n_images; i++)
			if (pack_slot(b, slot_at(b, layer, i), false, err) != 0)
				return -1;
	}
	return 0;
}

/* ---- one image's documents ---- */

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
		n += b->shared[layer].n_blobs + slot_at(b, layer, column)->n_blobs;
	image->layers = arena_calloc(b->arena, n, sizeof(*image->layers));
	for (size_t layer = 0; layer < b->n_layers; layer++) {
		add_blobs(image, &b->shared[layer]);
		add_blobs(image, slot_at(b, layer, column));
	}
}

static const char *epoch_text(const struct image_builder *b)
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
		.created = epoch_text(b),
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
	for (size_t i = 0; i < image->n_layers; i++)
		m->layers[n_base + i] = layer_descriptor(b, &image->layers[i]);
	m->n_layers = n_base + image->n_layers;
	for (size_t i = 0; i < m->n_layers; i++)
		image->size += m->layers[i].size;
}

static void annotate_manifest(const struct image_builder *b, const struct plan_image *plan,
                              const struct base_image *base, struct strmap *annotations)
{
	char digest[DIGEST_TEXT_MAX];

	for (size_t i = 0; i < plan->annotations.n; i++)
		strmap_set(annotations, b->arena, plan->annotations.at[i].key,
		           plan->annotations.at[i].value);
	if (strmap_get(annotations, ANNOTATION_CREATED) == NULL)
		strmap_set(annotations, b->arena, ANNOTATION_CREATED, epoch_text(b));
	if (!base->scratch) {
		strmap_set(annotations, b->arena, ANNOTATION_BASE_NAME, base->name);
		strmap_set(annotations, b->arena, ANNOTATION_BASE_DIGEST,
		           digest_text(&base->manifest.digest, digest));
	}
	strmap_sort(annotations);
}

static int put_manifest(const struct image_builder *b, const struct plan_image *plan,
                        const struct base_image *base, struct built_image *image, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	struct manifest m = {.media_type = MEDIA_MANIFEST};

	list_layers(b, base, image, &m);
	if (m.n_layers == 0)
		return err_set(err, ERR_SPEC,
		               "the image has no layers: registries refuse such an image");
	if (m.n_layers > IMAGE_LAYERS_MAX) {
		err_set(err, ERR_SPEC, "%zu layers; container runtimes mount at most %d",
		        m.n_layers, IMAGE_LAYERS_MAX);
		return err_hint(err, "raise `split:` or join layers");
	}
	annotate_manifest(b, plan, base, &m.annotations);
	if (put_config(b, plan, base, image, &m.config, err) != 0)
		return -1;
	manifest_print(&m, &text);
	if (text.overflow)
		return err_set(err, ERR_LIMIT, "the manifest is larger than %d bytes",
		               MANIFEST_BYTES_MAX);
	return layout_put(b->opts->layout, MEDIA_MANIFEST, text.ptr, text.len, &image->manifest,
	                  err);
}

static int build_image(const struct image_builder *b, size_t column, struct built_image *image,
                       struct err *err)
{
	const struct plan_image *plan = &b->opts->plan->images[column];
	AUTO(base_image) struct base_image base = {0};
	char platform[PLATFORM_TEXT_MAX];

	image->platform = plan->platform;
	collect_layers(b, column, image);
	if (base_image_load(b->opts, plan, b->arena, &base, err) != 0 ||
	    put_manifest(b, plan, &base, image, err) != 0)
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

static int put_index(const struct image_builder *b, struct build_result *result, struct err *err)
{
	AUTO(strbuf) struct strbuf text = STRBUF_INIT(MANIFEST_BYTES_MAX);
	struct index index = {.media_type = MEDIA_INDEX, .n_manifests = result->n_images};

	index.manifests = arena_calloc(b->arena, result->n_images, sizeof(*index.manifests));
	for (size_t i = 0; i < result->n_images; i++)
		index.manifests[i] = result->images[i].manifest;
	if (annotate_index(b, &index.annotations, err) != 0)
		return -1;
	result->annotations = index.annotations;
	index_print(&index, &text);
	return layout_put(b->opts->layout, MEDIA_INDEX, text.ptr, text.len, &result->index, err);
}

static int fill_all(struct image_builder *b, struct err *err)
{
	for (size_t layer = 0; layer < b->n_layers; layer++)
		if (fill_layer(b, layer, err) != 0 || share_layer(b, layer, err) != 0)
			return -1;
	if (b->diags->n_errors > 0)
		return err_set(err, ERR_SPEC, "%zu problem%s with the layers' sources",
		               b->diags->n_errors, b->diags->n_errors == 1 ? "" : "s");
	return 0;
}

static int build_all(struct image_builder *b, struct build_result *result, struct err *err)
{
	if (fill_all(b, err) != 0 || pack_all(b, err) != 0)
		return -1;
	result->n_images = b->n_images;
	result->images = arena_calloc(b->arena, b->n_images, sizeof(*result->images));
	for (size_t i = 0; i < b->n_images; i++)
		if (build_image(b, i, &result->images[i], err) != 0)
			return -1;
	return put_index(b, result, err);
}

static void image_builder_done(struct image_builder *b)
{
	for (size_t i = 0; i < b->n_layers * b->n_images; i++)
		tree_done(&b->slots[i].tree);
	/* Shared trees borrow what the slots' trees own. */
}

int image_build(const struct build_opts *opts, struct arena *a, struct build_result *ret_result,
                struct diags *d, struct err *err)
{
	struct image_builder b = {.opts = opts,
	                          .arena = a,
	                          .diags = d,
	                          .n_layers = opts->plan->spec->image.n_layers,
	                          .n_images = opts->plan->n_images};
	struct build_result result = {0};

	b.slots = arena_calloc(a, b.n_layers * b.n_images, sizeof(*b.slots));
	b.shared = arena_calloc(a, b.n_layers, sizeof(*b.shared));
	for (size_t i = 0; i < b.n_layers * b.n_images; i++)
		b.slots[i].tree.spool_fd = -1;
	for (size_t i = 0; i < b.n_layers; i++)
		b.shared[i].tree.spool_fd = -1;

	int status = build_all(&b, &result, err);

	image_builder_done(&b);
	if (status != 0)
		return -1;
	*ret_result = result;
	return 0;
}
